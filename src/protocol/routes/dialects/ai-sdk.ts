import { z } from "zod"
import { UiChat, UiChatQuery, UiChatRequest, UiStopped, UiStopRequest, UiStreamQuery } from "../../dialects/ai-sdk.ts"
import { defineRoutes } from "../route.ts"
import { lazily } from "../../lazily.ts"

/** For pages that were written with `useChat` of the AI SDK: the same conversations, in its words (docs/ai-sdk.md). */
export const aiSdkRoutes = defineRoutes({
  sendUiMessages: {
    method: "POST",
    path: "/ai-sdk",
    needs: "chat",
    says: "AI SDK dialect: says the last message of a chat, or takes its answers to what waits, and tells the run as a UI message stream.",
    body: UiChatRequest,
    large: "workspace",
    answers: { 200: lazily(() => z.string()) },
    media: "text/event-stream",
  },
  resumeUiStream: {
    method: "GET",
    path: "/ai-sdk/{chat}/stream",
    needs: "read",
    says: "AI SDK dialect: the run that is at work, waits or has ended lately, from its beginning; 204 where there is none.",
    query: UiStreamQuery,
    answers: { 200: lazily(() => z.string()), 204: null },
    media: "text/event-stream",
  },
  readUiChat: {
    method: "GET",
    path: "/ai-sdk/{chat}",
    needs: "read",
    says: "AI SDK dialect: the newest messages of a chat, for `useChat` to begin with; by `cursor` those before them.",
    query: UiChatQuery,
    answers: { 200: UiChat },
  },
  stopUiStream: {
    method: "POST",
    path: "/ai-sdk/{chat}/stop",
    needs: "chat",
    says: "AI SDK dialect: stops the run; `activeStreamId` names it where only that one is meant.",
    body: UiStopRequest,
    answers: { 200: UiStopped },
  },
})
