import type { Context, Hono } from "hono"
import { failure, hasCode } from "../../../protocol/errors.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { JsonObject } from "../../../protocol/schema.ts"
import type { DeviceFilters } from "../../../protocol/socket.ts"
import type { AnyRow, Applied, RowsByTable, WorkspaceWrite } from "../../../protocol/ports/workspace.ts"
import { type TableName, tableNames } from "../../../protocol/workspace-tables.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import type { DataPorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

type Row = AnyRow & { readonly [column: string]: unknown }

/**
 * The person's own hand on their workspace on this server: no proposal, because nobody proposes to oneself, and no audit,
 * which is about what agents did.
 */
export function workspaceRoutes(app: Hono<Env>, { workspaces }: DataPorts): void {
  const own = (c: Context<Env>) => workspaces.of(userOf(c))
  const edit = (c: Context<Env>, write: WorkspaceWrite): Promise<Applied> => orMissing(own(c).edit(write))

  // Before those with a table in their address, which would take these words for one.
  serveRoute(app, routes.exportWorkspace, (c) => own(c).export())
  serveRoute(app, routes.importWorkspace, (c, { body }) => own(c).import(body))
  serveRoute(app, routes.loadSample, (c, { query }) => own(c).loadSample(query.timeZone))
  serveRoute(app, routes.removeSample, (c) => own(c).removeSample())

  serveRoute(app, routes.listRows, async (c, { query: { includeArchived, ...filters } }) => {
    const archived = includeArchived === undefined ? {} : { includeArchived: includeArchived === "true" }
    const given = { ...filters, ...archived } as DeviceFilters
    return { items: (await own(c).select(tableOf(c), given)) as Row[] }
  })

  serveRoute(app, routes.readRow, async (c) => {
    const { table, id } = placeOf(c)
    return ((await own(c).get(table, id)) ?? missing()) as Row
  })

  serveRoute(app, routes.createRow, async (c, { body }) => {
    const { after } = await edit(c, { action: "insert", table: tableOf(c), data: body })
    return after as Row
  })

  serveRoute(app, routes.changeRow, async (c, { body: { updates, expect } }) => {
    const { after } = await edit(c, { action: "update", ...placeOf(c), updates, ...(expect ? { expect } : {}) })
    return after as Row
  })

  serveRoute(app, routes.deleteRow, async (c, { query }) => {
    const expect = query.expect === undefined ? {} : { expect: readExpect(query.expect) }
    const { before, with: others } = await edit(c, { action: "delete", ...placeOf(c), ...expect })
    return { row: before as Row, with: others as Record<string, Row[]> }
  })

  serveRoute(app, routes.restoreRows, async (c, { body }) => {
    const table = tableOf(c)
    const [rows, others] = [body.rows as unknown as AnyRow[], (body.with ?? {}) as unknown as RowsByTable]
    await edit(c, { action: "restore", table, rows, with: others })
    return { rows: rows as Row[], with: others as Record<string, Row[]> }
  })
}

function placeOf(c: Context<Env>): { table: TableName; id: string } {
  const id = c.req.param("id") ?? ""
  if (id === "" || id.length > 200) missing()
  return { table: tableOf(c), id }
}

function tableOf(c: Context<Env>): TableName {
  return tableNames.find((name) => name === c.req.param("table")) ?? missing()
}

function readExpect(text: string): JsonObject {
  try {
    return JsonObject.parse(JSON.parse(text))
  } catch {
    throw failure("bad_request", { problem: 'expect: not a JSON object, such as {"title": "Buy milk"}.' })
  }
}

/** What is not there and what is somebody else's are one answer, as everywhere. */
async function orMissing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw hasCode(error, "row_missing") ? failure("not_found") : error
  }
}

function missing(): never {
  throw failure("not_found")
}
