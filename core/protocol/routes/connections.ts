import { z } from "zod"
import { pageOf } from "../answers.ts"
import {
  ConnectionPatch,
  ConnectionTest,
  ConnectionView,
  StoredAnswer,
  NewConnection,
  SchemaAnswer,
  SchemaQuery,
  SqlQuery,
  StoredResult,
} from "../databases/connections.ts"
import { CsvPreview, CsvQuery } from "../databases/csv.ts"
import { PageQuery } from "../requests.ts"
import { defineRoutes } from "./route.ts"

/** Databases of people, which are only ever read. */
export const connectionRoutes = defineRoutes({
  listConnections: {
    method: "GET",
    path: "/api/connections",
    needs: "read",
    says: "Lists your database connections, newest first.",
    query: PageQuery,
    answers: { 200: pageOf(ConnectionView) },
  },
  createConnection: {
    method: "POST",
    path: "/api/connections",
    needs: "manage",
    says: "Stores a database connection, encrypted. The password is never returned.",
    body: NewConnection,
    answers: { 201: ConnectionView },
  },
  tryConnection: {
    method: "POST",
    path: "/api/connections/try",
    needs: "manage",
    says: "Tests a connection without storing it. Takes the body of createConnection.",
    body: NewConnection,
    answers: { 200: ConnectionTest },
  },
  sampleConnection: {
    method: "POST",
    path: "/api/connections/sample",
    needs: "manage",
    says: "Connects the sample database, a small shop. Returns the existing connection if there is one.",
    answers: { 200: ConnectionView },
  },
  uploadCsv: {
    method: "POST",
    path: "/api/connections/csv",
    needs: "manage",
    says: "Creates a private database from a CSV file, which is the body. With preview=true, only returns what it would contain.",
    query: CsvQuery,
    takes: ["text/csv", "text/tab-separated-values"],
    answers: { 200: CsvPreview, 201: ConnectionView },
  },
  readConnection: {
    method: "GET",
    path: "/api/connections/{id}",
    needs: "read",
    says: "Returns one connection.",
    answers: { 200: ConnectionView },
  },
  changeConnection: {
    method: "PATCH",
    path: "/api/connections/{id}",
    needs: "manage",
    says: "Changes a connection. A change of its address needs the password again.",
    body: ConnectionPatch,
    answers: { 200: ConnectionView },
  },
  removeConnection: {
    method: "DELETE",
    path: "/api/connections/{id}",
    needs: "manage",
    says: "Deletes a connection. The database itself is not changed.",
    answers: { 204: null },
  },
  testConnection: {
    method: "POST",
    path: "/api/connections/{id}/test",
    needs: "chat",
    says: "Tests whether the database responds, and returns the problem if it does not.",
    answers: { 200: ConnectionTest },
  },
  readSchema: {
    method: "GET",
    path: "/api/connections/{id}/schema",
    needs: "read",
    says: "Returns the tables of a database with columns, keys and a few rows, as Markdown of limited length.",
    query: SchemaQuery,
    answers: { 200: SchemaAnswer },
  },
  queryConnection: {
    method: "POST",
    path: "/api/connections/{id}/query",
    needs: "chat",
    says: "Runs one SELECT, which cannot change anything. It stops after 10 s, 10,000 rows or 8 MB. The result is stored.",
    body: SqlQuery,
    answers: { 200: StoredAnswer },
  },
})

/** Results of queries: the newest hundred of a user, at most 64 MB, for seven days after the last access. */
export const resultRoutes = defineRoutes({
  // Before the other, because `{resultId}` would match the extension as well.
  exportResult: {
    method: "GET",
    path: "/api/connections/{id}/results/{resultId}.csv",
    needs: "read",
    says: "Returns a whole result as CSV. Cells that a spreadsheet would read as a formula start with a quotation mark. If the database had more rows, the file name says so and `x-pawl-truncated` is `true`.",
    answers: { 200: z.string() },
    media: "text/csv",
  },
  readResult: {
    method: "GET",
    path: "/api/connections/{id}/results/{resultId}",
    needs: "read",
    says: "Returns a whole result with its SQL.",
    answers: { 200: StoredResult },
  },
})
