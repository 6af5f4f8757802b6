import { setImmediate as turn } from "node:timers/promises"
import type { Context, Hono } from "hono"
import { failure } from "../../../protocol/errors.ts"
import { isId } from "../../../protocol/ids.ts"
import type { StoredResult } from "../../../protocol/databases/query-results.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { toCsv } from "../../../protocol/databases/to-csv.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import type { DataPorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Whole results of queries. They outlive the connection they came through. */
export function resultRoutes(app: Hono<Env>, { results }: DataPorts): void {
  const find = async (c: Context<Env>, resultId: string): Promise<StoredResult> => {
    const result = isId("res", resultId) ? await results.find(userOf(c), resultId) : undefined
    if (result?.connectionId !== c.req.param("id")) throw failure("not_found")
    return result as StoredResult
  }

  serveRoute(app, routes.exportResult, async (c) => {
    const { id, columns, rows } = await find(c, (c.req.param("resultId") ?? "").replace(/\.csv$/, ""))
    return c.body(ReadableStream.from(inTurns(toCsv(columns, rows))), 200, {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": `attachment; filename="${id}.csv"`,
    })
  })

  serveRoute(app, routes.readResult, (c) => find(c, c.req.param("resultId") ?? ""))
}

async function* inTurns(portions: Iterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for (const portion of portions) {
    yield encoder.encode(portion)
    await turn()
  }
}
