import { CommandError } from "../process/command.ts"
import type { Config } from "./config.ts"

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
