import type { Context, Hono } from "hono"
import { failure, hasCode } from "../../protocol/errors.ts"
import { routes } from "../../protocol/routes/index.ts"
import { JsonObject } from "../../protocol/schema.ts"
import type { DeviceFilters } from "../../protocol/socket.ts"
import type { AnyRow, Applied, RowsByTable, WorkspaceWrite } from "../../protocol/workspace.ts"
import { type TableName, tableNames } from "../../protocol/workspace-tables.ts"
import { userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import type { DataPorts } from "./stored-data.ts"
import { serveRoute } from "../request/serve-route.ts"
import { readJson } from "../../shared/text/read-json.ts"

type Row = AnyRow & { readonly [column: string]: unknown }

/**
 * Direct edits of a person's workspace: no proposal, because the person makes the change, and no audit, which records what
 * agents did.
 */
export function workspaceRoutes(app: Hono<Env>, { workspaces }: DataPorts): void {
  const own = (c: Context<Env>) => workspaces.of(userOf(c))
  const edit = (c: Context<Env>, write: WorkspaceWrite): Promise<Applied> => orMissing(own(c).edit(write))

  /** Adds `taint` to rows that were written by a run which had read untrusted content. */
  const marked = async (c: Context<Env>, rows: readonly Row[]): Promise<Row[]> => {
    const tainted = new Set(await own(c).tainted(rows.map(({ id }) => id)))
    return rows.map((row) => (tainted.has(row.id) ? { ...row, taint: "untrusted" } : row))
  }

  // Before the routes with a table in this place.
  serveRoute(app, routes.exportWorkspace, async (c) => {
    const text = ReadableStream.from(await own(c).export()).pipeThrough(new TextEncoderStream())
    return c.body(text, 200, { "content-type": "application/json" })
  })
  serveRoute(app, routes.importWorkspace, (c, { body }) => own(c).import(body))
  serveRoute(app, routes.loadSample, (c, { query }) => own(c).loadSample(query.timeZone))
  serveRoute(app, routes.removeSample, (c) => own(c).removeSample())

  serveRoute(app, routes.listRows, async (c, { query: { includeArchived, cursor, limit, ...filters } }) => {
    const archived = includeArchived === undefined ? {} : { includeArchived: includeArchived === "true" }
    const chosen = { ...filters, ...archived } as DeviceFilters
    const { items, nextCursor } = await own(c).page(tableOf(c), chosen, { limit, cursor })
    return { items: await marked(c, items as readonly Row[]), nextCursor }
  })

  serveRoute(app, routes.readRow, async (c) => {
    const { table, id } = placeOf(c)
    const [row] = await marked(c, [((await own(c).get(table, id)) ?? missing()) as Row])
    return row!
  })

  serveRoute(app, routes.createRow, async (c, { body }) => {
    const { after } = await edit(c, { action: "insert", table: tableOf(c), data: body })
    return after as Row
  })

  serveRoute(app, routes.changeRow, async (c, { body: { updates, expect } }) => {
    const { after } = await edit(c, {
      action: "update",
      ...placeOf(c),
      updates,
      ...(expect ? { expect: unmarked(expect) } : {}),
    })
    return after as Row
  })

  serveRoute(app, routes.deleteRow, async (c, { query }) => {
    const expect = query.expect === undefined ? {} : { expect: unmarked(readExpect(query.expect)) }
    const { before, with: others } = await edit(c, { action: "delete", ...placeOf(c), ...expect })
    return { row: before as Row, with: others as Record<string, Row[]> }
  })

  serveRoute(app, routes.restoreRows, async (c, { body }) => {
    const table = tableOf(c)
    const along = Object.entries(body.with ?? {}).map(([name, some]) => [name, some?.map(unmarked)])
    const rows = body.rows.map(unmarked) as unknown as AnyRow[]
    const others = Object.fromEntries(along) as RowsByTable
    await edit(c, { action: "restore", table, rows, with: others })
    return { rows: rows as Row[], with: others as Record<string, Row[]> }
  })
}

/** A row as it was listed, without the fields that the server adds. */
function unmarked({ taint: _, truncated: __, ...row }: JsonObject): JsonObject {
  return row
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
    return JsonObject.parse(readJson(text))
  } catch {
    throw failure("bad_request", { problem: 'expect: not a JSON object, such as {"title": "Buy milk"}.' })
  }
}

/** Another person's row and a missing row get the same answer. */
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
