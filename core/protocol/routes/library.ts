import { z } from "zod"
import { pageOf } from "../answers.ts"
import { UploadedFile } from "../conversation/message.ts"
import {
  CollectionView,
  DocumentView,
  IngestAnswer,
  NewCollection,
  NewDocument,
  PassageSearch,
  PassageView,
  SearchAnswer,
  TextQuery,
  TextWindow,
} from "../library.ts"
import { PageQuery } from "../requests.ts"
import { defineRoutes } from "./route.ts"

/** Collections of documents, for agents to find passages in. */
export const collectionRoutes = defineRoutes({
  listCollections: {
    method: "GET",
    path: "/api/collections",
    needs: "read",
    says: "Lists your document collections, newest first.",
    query: PageQuery,
    answers: { 200: pageOf(CollectionView) },
  },
  createCollection: {
    method: "POST",
    path: "/api/collections",
    needs: "chat",
    says: "Creates an empty collection; 409 `name_taken` if the name is in use.",
    body: NewCollection,
    answers: { 201: CollectionView },
  },
  searchCollections: {
    method: "POST",
    path: "/api/collections/search",
    needs: "read",
    says: "Finds the passages that best match a query, with keyword and semantic search.",
    body: PassageSearch,
    answers: { 200: SearchAnswer },
  },
  readCollection: {
    method: "GET",
    path: "/api/collections/{id}",
    needs: "read",
    says: "Returns one collection.",
    answers: { 200: CollectionView },
  },
  removeCollection: {
    method: "DELETE",
    path: "/api/collections/{id}",
    needs: "manage",
    says: "Deletes a collection with its documents.",
    answers: { 204: null },
  },
  listDocuments: {
    method: "GET",
    path: "/api/collections/{id}/documents",
    needs: "read",
    says: "Lists the documents of a collection, newest first, with their indexing progress.",
    query: PageQuery,
    answers: { 200: pageOf(DocumentView) },
  },
  addDocument: {
    method: "POST",
    path: "/api/collections/{id}/documents",
    needs: "chat",
    says: "Adds a file: Markdown, text, HTML, PDF (`encoding: base64`) or lines of arXiv metadata. The body may have at most 32 MB, which is 24 MB of a PDF, and 8 MB of other text (413 `upload_too_large`). Instead of `content`, `file` can name a file uploaded for a message (POST /api/files). It replaces the document with the same name; an unchanged document is skipped. Keyword search finds it at once, semantic search when `status` is `ready`.",
    body: NewDocument,
    large: "file",
    answers: { 201: IngestAnswer },
  },
  readDocument: {
    method: "GET",
    path: "/api/collections/{id}/documents/{documentId}",
    needs: "read",
    says: "Returns one document and its indexing progress.",
    answers: { 200: DocumentView },
  },
  readDocumentText: {
    method: "GET",
    path: "/api/collections/{id}/documents/{documentId}/text",
    needs: "read",
    says: "Returns a section of a document's text.",
    query: TextQuery,
    answers: { 200: TextWindow },
  },
  removeDocument: {
    method: "DELETE",
    path: "/api/collections/{id}/documents/{documentId}",
    needs: "manage",
    says: "Deletes a document.",
    answers: { 204: null },
  },
  readPassage: {
    method: "GET",
    path: "/api/passages/{id}",
    needs: "read",
    says: "Returns one passage, as cited; 404 if its document was replaced or deleted since.",
    answers: { 200: PassageView },
  },
})

/** Longer than nearly all notes. The beginning of a longer one says what it is about. */
export const MAX_EMBEDDED_CHARACTERS = 200_000

const EmbedRequest = z.strictObject({
  text: z.string().trim().min(1).max(MAX_EMBEDDED_CHARACTERS),
})

const EmbedAnswer = z.object({
  vector: z.array(z.number()),
  /** Only vectors of the same one can be compared. */
  embedder: z.string(),
})
type EmbedAnswer = z.infer<typeof EmbedAnswer>

/** Embeddings, for devices with an index of their own. */
export const vectorRoutes = defineRoutes({
  embedText: {
    method: "POST",
    path: "/api/v1/storage/vectors/embed",
    needs: "chat",
    says: "Returns the vector of a text, with length 1, and the name of the embedder.",
    body: EmbedRequest,
    answers: { 200: EmbedAnswer },
  },
})

/** Files of messages. A message names them by their ids; one that no message names is gone after a day. */
export const fileRoutes = defineRoutes({
  uploadFile: {
    method: "POST",
    path: "/api/files",
    needs: "chat",
    says: "Uploads a file of at most 25 MB for a message: as the body, with its name in X-File-Name (percent-encoded) or ?name=, or as the form field file. The same bytes give the same file.",
    query: z.object({ name: z.string().max(2000).optional() }),
    takes: [
      ...(["application/octet-stream", "multipart/form-data", "image/png", "image/jpeg", "image/gif"] as const),
      ...(["image/webp", "application/pdf", "text/plain", "text/csv", "text/markdown"] as const),
    ],
    answers: { 201: UploadedFile },
  },
  readFile: {
    method: "GET",
    path: "/api/files/{id}",
    needs: "read",
    says: "Returns the bytes of one of your files. Images have their own media type; other files are downloads.",
    answers: { 200: z.unknown() },
    media: "application/octet-stream",
  },
  removeFile: {
    method: "DELETE",
    path: "/api/files/{id}",
    needs: "manage",
    says: "Deletes a file. Messages still name it, but it is no longer shown to any model.",
    answers: { 204: null },
  },
})
