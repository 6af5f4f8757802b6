import { z } from "zod"
import { UiChat, UiChatQuery, UiChatRequest, UiStopped, UiStopRequest, UiStreamQuery } from "../../dialects/ai-sdk.ts"
import { defineRoutes } from "../route.ts"

/** Routes for pages with `useChat` of the AI SDK (docs/reference/ai-sdk.md). */
export const aiSdkRoutes = defineRoutes({
  sendUiMessages: {
    method: "POST",
    path: "/ai-sdk",
    needs: "chat",
    says: "AI SDK dialect: sends the last message of a chat, or its decisions, and streams the run as a UI message stream.",
    body: UiChatRequest,
    large: "workspace",
    answers: { 200: z.string() },
    media: "text/event-stream",
  },
  resumeUiStream: {
    method: "GET",
    path: "/ai-sdk/{chat}/stream",
    needs: "read",
    says: "AI SDK dialect: streams the active, waiting or latest run from its start; 204 if there is none.",
    query: UiStreamQuery,
    answers: { 200: z.string(), 204: null },
    media: "text/event-stream",
  },
  readUiChat: {
    method: "GET",
    path: "/ai-sdk/{chat}",
    needs: "read",
    says: "AI SDK dialect: returns the newest messages of a chat, for `useChat` to start with, or those before `cursor`.",
    query: UiChatQuery,
    answers: { 200: UiChat },
  },
  stopUiStream: {
    method: "POST",
    path: "/ai-sdk/{chat}/stop",
    needs: "chat",
    says: "AI SDK dialect: cancels the run, or only the one in `activeStreamId`.",
    body: UiStopRequest,
    answers: { 200: UiStopped },
  },
})
