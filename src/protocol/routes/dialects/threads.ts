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
import { lazily } from "../../lazily.ts"

/** The thread dialect, over the same conversations. For clients that were written for it; new ones have better. */
export const threadRoutes = defineRoutes({
  createThread: {
    method: "POST",
    path: "/api/chat/thread",
    needs: "chat",
    says: "Thread dialect: begins a conversation with the analyst.",
    body: NewThread,
    answers: { 200: ThreadCreated },
  },
  sendToThread: {
    method: "POST",
    path: "/api/chat/{id}/message",
    needs: "chat",
    says: "Thread dialect: says something. Answers with data lines alone: chunk, tool_result, then end or error.",
    body: ThreadMessage,
    answers: { 200: lazily(() => z.string()) },
    media: "text/event-stream",
  },
  readThread: {
    method: "GET",
    path: "/api/chat/{id}",
    needs: "read",
    says: "Thread dialect: what was said.",
    answers: { 200: ThreadAnswer },
  },
  readThreadState: {
    method: "GET",
    path: "/api/chat/{id}/state",
    needs: "read",
    says: "Thread dialect: the model, the database with its schema, and the last result.",
    answers: { 200: ThreadState },
  },
  connectThread: {
    method: "POST",
    path: "/api/chat/{id}/connection",
    needs: "chat",
    says: "Thread dialect: chooses the database.",
    body: ThreadConnection,
    answers: { 200: ThreadConnected },
  },
  readThreadModel: {
    method: "GET",
    path: "/api/chat/{id}/model",
    needs: "read",
    says: "Thread dialect: the model, and which there are.",
    answers: { 200: ThreadModel },
  },
  chooseThreadModel: {
    method: "POST",
    path: "/api/chat/{id}/model",
    needs: "chat",
    says: "Thread dialect: chooses the model, by name or alias.",
    body: ThreadModelChoice,
    answers: { 200: ThreadModel },
  },
})
