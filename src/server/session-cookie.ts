import type { Context } from "hono"
import { deleteCookie, getCookie, setCookie } from "hono/cookie"
import type { Env } from "./caller.ts"
import type { Doors } from "./ports.ts"

const SECONDS = 30 * 24 * 60 * 60

/** The cookie of a session: out of reach of scripts, and sent by our own pages only. */
export function sessionCookie({ publicUrl }: Doors) {
  const isSecure = (c: Context<Env>) => publicUrl?.startsWith("https:") || c.get("arrival").scheme === "https"
  // The prefix makes browsers refuse one that a neighbouring name or the plain http page has planted.
  const nameFor = (c: Context<Env>) => (isSecure(c) ? "__Host-pawl_session" : "pawl_session")
  const optionsFor = (c: Context<Env>) =>
    ({ path: "/", httpOnly: true, sameSite: "Strict", secure: isSecure(c) }) as const
  return {
    read: (c: Context<Env>): string | undefined => getCookie(c, nameFor(c)),
    write: (c: Context<Env>, secret: string): void =>
      setCookie(c, nameFor(c), secret, { ...optionsFor(c), maxAge: SECONDS }),
    clear: (c: Context<Env>): void => void deleteCookie(c, nameFor(c), optionsFor(c)),
  }
}
