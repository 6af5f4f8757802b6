import { z } from "zod"
import { QueuedMessage } from "../../answers.ts"
import { QueuedEdit } from "../../requests.ts"
import { defineRoutes } from "../route.ts"
import { lazily } from "../../lazily.ts"

/** Messages that wait while a run works, until they are taken. */
export const queueRoutes = defineRoutes({
  listQueue: {
    method: "GET",
    path: "/api/conversations/{id}/queue",
    needs: "read",
    says: "Messages that wait for their turn, in order.",
    answers: { 200: lazily(() => z.object({ items: z.array(QueuedMessage) })) },
  },
  editQueued: {
    method: "PATCH",
    path: "/api/conversations/{id}/queue/{messageId}",
    needs: "chat",
    says: "Changes the text of a message that still waits; 409 `message_taken` once its run has begun.",
    body: QueuedEdit,
    answers: { 200: QueuedMessage },
  },
  withdrawQueued: {
    method: "DELETE",
    path: "/api/conversations/{id}/queue/{messageId}",
    needs: "chat",
    says: "Takes back a message that still waits; 409 `message_taken` once its run has begun.",
    answers: { 204: null },
  },
  sendQueued: {
    method: "POST",
    path: "/api/conversations/{id}/queue/{messageId}/send",
    needs: "chat",
    says: "Starts the run of a message that was held because the run before it was stopped; 409 `busy` while one is under way.",
    answers: { 202: QueuedMessage },
  },
})
