import type { Hono } from "hono"
import type { NamedPackRoute } from "../../engine/pack-services.ts"
import type { Route } from "../../protocol/routes/route.ts"
import type { Env } from "../auth/credentials.ts"
import { serveRoute } from "../request/serve-route.ts"

export interface PackRoutes {
  /** Routes that packs add. */
  readonly packRoutes?: readonly NamedPackRoute[]
}

/**
 * Serves the routes of packs like those of the table: with the same authentication and limits, and validated before the pack
 * sees a request.
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
      // Fields that are not in the schema are removed: they may be private.
      return each.answer ? each.answer.parse(answered) : null
    })
  }
}

/** The route as an entry of the table, for the API reference. */
export function toRoute({ pack, path, answer, handle: _, name: __, ...route }: NamedPackRoute): Route {
  return { ...route, path: `/api/packs/${pack}${path}`, answers: answer ? { 200: answer } : { 204: null } }
}
