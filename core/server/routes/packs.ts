import type { Hono } from "hono"
import type { NamedPackRoute } from "../../engine/pack-services.ts"
import type { Route } from "../../protocol/routes/route.ts"
import type { Env } from "../auth/credentials.ts"
import { serveRoute } from "../request/serve-route.ts"

export interface PackRoutes {
  /** Addresses that packs bring. */
  readonly packRoutes?: readonly NamedPackRoute[]
}

/**
 * Addresses of packs stand beside the one table of routes and are served as those are: behind the same door, with the same
 * limits, and what is sent is checked before the pack sees it.
 */
export function servePackRoutes(app: Hono<Env>, { packRoutes = [] }: PackRoutes): void {
  for (const each of packRoutes) {
    serveRoute<Route>(app, toRoute(each), async (c, { query, body }) => {
      const { person: caller } = c.get("caller")
      const { signal } = c.req.raw
      const answered = await each.handle({
        caller,
        params: c.req.param() as Record<string, string>,
        query,
        body,
        signal,
      })
      // What is not in the schema does not leave: it may be a column that is nobody's business.
      return each.answer ? each.answer.parse(answered) : null
    })
  }
}

/** The same as every route of the server is written down, for the reference. */
export function toRoute({ pack, path, answer, handle: _, name: __, ...route }: NamedPackRoute): Route {
  return { ...route, path: `/api/packs/${pack}${path}`, answers: answer ? { 200: answer } : { 204: null } }
}
