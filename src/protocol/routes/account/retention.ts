import { ExportLine } from "../../account/export.ts"
import { defineRoutes } from "../route.ts"

/** Taking what is yours with you, and leaving nothing behind. */
export const retentionRoutes = defineRoutes({
  deleteConversation: {
    method: "DELETE",
    path: "/api/conversations/{id}",
    needs: "manage",
    says: "Stops what is at work and erases the conversation with everything in it. It cannot be taken back.",
    answers: { 204: null },
  },
  deleteMe: {
    method: "DELETE",
    path: "/api/me",
    needs: "manage",
    says: "Erases you: conversations, tasks, tokens, everything. Needs the scope chat too. It cannot be taken back.",
    answers: { 204: null },
  },
  exportAll: {
    method: "GET",
    path: "/api/export",
    needs: "manage",
    says: "Everything of yours as JSON lines, each with its kind; the last one is of the kind end. Never a secret.",
    answers: { 200: ExportLine },
    media: "application/x-ndjson",
  },
})
