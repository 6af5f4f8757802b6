import { pageOf } from "../../answers.ts"
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
} from "../../library.ts"
import { PageQuery } from "../../requests.ts"
import { defineRoutes } from "../route.ts"

/** Collections of documents, for agents to find passages in. */
export const collectionRoutes = defineRoutes({
  listCollections: {
    method: "GET",
    path: "/api/collections",
    needs: "read",
    says: "Your collections of documents, newest first.",
    query: PageQuery,
    answers: { 200: pageOf(CollectionView) },
  },
  createCollection: {
    method: "POST",
    path: "/api/collections",
    needs: "chat",
    says: "Makes an empty collection; 409 `name_taken` where there is one of that name.",
    body: NewCollection,
    answers: { 201: CollectionView },
  },
  searchCollections: {
    method: "POST",
    path: "/api/collections/search",
    needs: "read",
    says: "The passages that fit a question best, by their words and by their meaning.",
    body: PassageSearch,
    answers: { 200: SearchAnswer },
  },
  readCollection: {
    method: "GET",
    path: "/api/collections/{id}",
    needs: "read",
    says: "One collection.",
    answers: { 200: CollectionView },
  },
  removeCollection: {
    method: "DELETE",
    path: "/api/collections/{id}",
    needs: "manage",
    says: "Deletes a collection with all that is in it.",
    answers: { 204: null },
  },
  listDocuments: {
    method: "GET",
    path: "/api/collections/{id}/documents",
    needs: "read",
    says: "The documents of a collection, newest first, with how far each is.",
    query: PageQuery,
    answers: { 200: pageOf(DocumentView) },
  },
  addDocument: {
    method: "POST",
    path: "/api/collections/{id}/documents",
    needs: "chat",
    says: "Adds a file: Markdown, text, HTML, RTF, PDF (`encoding: base64`) or lines of arXiv's metadata. A body has 32 MB at most, which is 24 MB of a PDF or an RTF, and 8 MB of any other text (413 `upload_too_large`). Instead of its `content`, `file` names one that was uploaded for a message (POST /api/files). In place of the one of that name; what has not changed is skipped. It is found by its words at once, by its meaning when `status` is `ready`.",
    body: NewDocument,
    large: "file",
    answers: { 201: IngestAnswer },
  },
  readDocument: {
    method: "GET",
    path: "/api/collections/{id}/documents/{documentId}",
    needs: "read",
    says: "One document, and how far it is.",
    answers: { 200: DocumentView },
  },
  readDocumentText: {
    method: "GET",
    path: "/api/collections/{id}/documents/{documentId}/text",
    needs: "read",
    says: "A stretch of a document's text.",
    query: TextQuery,
    answers: { 200: TextWindow },
  },
  removeDocument: {
    method: "DELETE",
    path: "/api/collections/{id}/documents/{documentId}",
    needs: "manage",
    says: "Deletes a document with its passages.",
    answers: { 204: null },
  },
  readPassage: {
    method: "GET",
    path: "/api/passages/{id}",
    needs: "read",
    says: "One passage, as citations name it; 404 when its document was replaced or deleted since.",
    answers: { 200: PassageView },
  },
})
