import { SettingsError } from "./settings-error.ts"

/** The secret stands behind the #, which a browser keeps to itself: no server, proxy or log on the way sees it. */
export const toLink = (base: string, secret: string): string => `${base.replace(/(?<!\/)\/+$/, "")}/sign-in#${secret}`

interface Reached {
  readonly publicUrl?: string | undefined
  readonly host: string
  readonly port: number
}

/** Where people reach the server; `listening` is where it listens, if somebody knows. */
export function baseUrl({ publicUrl, host, port }: Reached, listening?: string): string {
  if (publicUrl) return publicUrl
  if (!listening && port === 0)
    throw new SettingsError("The port is any free one: say where the server is with --server.")
  const url = new URL(listening ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`)
  // "Every address" is none that a browser can go to.
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"
  if (url.hostname === "[::]") url.hostname = "[::1]"
  return url.origin
}
