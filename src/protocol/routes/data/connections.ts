import { pageOf } from "../../answers.ts"
import {
  ConnectionPatch,
  ConnectionTest,
  ConnectionView,
  NewConnection,
  SchemaAnswer,
  SchemaQuery,
  SqlQuery,
} from "../../databases/connections.ts"
import { CsvPreview, CsvQuery } from "../../databases/csv.ts"
import { KeptAnswer } from "../../databases/query-results.ts"
import { PageQuery } from "../../requests.ts"
import { defineRoutes } from "../route.ts"

/** Databases of people, which are only ever read. */
export const connectionRoutes = defineRoutes({
  listConnections: {
    method: "GET",
    path: "/api/connections",
    needs: "read",
    says: "Your connections to databases, newest first.",
    query: PageQuery,
    answers: { 200: pageOf(ConnectionView) },
  },
  createConnection: {
    method: "POST",
    path: "/api/connections",
    needs: "manage",
    says: "Stores how to reach a database of yours, encrypted. The password is never shown again.",
    body: NewConnection,
    answers: { 201: ConnectionView },
  },
  tryConnection: {
    method: "POST",
    path: "/api/connections/try",
    needs: "manage",
    says: "Whether a database answers that is not stored: the body of createConnection. Nothing is kept of it.",
    body: NewConnection,
    answers: { 200: ConnectionTest },
  },
  sampleConnection: {
    method: "POST",
    path: "/api/connections/sample",
    needs: "manage",
    says: "A connection to the sample database, a small shop, to ask at once. Made where you have none; otherwise the one you have.",
    answers: { 200: ConnectionView },
  },
  uploadCsv: {
    method: "POST",
    path: "/api/connections/csv",
    needs: "manage",
    says: "Makes a private database of a CSV file, the body itself; with preview=true only says what would be in it.",
    query: CsvQuery,
    takes: ["text/csv", "text/tab-separated-values"],
    answers: { 200: CsvPreview, 201: ConnectionView },
  },
  readConnection: {
    method: "GET",
    path: "/api/connections/{id}",
    needs: "read",
    says: "One connection.",
    answers: { 200: ConnectionView },
  },
  changeConnection: {
    method: "PATCH",
    path: "/api/connections/{id}",
    needs: "manage",
    says: "Changes a connection. Whoever changes where it leads sends the password again.",
    body: ConnectionPatch,
    answers: { 200: ConnectionView },
  },
  removeConnection: {
    method: "DELETE",
    path: "/api/connections/{id}",
    needs: "manage",
    says: "Forgets a connection. The database stays as it is.",
    answers: { 204: null },
  },
  testConnection: {
    method: "POST",
    path: "/api/connections/{id}/test",
    needs: "chat",
    says: "Whether the database answers, and what is wrong where it does not.",
    answers: { 200: ConnectionTest },
  },
  readSchema: {
    method: "GET",
    path: "/api/connections/{id}/schema",
    needs: "read",
    says: "The tables of a database with columns, keys and a few rows, as bounded markdown.",
    query: SchemaQuery,
    answers: { 200: SchemaAnswer },
  },
  queryConnection: {
    method: "POST",
    path: "/api/connections/{id}/query",
    needs: "chat",
    says: "Runs one SELECT. It can change nothing, and ends after 10 s, 10,000 rows or 8 MB. The result is kept.",
    body: SqlQuery,
    answers: { 200: KeptAnswer },
  },
})
