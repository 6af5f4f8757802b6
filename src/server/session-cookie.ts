import type { Context } from "hono"
import { deleteCookie, getCookie, setCookie } from "hono/cookie"
import type { Env } from "./caller.ts"
import type { Doors } from "./ports.ts"

const SECONDS = 30 * 24 * 60 * 60

/** The cookie of a session: out of reach of scripts, and sent by our own pages only. */
export function sessionCookie({ publicUrl }: Doors) {
  const secure = publicUrl?.startsWith("https:") ?? false
  // The prefix makes browsers refuse one that a neighbouring name or the plain http page has planted.
  const name = secure ? "__Host-pawl_session" : "pawl_session"
  const options = { path: "/", httpOnly: true, sameSite: "Strict", secure } as const
  return {
    read: (c: Context<Env>): string | undefined => getCookie(c, name),
    write: (c: Context<Env>, secret: string): void => setCookie(c, name, secret, { ...options, maxAge: SECONDS }),
    clear: (c: Context<Env>): void => void deleteCookie(c, name, options),
  }
}
