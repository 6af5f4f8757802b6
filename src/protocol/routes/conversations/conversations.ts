import { z } from "zod"
import { ConversationDetail, MessagePage, ModelAnswer, pageOf, StateAnswer } from "../../answers.ts"
import { ConversationView } from "../../conversation/conversation.ts"
import { Message } from "../../conversation/message.ts"
import {
  ConversationPatch,
  ForkPoint,
  MessageQuery,
  ModelChoice,
  NewConversation,
  ConversationQuery,
  StateQuery,
} from "../../requests.ts"
import { defineRoutes } from "../route.ts"
import { lazily } from "../../lazily.ts"

/** Beginning, finding, setting and forking conversations. */
export const conversationRoutes = defineRoutes({
  createConversation: {
    method: "POST",
    path: "/api/conversations",
    needs: "chat",
    says: "Begins a conversation. Everything may be left out.",
    body: NewConversation,
    answers: { 201: ConversationView },
  },
  listConversations: {
    method: "GET",
    path: "/api/conversations",
    needs: "read",
    says:
      "Your conversations, newest first; with `search` those whose title has these words. A page of a search may hold " +
      "less than its limit while `nextCursor` says that there is more to look at.",
    query: ConversationQuery,
    answers: { 200: pageOf(ConversationView) },
  },
  readConversation: {
    method: "GET",
    path: "/api/conversations/{id}",
    needs: "read",
    says: "A conversation with its newest messages and open proposals; go on from its position with the event stream.",
    answers: { 200: ConversationDetail },
  },
  readMessages: {
    method: "GET",
    path: "/api/conversations/{id}/messages",
    needs: "read",
    says: "Messages in order: the newest, or those before a seq.",
    query: MessageQuery,
    answers: { 200: MessagePage },
  },
  readMessage: {
    method: "GET",
    path: "/api/conversations/{id}/messages/{messageId}",
    needs: "read",
    says: "One message, whole: the others tell of a long one only the beginning, with truncated and its length.",
    answers: { 200: Message },
  },
  changeConversation: {
    method: "PATCH",
    path: "/api/conversations/{id}",
    needs: "chat",
    says: "Sets title, model, fallback or mode; also while a run is working.",
    body: ConversationPatch,
    answers: { 200: ConversationView },
  },
  readState: {
    method: "GET",
    path: "/api/conversations/{id}/state",
    needs: "read",
    says: "The folded state now, or as it was at a position of the journal.",
    query: StateQuery,
    answers: { 200: StateAnswer },
  },
  forkConversation: {
    method: "POST",
    path: "/api/conversations/{id}/fork",
    needs: "chat",
    says: "A new conversation that shares the journal up to a position, or to before a message of yours.",
    body: ForkPoint,
    answers: { 201: ConversationView },
  },
  readModel: {
    method: "GET",
    path: "/api/conversations/{id}/model",
    needs: "read",
    says: "Which model the conversation has, and which it could have.",
    answers: { 200: ModelAnswer },
  },
  chooseModel: {
    method: "POST",
    path: "/api/conversations/{id}/model",
    needs: "chat",
    says: "Chooses the model by name or alias; unknown or unavailable is a 400.",
    body: ModelChoice,
    answers: { 200: ModelAnswer },
  },
  compactConversation: {
    method: "POST",
    path: "/api/conversations/{id}/compact",
    needs: "chat",
    says: "Sums up what was said, so that the model has room again: now, or before the next reply of a run that works.",
    answers: { 200: ConversationView },
  },
  cancelRun: {
    method: "POST",
    path: "/api/conversations/{id}/cancel",
    needs: "chat",
    says: "Stops the run that is under way; the text already shown is kept.",
    answers: { 200: lazily(() => z.object({ cancelled: z.boolean() })) },
  },
})
