import type { MiddlewareHandler } from "hono"
import type { Env } from "./caller.ts"

const HEADERS: Readonly<Record<string, string>> = {
  // Data is no page: whatever a browser is made to take it for, nothing in it runs, loads or is framed.
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
}

/** Headers that every answer has, refusals too. A route that needs another one, as a page its own policy, sets it itself. */
export function secureHeaders(): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next()
    for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.res.headers.set(name, value)
  }
}
