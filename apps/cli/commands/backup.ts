import { existsSync } from "node:fs"
import { rm } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { backUp } from "../../../core/store/engine/sqlite/backup.ts"
import { type BackedUp, backUpFolder } from "../../../core/store/files/back-up-folder.ts"
import { CommandError, readFlags, UsageError } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { reportData, warn } from "../settings/warn.ts"
import { backupText } from "../../strings/data.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import { usageText } from "../../strings/usage.ts"

export const help = backupText.help

export async function run(words: readonly string[]): Promise<number> {
  const { positionals } = readFlags(words, {})
  const [name] = positionals
  if (name === undefined) throw new UsageError(backupText.missingFile)
  if (positionals.length > 1) throw new UsageError(usageText.unexpectedArgument(positionals[1] ?? ""))
  const config = readConfig()
  warn(config)
  reportData(config)
  if (!config.databaseUrl.startsWith("file:")) {
    throw new CommandError(backupText.postgres(name, config.filesFolder))
  }
  const from = config.databaseUrl.slice("file:".length)
  if (!existsSync(from)) throw new CommandError(backupText.noDatabase(from))
  const to = resolve(name)
  const progress = (bytes: number, of: number) => void process.stderr.write(backupText.progress(bytes, of))
  const folder = `${to}.files`
  let copied: BackedUp | undefined
  const beforePublish = async (copy: string) => {
    copied = await backUpFolder({ copy, database: from, folder: config.filesFolder, to: folder })
  }
  try {
    const bytes = await backUp({ from, to, progress, beforePublish })
    process.stdout.write(backupText.done(to, bytes))
    reportFiles(folder, copied)
    return 0
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // The backup failed, so the copied attachments belong to none.
    if (copied && copied.files + copied.unreadable > 0) await rm(folder, { recursive: true, force: true })
    if (code === "EEXIST") throw new CommandError(backupText.exists(existsSync(to) ? to : folder))
    if (code === "ENOENT" && !existsSync(dirname(to))) throw new CommandError(backupText.noFolder(dirname(to)))
    throw new CommandError(backupText.failed(to, failureReason(error)), { cause: error })
  }
}

function reportFiles(folder: string, copied: BackedUp | undefined): void {
  if (!copied || copied.files + copied.unreadable === 0) return
  process.stdout.write(backupText.filesDone(folder, copied.files, copied.bytes))
  if (copied.unreadable > 0) process.stderr.write(backupText.filesMissing(copied.unreadable))
}
