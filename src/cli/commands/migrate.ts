import { readOnlyFlags } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { openConfiguredStore } from "../../compose/open-store.ts"
import { warn } from "../settings/warn.ts"
import { createLog } from "../process/log.ts"

export const help = `Usage: pawl migrate

Brings the database up to date and lists what it holds. Every command that opens the database does this by itself; this
one is for those who want it done before the new version starts. What cannot be done, and nobody needs in order to serve,
is named, with its reason in the log on stderr.
`

export async function run(words: readonly string[]): Promise<number> {
  readOnlyFlags("migrate", words, {})
  const config = readConfig()
  warn(config)
  await using store = await openConfiguredStore(config, { log: createLog(config.secrets, undefined, config.log) })
  const done = await store.engine.query<{ name: string }>("SELECT name FROM migration ORDER BY name", [])
  const names = done.map(({ name }) => name).join(", ")
  const { leftSteps } = store
  process.stdout.write(
    leftSteps.length === 0
      ? `The database is up to date: ${names}.\n`
      : `Left for now: ${leftSteps.join(", ")}. Every server works without; run this again when what is in its way (see above) is gone. The database has ${names}.\n`,
  )
  // Whoever starts servers only after this has succeeded may start them.
  return 0
}
