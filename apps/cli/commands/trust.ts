import { statSync } from "node:fs"
import { TrustedFolders } from "../open/trusted-folders.ts"
import { CommandError, readFlags, UsageError } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { reportData } from "../settings/warn.ts"
import { trustText } from "../../strings/access.ts"

export const help = trustText.help

const flags = { remove: { type: "string" } } as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  const [dir, ...more] = positionals
  if (more.length > 0 || (dir !== undefined && values.remove !== undefined)) throw new UsageError(trustText.oneFolder)
  const config = readConfig()
  const folders = new TrustedFolders(config.dataFolder)
  if (values.remove !== undefined) {
    reportData(config)
    if (!folders.forget(values.remove)) throw new CommandError(trustText.noAnswer(values.remove))
    process.stdout.write(trustText.forgotten(values.remove))
    return 0
  }
  if (dir !== undefined) {
    reportData(config)
    if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw new CommandError(trustText.notAFolder(dir))
    folders.answer(dir, true)
    process.stdout.write(trustText.trusted(dir))
    return 0
  }
  const lines = [...folders.all].map(([folder, isTrusted]) => trustText.folder(isTrusted, folder))
  process.stdout.write(lines.length > 0 ? `${lines.join("\n")}\n` : trustText.none)
  return 0
}
