import { z } from "zod"
import { defineRoutes } from "../route.ts"
import {
  NewThread,
  ThreadAnswer,
  ThreadConnected,
  ThreadConnection,
  ThreadCreated,
  ThreadMessage,
  ThreadModel,
  ThreadModelChoice,
  ThreadState,
} from "../../dialects/threads.ts"

/** The thread dialect, over the same conversations. For clients that were written for it; new ones have better. */
export const threadRoutes = defineRoutes({
  createThread: {
    method: "POST",
    path: "/api/chat/thread",
    needs: "chat",
    says: "Thread dialect: creates a conversation with the analyst.",
    body: NewThread,
    answers: { 200: ThreadCreated },
  },
  sendToThread: {
    method: "POST",
    path: "/api/chat/{id}/message",
    needs: "chat",
    says: "Thread dialect: sends a message. Responds with data lines only: chunk, tool_result, then end or error.",
    body: ThreadMessage,
    answers: { 200: z.string() },
    media: "text/event-stream",
  },
  readThread: {
    method: "GET",
    path: "/api/chat/{id}",
    needs: "read",
    says: "Thread dialect: lists the messages.",
    answers: { 200: ThreadAnswer },
  },
  readThreadState: {
    method: "GET",
    path: "/api/chat/{id}/state",
    needs: "read",
    says: "Thread dialect: returns the model, the database with its schema, and the last result.",
    answers: { 200: ThreadState },
  },
  connectThread: {
    method: "POST",
    path: "/api/chat/{id}/connection",
    needs: "chat",
    says: "Thread dialect: selects the database.",
    body: ThreadConnection,
    answers: { 200: ThreadConnected },
  },
  readThreadModel: {
    method: "GET",
    path: "/api/chat/{id}/model",
    needs: "read",
    says: "Thread dialect: returns the model, and the models to choose from.",
    answers: { 200: ThreadModel },
  },
  chooseThreadModel: {
    method: "POST",
    path: "/api/chat/{id}/model",
    needs: "chat",
    says: "Thread dialect: chooses the model by name or alias.",
    body: ThreadModelChoice,
    answers: { 200: ThreadModel },
  },
})
