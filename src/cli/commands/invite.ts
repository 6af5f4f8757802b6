import { usualScopes } from "../../protocol/account/scopes.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { openConfiguredStore } from "../../compose/open-store.ts"
import { baseUrl, toLink } from "../../compose/server-url.ts"
import { toUrl } from "../settings/server-flag.ts"
import { warn } from "../settings/warn.ts"

export const help = `Usage: pawl invite --user NAME [--admin] [--server URL]

Prints a link that signs a browser in as this person, and nothing else. It works once, within 15 minutes; only its hash is
stored. The person is made if there is none of that name. Works while the server runs.

  --user NAME    who comes in with it
  --admin        the session may also look after the server (scope admin)
  --server URL   where the server is reached (default: PAWL_PUBLIC_URL, or the address it listens on)
`

const flags = { user: { type: "string" }, admin: { type: "boolean" }, server: { type: "string" } } as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("invite", words, flags)
  if (!values.user || positionals.length > 0) {
    throw new CommandError("Say who is invited: pawl invite --user NAME")
  }
  const config = readConfig()
  warn(config)
  const base = values.server === undefined ? baseUrl(config) : toUrl(values.server)
  await using store = await openConfiguredStore(config)
  const person = await store.people.ensure(values.user, store.clock.now())
  const granted = values.admin ? [...usualScopes, "admin" as const] : usualScopes
  process.stdout.write(`${toLink(base, await store.sessions.createLink(person, granted, store.clock.now()))}\n`)
  return 0
}
