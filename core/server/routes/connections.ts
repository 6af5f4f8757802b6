import type { Context, Hono } from "hono"
import { toReading } from "../../protocol/databases/csv.ts"
import { failure } from "../../protocol/errors.ts"
import { type ConnectionId, isId } from "../../protocol/ids.ts"
import { routes } from "../../protocol/routes/index.ts"
import { userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import type { DataPorts } from "./stored-data.ts"
import { serveRoute } from "../request/serve-route.ts"

/** People's databases, which are read only. */
export function connectionRoutes(app: Hono<Env>, { databases, results }: DataPorts): void {
  serveRoute(app, routes.listConnections, (c, { query }) => databases.list(userOf(c), query))

  serveRoute(app, routes.createConnection, (c, { body }) => databases.create(userOf(c), body))

  serveRoute(app, routes.tryConnection, (c, { body }) => databases.try(userOf(c), body, c.req.raw.signal))

  serveRoute(app, routes.sampleConnection, (c) => databases.sample(userOf(c)))

  serveRoute(app, routes.uploadCsv, async (c, { query }) => {
    const [type = ""] = (c.req.header("content-type") ?? "").split(";")
    const { takes } = routes.uploadCsv
    if (!takes.some((taken) => taken === type.trim().toLowerCase()))
      throw failure("bad_request", {
        problem: `Send the file itself as the body, with content-type ${takes.join(" or ")}.`,
      })
    const upload = {
      user: userOf(c),
      name: query.name,
      body: c.req.raw.body ?? ReadableStream.from([]),
      isTabSeparated: type.includes("tab"),
      options: toReading(query),
      signal: c.req.raw.signal,
    }
    if (query.preview === "true") return c.json(await databases.previewCsv(upload), 200)
    return c.json(await databases.uploadCsv(upload), 201)
  })

  serveRoute(app, routes.readConnection, (c) => databases.find(userOf(c), idOf(c)))

  serveRoute(app, routes.changeConnection, (c, { body }) => databases.change(userOf(c), idOf(c), body))

  serveRoute(app, routes.removeConnection, async (c) => {
    await databases.remove(userOf(c), idOf(c))
    return null
  })

  serveRoute(app, routes.testConnection, (c) => databases.test(scopeOf(c)))

  serveRoute(app, routes.readSchema, (c, { query }) => databases.schema(scopeOf(c), query))

  serveRoute(app, routes.queryConnection, async (c, { body: { sql, timeZone } }) => {
    const request = { ...scopeOf(c), timeZone }
    const answer = await databases.query(request, sql)
    const { id } = await results.keep(request.user, { connectionId: request.id, conversationId: null, sql, answer })
    return { ...answer, resultId: id }
  })
}

/** A query stops when its client disconnects. */
const scopeOf = (c: Context<Env>) => ({ user: userOf(c), id: idOf(c), signal: c.req.raw.signal })

function idOf(c: Context<Env>): ConnectionId {
  const id = c.req.param("id") ?? ""
  if (!isId("conn", id)) throw failure("not_found")
  return id
}
