import { z } from "zod"
import { StoredResult } from "../../databases/query-results.ts"
import { defineRoutes } from "../route.ts"
import { lazily } from "../../lazily.ts"

/** What queries have brought: the newest hundred results of a person, 64 MB of them at most. */
export const resultRoutes = defineRoutes({
  // Before the other: `{resultId}` would take the ending for a part of the id.
  exportResult: {
    method: "GET",
    path: "/api/connections/{id}/results/{resultId}.csv",
    needs: "read",
    says: "A whole result as CSV. What a spreadsheet would take for a formula has a quotation mark in front of it.",
    answers: { 200: lazily(() => z.string()) },
    media: "text/csv",
  },
  readResult: {
    method: "GET",
    path: "/api/connections/{id}/results/{resultId}",
    needs: "read",
    says: "A whole result, with the SQL that brought it.",
    answers: { 200: StoredResult },
  },
})
