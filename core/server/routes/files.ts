import type { Context, Hono } from "hono"
import { isImageType } from "../../protocol/conversation/message.ts"
import { isTextType } from "../../protocol/conversation/tool-calls.ts"
import { failure } from "../../protocol/errors.ts"
import { type FileId, isId } from "../../protocol/ids.ts"
import { routes } from "../../protocol/routes/index.ts"
import { userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import { readUpload } from "../files/uploads.ts"
import { boundLargeBodies, serveRoute } from "../request/serve-route.ts"
import type { DataPorts } from "./stored-data.ts"
import { setImmediate as turn } from "node:timers/promises"
import { RESULT_DAYS, type StoredResult } from "../../protocol/databases/connections.ts"
import { toCsv } from "../../protocol/databases/csv.ts"

/** Files of messages, each seen by its person only. */
export function fileRoutes(app: Hono<Env>, { messageFiles, bytesOfFiles }: DataPorts): void {
  serveRoute(app, routes.uploadFile, (c, { query }) =>
    boundLargeBodies(c, async () => {
      const file = await readUpload(c, query.name)
      return c.json(await messageFiles.keep(userOf(c), file, bytesOfFiles), 201)
    }),
  )

  serveRoute(app, routes.readFile, async (c) => {
    const user = userOf(c)
    const file = await messageFiles.find(user, idOf(c))
    if (!file) throw failure("not_found")
    const headers = {
      "content-type": shownType(file.type),
      "content-length": String(file.size),
      // Nothing but an image is opened by a browser, and in nothing of it does anything run.
      "content-disposition": `${isImageType(file.type) ? "inline" : "attachment"}; filename*=UTF-8''${encoded(file.name)}`,
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    }
    if (c.req.method === "HEAD") return c.body(null, 200, headers)
    return c.body(await begun(messageFiles.read(user, file.id)), 200, headers)
  })

  serveRoute(app, routes.removeFile, async (c) => {
    if (!(await messageFiles.remove(userOf(c), idOf(c)))) throw failure("not_found")
    return null
  })
}

/** What is wrong with a file shows at its first bytes: asked for before the answer begins, so that it can be told. */
async function begun(bytes: AsyncIterable<Uint8Array>): Promise<ReadableStream> {
  const iterator = bytes[Symbol.asyncIterator]()
  let first: IteratorResult<Uint8Array> | undefined = await iterator.next()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = first ?? (await iterator.next())
        first = undefined
        if (done) controller.close()
        else controller.enqueue(value)
      },
      // Not left to whoever iterates: of a stream that nobody has begun to read nothing would be closed.
      cancel: async () => void (await iterator.return?.()),
    },
    { highWaterMark: 0 },
  )
}

/** A page, a drawing or a program of somebody's is shown as letters, never as what it is; what has no letters is saved. */
function shownType(type: string): string {
  if (isImageType(type) || type === "application/pdf") return type
  return isTextType(type) ? "text/plain; charset=utf-8" : "application/octet-stream"
}

const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

function idOf(c: Context<Env>): FileId {
  const id = c.req.param("id") ?? ""
  if (!isId("file", id)) throw failure("not_found")
  return id
}

/** Whole results of queries. They outlive the connection they came through. */
export function resultRoutes(app: Hono<Env>, { results }: DataPorts): void {
  const find = async (c: Context<Env>, resultId: string): Promise<StoredResult> => {
    const connection = c.req.param("id") ?? ""
    const result = isId("res", resultId) ? await results.find(userOf(c), resultId) : undefined
    if (!result && isId("res", resultId) && (await results.findExpired(userOf(c), resultId)) === connection)
      throw failure("result_expired", { days: RESULT_DAYS, connection })
    if (result?.connectionId !== connection) throw failure("not_found")
    return result as StoredResult
  }

  serveRoute(app, routes.exportResult, async (c) => {
    const { id, columns, rows, truncated } = await find(c, (c.req.param("resultId") ?? "").replace(/\.csv$/, ""))
    // In the name, which stays with the file: a sum over rows that are not all of them is wrong.
    const part = truncated ? `-first-${rows.length}-rows-only` : ""
    return c.body(ReadableStream.from(inTurns(toCsv(columns, rows))), 200, {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": `attachment; filename="${id}${part}.csv"`,
      "x-pawl-truncated": String(truncated),
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
