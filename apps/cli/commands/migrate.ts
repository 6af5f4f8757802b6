import { readOnlyFlags } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { openConfiguredStore } from "../../../core/compose/open-store.ts"
import { reportData, warn } from "../settings/warn.ts"
import { createLog } from "../process/log.ts"
import { migrateText } from "../../strings/data.ts"

export const help = migrateText.help

export async function run(words: readonly string[]): Promise<number> {
  readOnlyFlags(words, {})
  const config = readConfig()
  warn(config)
  reportData(config)
  await using store = await openConfiguredStore(config, { log: createLog(config.secrets, undefined, config.log) })
  const done = await store.engine.query<{ name: string }>("SELECT name FROM migration ORDER BY name", [])
  const names = done.map(({ name }) => name).join(", ")
  process.stdout.write(migrateText.upToDate(names))
  // A script that starts servers after this command succeeds may start them.
  return 0
}
