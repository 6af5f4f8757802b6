import { readFlags } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { openConfiguredStore } from "../../compose/open-store.ts"
import { warn } from "../settings/warn.ts"

export const help = `Usage: pawl migrate

Brings the database up to date and lists what it holds. Every command that opens the database does this by itself; this
one is for those who want it done before the new version starts.
`

export async function run(words: readonly string[]): Promise<number> {
  readFlags("migrate", words, {})
  const config = readConfig()
  warn(config)
  await using store = await openConfiguredStore(config)
  const done = await store.engine.query<{ name: string }>("SELECT name FROM migration ORDER BY name", [])
  process.stdout.write(`The database is up to date: ${done.map(({ name }) => name).join(", ")}.\n`)
  return 0
}
