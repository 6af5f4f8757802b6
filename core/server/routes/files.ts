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
import type { MessageFiles } from "../../engine/stored-files.ts"
import { setImmediate as turn } from "node:timers/promises"
import { RESULT_DAYS, type StoredResult } from "../../protocol/databases/connections.ts"
import { toCsv } from "../../protocol/databases/csv.ts"

export function fileRoutes(app: Hono<Env>, { messageFiles, bytesOfFiles }: DataPorts): void {
  serveRoute(app, routes.uploadFile, (c, { query }) =>
    boundLargeBodies(c, async () => {
      const file = await readUpload(c, query.name)
      return c.json(await messageFiles.keep(userOf(c), file, bytesOfFiles), 201)
    }),
  )

  serveRoute(app, routes.readFile, (c) => answerWithFile(c, messageFiles))

  serveRoute(app, routes.removeFile, async (c) => {
    if (!(await messageFiles.remove(userOf(c), fileOf(c)))) throw failure("not_found")
    return null
  })
}

/** Answers with the bytes of the file in the address. Throws `not_found` if it is not the caller's. */
export async function answerWithFile(
  c: Context<Env>,
  messageFiles: Pick<MessageFiles, "find" | "read">,
): Promise<Response> {
  const user = userOf(c)
  const file = await messageFiles.find(user, fileOf(c))
  if (!file) throw failure("not_found")
  const headers = {
    "content-type": shownType(file.type),
    "content-length": String(file.size),
    // Browsers open images only; everything else is downloaded, and nothing in it runs.
    "content-disposition": `${isImageType(file.type) ? "inline" : "attachment"}; filename*=UTF-8''${encoded(file.name)}`,
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  }
  if (c.req.method === "HEAD") return c.body(null, 200, headers)
  return c.body(await startReading(messageFiles.read(user, file.id)), 200, headers)
}

/** Reads the first chunk before the answer begins, so that an error still has a status. */
async function startReading(bytes: AsyncIterable<Uint8Array>): Promise<ReadableStream> {
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
      // Explicitly: a stream that was never read would not close its iterator.
      cancel: async () => void (await iterator.return?.()),
    },
    { highWaterMark: 0 },
  )
}

/** Text of any kind is shown as plain text; binary files are downloaded. */
function shownType(type: string): string {
  if (isImageType(type) || type === "application/pdf") return type
  return isTextType(type) ? "text/plain; charset=utf-8" : "application/octet-stream"
}

const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/** The file id in the address. Throws `not_found` if it is none. */
export function fileOf(c: Context<Env>): FileId {
  const id = c.req.param("id") ?? ""
  if (!isId("file", id)) throw failure("not_found")
  return id
}

/** Complete results of queries. They outlive their connection. */
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
    // In the file name, which stays with the data: a sum over part of the rows is wrong.
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
