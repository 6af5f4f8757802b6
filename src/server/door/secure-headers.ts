import type { MiddlewareHandler } from "hono"
import type { Env } from "./request-env.ts"

const POLICY = "content-security-policy"
const FRAMES = "x-frame-options"
/** Data is no page: whatever a browser is made to take it for, nothing in it runs, loads or is framed. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const HEADERS = Object.entries({
  "x-content-type-options": "nosniff",
  [FRAMES]: "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
})

/** Headers that every answer has, refusals too. A page brings a policy of its own, which then counts, and may be in a frame. */
export function secureHeaders(): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next()
    const { headers } = c.res
    for (const [name, value] of HEADERS) if (name !== FRAMES || !headers.has(FRAMES)) headers.set(name, value)
    if (!headers.has(POLICY)) headers.set(POLICY, NOTHING)
  }
}
