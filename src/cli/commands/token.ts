import { type Scope, scopes, usualScopes } from "../../protocol/account/scopes.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { openConfiguredStore } from "../../compose/open-store.ts"
import { warn } from "../settings/warn.ts"

export const help = `Usage: pawl token create --user NAME [--scopes read,chat,approve,manage]

Prints a new personal access token, and nothing else. It is shown this once; only its hash is stored. The person is made
if there is none of that name. Works while the server runs.

  --user NAME     whose token it is
  --scopes LIST   what it allows, split by commas (default: the first four):
                  read     look
                  chat     speak
                  approve  decide about changes, and change rows by hand
                  manage   tokens, sessions, providers, connections, deletes, exports
                  admin    look after the server
                  self-approve  (with approve) what is said over its sockets
                           is written on that device without asking
`

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("token", words, { user: { type: "string" }, scopes: { type: "string" } })
  if (positionals.length !== 1 || positionals[0] !== "create") throw new CommandError(`Say what to do.\n\n${help}`)
  if (!values.user) throw new CommandError("Say whose token it is: pawl token create --user NAME")
  const granted = values.scopes === undefined ? usualScopes : toScopes(values.scopes)
  const config = readConfig()
  warn(config)
  await using store = await openConfiguredStore(config)
  const person = await store.people.ensure(values.user, store.clock.now())
  const { token } = await store.people.createToken(person, granted, store.clock.now())
  process.stdout.write(`${token}\n`)
  return 0
}

function toScopes(list: string): Scope[] {
  const names = list.split(",").map((name) => name.trim())
  const unknown = names.find((name) => !scopes.some((scope) => scope === name))
  if (unknown !== undefined) throw new CommandError(`There is no scope "${unknown}". There are: ${scopes.join(", ")}.`)
  return [...new Set(names)] as Scope[]
}
