import { createReadStream } from "node:fs"
import { access } from "node:fs/promises"
import { resolve } from "node:path"
import { openConfiguredStore } from "../../../core/compose/open-store.ts"
import { TransferError } from "../../../core/store/transfer/check-lines.ts"
import { importLines } from "../../../core/store/transfer/import-lines.ts"
import { failureReason, systemReason } from "../../../core/shared/text/system-errors.ts"
import { importText } from "../../strings/transfer.ts"
import { usageText } from "../../strings/usage.ts"
import { CommandError, readFlags, UsageError } from "../process/command.ts"
import { createLog } from "../process/log.ts"
import { readConfig } from "../settings/config.ts"
import { reportData, warn } from "../settings/warn.ts"
import { uploadsOf } from "./export.ts"

export const help = importText.help

export async function run(words: readonly string[]): Promise<number> {
  const { positionals } = readFlags(words, {})
  const [name, extra] = positionals
  if (name === undefined) throw new UsageError(importText.missingFile)
  if (extra !== undefined) throw new UsageError(usageText.unexpectedArgument(extra))
  const file = resolve(name)
  await access(file).catch((error: unknown) => {
    throw new CommandError(importText.unreadable(file, failureReason(error)), { cause: error })
  })
  const config = readConfig()
  warn(config)
  reportData(config)
  const log = createLog(config.secrets, undefined, config.log)
  await using store = await openConfiguredStore(config, { log, filesFolder: config.filesFolder })
  const uploads = uploadsOf(store, config)
  const { engine, node, secrets, clock } = store
  const target = { engine, node, secrets, now: () => clock.now(), writeUpload: uploads.write.bind(uploads) }
  try {
    const imported = await importLines(target, () => createReadStream(file))
    process.stdout.write(importText.done(imported))
    for (const [table, secrets] of imported.leftOut) process.stderr.write(importText.leftOut(table, secrets))
    return 0
  } catch (error) {
    if (systemReason(error) !== undefined)
      throw new CommandError(importText.unreadable(file, failureReason(error)), { cause: error })
    if (!(error instanceof TransferError)) throw error
    throw new CommandError(importText.refused(file, error.message), { cause: error })
  }
}
