import { usualScopes } from "../../protocol/scopes.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { type Config, readConfig } from "../settings/config.ts"
import { openConfiguredStore } from "../../compose/open-store.ts"
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
  const person = await store.people.ensure(values.user, Date.now())
  const granted = values.admin ? [...usualScopes, "admin" as const] : usualScopes
  process.stdout.write(`${toLink(base, await store.sessions.createLink(person, granted, Date.now()))}\n`)
  return 0
}

/** The secret stands behind the #, which a browser keeps to itself: no server, proxy or log on the way sees it. */
export const toLink = (base: string, secret: string): string => `${base.replace(/(?<!\/)\/+$/, "")}/sign-in#${secret}`

/** Where people reach the server; `listening` is where it listens, if somebody knows. */
export function baseUrl(
  { publicUrl, host, port }: Pick<Config, "publicUrl" | "host" | "port">,
  listening?: string,
): string {
  if (publicUrl) return publicUrl
  if (!listening && port === 0)
    throw new CommandError("The port is any free one: say where the server is with --server.")
  const url = new URL(listening ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`)
  // "Every address" is none that a browser can go to.
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"
  if (url.hostname === "[::]") url.hostname = "[::1]"
  return url.origin
}

/** What `--server` says. */
export function toUrl(text: string): string {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname}`
  throw new CommandError(`--server cannot be "${text}". Allowed: an address such as https://pawl.example.`)
}
