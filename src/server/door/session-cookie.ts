import type { Context } from "hono"
import { deleteCookie, getCookie, setCookie } from "hono/cookie"
import type { Env } from "./request-env.ts"
import type { ServerAddress } from "./ports.ts"

const SECONDS = 30 * 24 * 60 * 60

/** The cookie of a session: out of reach of scripts, and sent by our own pages only. */
export function sessionCookie({ publicUrl }: ServerAddress) {
  const isSecure = (c: Context<Env>) => publicUrl?.startsWith("https:") || c.get("source").scheme === "https"
  // The prefix makes browsers refuse one that a neighbouring name or the plain http page has planted. Ports of a host share
  // their cookies: with the port in its name, two servers on one machine do not sign each other's people out.
  const nameFor = (c: Context<Env>) => `${isSecure(c) ? "__Host-" : ""}pawl_session${portOf(c.get("source").host)}`
  const optionsFor = (c: Context<Env>) =>
    ({ path: "/", httpOnly: true, sameSite: "Strict", secure: isSecure(c) }) as const
  return {
    read: (c: Context<Env>): string | undefined => getCookie(c, nameFor(c)),
    write: (c: Context<Env>, secret: string): void =>
      setCookie(c, nameFor(c), secret, { ...optionsFor(c), maxAge: SECONDS }),
    clear: (c: Context<Env>): void => void deleteCookie(c, nameFor(c), optionsFor(c)),
  }
}

/** `_7295`; empty where the address has none, because it is the usual one of its scheme. */
function portOf(host: string): string {
  const port = /:(\d{1,5})$/.exec(host)?.[1]
  return port === undefined ? "" : `_${port}`
}
