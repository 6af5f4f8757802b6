import type { Context } from "hono"
import { deleteCookie, getCookie, setCookie } from "hono/cookie"
import type { Env } from "./request-env.ts"
import type { ServerAddress } from "./ports.ts"

const SESSION_SECONDS = 30 * 24 * 60 * 60
export const ATTEMPT_SECONDS = 10 * 60

/** The cookie of a session: out of reach of scripts, and sent by our own pages only. */
export const sessionCookie = (address: ServerAddress) => ownCookie("pawl_session", SESSION_SECONDS, address)

/** The same for a sign-in at an issuer, while it lasts. Our page sends it, not the issuer's redirect: so it, too, is `Strict`. */
export const attemptCookie = (address: ServerAddress) => ownCookie("pawl_sign_in", ATTEMPT_SECONDS, address)

function ownCookie(called: string, seconds: number, { publicUrl }: ServerAddress) {
  const isSecure = (c: Context<Env>) => publicUrl?.startsWith("https:") || c.get("source").scheme === "https"
  // The prefix makes browsers refuse one that a neighbouring name or the plain http page has planted. Ports of a host share
  // their cookies: with the port in its name, two servers on one machine do not sign each other's people out.
  const nameFor = (c: Context<Env>) => `${isSecure(c) ? "__Host-" : ""}${called}${portOf(c.get("source").host)}`
  const optionsFor = (c: Context<Env>) =>
    ({ path: "/", httpOnly: true, sameSite: "Strict", secure: isSecure(c) }) as const
  return {
    read: (c: Context<Env>): string | undefined => getCookie(c, nameFor(c)),
    write: (c: Context<Env>, secret: string): void =>
      setCookie(c, nameFor(c), secret, { ...optionsFor(c), maxAge: seconds }),
    clear: (c: Context<Env>): void => void deleteCookie(c, nameFor(c), optionsFor(c)),
  }
}

/** `_7295`; empty where the address has none, because it is the usual one of its scheme. */
function portOf(host: string): string {
  const port = /:(\d{1,5})$/.exec(host)?.[1]
  return port === undefined ? "" : `_${port}`
}
