import { EventQuery } from "../../requests.ts"
import { defineRoutes } from "../route.ts"

/** What is told as it happens, as server-sent events. */
export const streamRoutes = defineRoutes({
  watchConversation: {
    method: "GET",
    path: "/api/conversations/{id}/events",
    needs: "read",
    says: "Everything after a cursor (`Last-Event-ID` or `after`), then what happens, for as long as you listen.",
    query: EventQuery,
    answers: {},
    stream: "always",
  },
  watchFeed: {
    method: "GET",
    path: "/api/feed",
    needs: "read",
    says: "Your conversations and what waits for you: how they stand, then each one that changes.",
    answers: {},
    stream: "always",
  },
})
