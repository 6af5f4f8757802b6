import type { Context, Hono } from "hono"
import { isImageType } from "../../../protocol/conversation/message-file.ts"
import { isTextType } from "../../../protocol/conversation/result-files.ts"
import { failure } from "../../../protocol/errors.ts"
import { type FileId, isId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { readUpload } from "../../files/read-upload.ts"
import { boundLargeBodies } from "../../request/large-bodies.ts"
import { serveRoute } from "../../request/serve-route.ts"
import type { DataPorts } from "./ports.ts"

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
