import type { Context, Hono } from "hono"
import { failure } from "../../protocol/errors.ts"
import { type CollectionId, type DocumentId, type FileId, isId, type UserId } from "../../protocol/ids.ts"
import type { NewDocument } from "../../protocol/library.ts"
import type { Embedder } from "../../protocol/workspace.ts"
import { routes } from "../../protocol/routes/index.ts"
import { userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import type { DataPorts } from "./stored-data.ts"
import { asLargeBody, serveRoute } from "../request/serve-route.ts"

/** Files of one person parsed at a time: a PDF takes seconds, and other people wait too. */
const MAX_AT_ONCE = 4
const MAX_TEXT = 8 * 1024 * 1024

export function collectionRoutes(app: Hono<Env>, { library, messageFiles }: DataPorts): void {
  const { records } = library
  const underWay = new Map<UserId, number>()
  const ingest: typeof library.ingest = (place, file) => {
    // Files with images may be larger; more text than this exceeds a document's limit.
    if (file.bytes.byteLength > MAX_TEXT && !mayHoldPictures(file.name, file.bytes))
      throw failure("upload_too_large", { most: "8 MB of text" })
    return library.ingest(place, file)
  }

  serveRoute(app, routes.listCollections, (c, { query }) => records.collections(userOf(c), query))

  serveRoute(app, routes.createCollection, (c, { body }) => records.createCollection(userOf(c), body.name))

  // Before the route with an id in this place.
  serveRoute(app, routes.searchCollections, (c, { body }) => library.search(userOf(c), body, c.req.raw.signal))

  serveRoute(app, routes.readCollection, async (c) => (await records.collection(userOf(c), idOf(c))) ?? missing())

  serveRoute(app, routes.removeCollection, async (c) => {
    await records.removeCollection(userOf(c), idOf(c))
    return null
  })

  serveRoute(app, routes.listDocuments, async (c, { query }) => {
    const [user, id] = [userOf(c), idOf(c)]
    if (!(await records.collection(user, id))) missing()
    return records.documents(user, id, query)
  })

  serveRoute(app, routes.addDocument, async (c, { body }) => {
    const [user, collection] = [userOf(c), idOf(c)]
    if (body.file !== undefined && body.content !== undefined)
      throw failure("bad_request", { problem: "Send either `content` or `file`, not both." })
    if (!(await records.collection(user, collection))) missing()
    const count = underWay.get(user) ?? 0
    if (count >= MAX_AT_ONCE) throw failure("too_many_requests", { seconds: 5 })
    underWay.set(user, count + 1)
    try {
      const { content: _, encoding: __, file, ...about } = body
      const place = { user, collection, signal: c.req.raw.signal }
      if (file) {
        return await asLargeBody(user, async () => {
          const bytes = await bytesOfFile(messageFiles, user, file)
          return ingest(place, { ...about, bytes })
        })
      }
      const bytes = await bytesOf(body)
      // The caller holds the body until the end: without this both the text and its bytes stay in memory.
      delete body.content
      return await ingest(place, { ...about, bytes })
    } finally {
      const left = (underWay.get(user) ?? 1) - 1
      if (left > 0) underWay.set(user, left)
      else underWay.delete(user)
    }
  })

  serveRoute(app, routes.readDocument, (c) => documentOf(c))

  serveRoute(app, routes.readDocumentText, async (c, { query }) => {
    const { id } = await documentOf(c)
    return (await records.read(userOf(c), id, query)) ?? missing()
  })

  serveRoute(app, routes.removeDocument, async (c) => {
    await records.removeDocument(userOf(c), idOf(c), documentIdOf(c))
    return null
  })

  serveRoute(app, routes.readPassage, async (c) => {
    const id = c.req.param("id") ?? ""
    return (isId("psg", id) ? await records.passage(userOf(c), id) : undefined) ?? missing()
  })

  /** The document, if it is in the addressed collection. Throws `not_found`. */
  async function documentOf(c: Context<Env>) {
    const collection = idOf(c)
    const found = await records.document(userOf(c), documentIdOf(c))
    return found?.collectionId === collection ? found : missing()
  }
}

const mayHoldPictures = (name: string, bytes: Uint8Array) =>
  /\.pdf$/i.test(name) || Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "%PDF-"

/** Base64 digits checked in one turn of the event loop, so that other requests are not held up. */
const DIGITS = 1024 * 1024
/** Room for padding and a few line breaks. More is not base64, and checking it would take one long turn. */
const MAX_BEHIND = 1000

async function bytesOf({ content, encoding }: NewDocument): Promise<Uint8Array> {
  if (content === undefined)
    throw failure("bad_request", { problem: "Send the document as `content`, or name an uploaded `file`." })
  if (encoding === "text") return Buffer.from(content)
  const refused = () => failure("bad_request", { problem: "content: not base64." })
  const end = content.includes("=") ? content.indexOf("=") : content.length
  if (content.length - end > MAX_BEHIND) throw refused()
  if (!/^={0,2}$/.test(content.slice(end).replaceAll(/\s+/g, ""))) throw refused()
  for (let at = 0; at < end; at += DIGITS) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve))
    if (!/^[A-Za-z0-9+/\s]*$/.test(content.slice(at, Math.min(at + DIGITS, end)))) throw refused()
  }
  return Buffer.from(content, "base64")
}

/** Reads an uploaded file, so that it need not be sent again. */
async function bytesOfFile(files: DataPorts["messageFiles"], user: UserId, id: FileId): Promise<Uint8Array> {
  const file = (await files.find(user, id)) ?? missing()
  const bytes = Buffer.concat(await Array.fromAsync(files.read(user, id)))
  // Removed during the read.
  return bytes.length === file.size ? bytes : missing()
}

function idOf(c: Context<Env>): CollectionId {
  const id = c.req.param("id") ?? ""
  return isId("col", id) ? id : missing()
}

function documentIdOf(c: Context<Env>): DocumentId {
  const id = c.req.param("documentId") ?? ""
  return isId("doc", id) ? id : missing()
}

function missing(): never {
  throw failure("not_found")
}

export function vectorRoutes(app: Hono<Env>, { embedder }: DataPorts): void {
  serveRoute(app, routes.embedText, async (c, { body: { text } }) => {
    const [vector] = await embedTexts(c, embedder, [text])
    return { vector: [...vector!], embedder: embedder.name }
  })
}

/** The most requests of one person at a time: a long text takes seconds, and other people wait too. */
const MAX_EMBEDDINGS_AT_ONCE = 4
const embeddings = new Map<UserId, number>()

/** Embeds texts for the caller. Throws `too_many_requests` if others of their requests are being embedded. */
export async function embedTexts(c: Context<Env>, embedder: Embedder, texts: string[]): Promise<Float32Array[]> {
  const user = userOf(c)
  const count = embeddings.get(user) ?? 0
  if (count >= MAX_EMBEDDINGS_AT_ONCE) throw failure("too_many_requests", { seconds: 1 })
  embeddings.set(user, count + 1)
  try {
    return await embedder.embed(texts, c.req.raw.signal)
  } finally {
    const left = (embeddings.get(user) ?? 1) - 1
    if (left > 0) embeddings.set(user, left)
    else embeddings.delete(user)
  }
}
