import { z } from "zod"
import {
  ConversationDetail,
  MessagePage,
  ModelAnswer,
  pageOf,
  QueuedAnswer,
  QueuedMessage,
  RunAnswer,
  StateAnswer,
} from "../answers.ts"
import {
  ConversationView,
  CreatedSharedRun,
  NewSharedRun,
  Run,
  RunJournal,
  RunJournalQuery,
  SharedRun,
  SharedRunSecret,
  SharedRunView,
} from "../conversation/conversation.ts"
import { Message } from "../conversation/message.ts"
import { QuestionAnswer, SettledQuestion } from "../conversation/questions.ts"
import {
  ConversationPatch,
  ConversationQuery,
  EventQuery,
  ForkPoint,
  MessageQuery,
  ModelChoice,
  NewConversation,
  NewMessage,
  PageQuery,
  QueuedEdit,
  StateQuery,
} from "../requests.ts"
import { defineRoutes } from "./route.ts"

/** Beginning, finding, setting and forking conversations. */
export const conversationRoutes = defineRoutes({
  createConversation: {
    method: "POST",
    path: "/api/conversations",
    needs: "chat",
    says: "Creates a conversation. All fields are optional.",
    body: NewConversation,
    answers: { 201: ConversationView },
  },
  listConversations: {
    method: "GET",
    path: "/api/conversations",
    needs: "read",
    says:
      "Lists your conversations, newest first; with `search`, those whose title contains these words. A page of a search can have " +
      "fewer items than its limit and still have a `nextCursor`.",
    query: ConversationQuery,
    answers: { 200: pageOf(ConversationView) },
  },
  readConversation: {
    method: "GET",
    path: "/api/conversations/{id}",
    needs: "read",
    says: "Returns a conversation with its newest messages and open proposals. Continue from its position with the event stream.",
    answers: { 200: ConversationDetail },
  },
  readMessages: {
    method: "GET",
    path: "/api/conversations/{id}/messages",
    needs: "read",
    says: "Lists messages in order: the newest, or those before a seq.",
    query: MessageQuery,
    answers: { 200: MessagePage },
  },
  readMessage: {
    method: "GET",
    path: "/api/conversations/{id}/messages/{messageId}",
    needs: "read",
    says: "Returns one whole message. Lists contain only the start of a long one, with truncated and its length.",
    answers: { 200: Message },
  },
  changeConversation: {
    method: "PATCH",
    path: "/api/conversations/{id}",
    needs: "chat",
    says: "Changes title, model, fallback or mode, also during a run. A mode with more permissions needs the scope `approve`.",
    body: ConversationPatch,
    answers: { 200: ConversationView },
  },
  readState: {
    method: "GET",
    path: "/api/conversations/{id}/state",
    needs: "read",
    says: "Returns the conversation's state, now or at a position of the journal.",
    query: StateQuery,
    answers: { 200: StateAnswer },
  },
  forkConversation: {
    method: "POST",
    path: "/api/conversations/{id}/fork",
    needs: "chat",
    says: "Creates a conversation with the journal up to a position, or up to before one of your messages.",
    body: ForkPoint,
    answers: { 201: ConversationView },
  },
  readModel: {
    method: "GET",
    path: "/api/conversations/{id}/model",
    needs: "read",
    says: "Returns the conversation's model, and the models to choose from.",
    answers: { 200: ModelAnswer },
  },
  chooseModel: {
    method: "POST",
    path: "/api/conversations/{id}/model",
    needs: "chat",
    says: "Chooses the model by name or alias. An unknown or unavailable model is a 400.",
    body: ModelChoice,
    answers: { 200: ModelAnswer },
  },
  compactConversation: {
    method: "POST",
    path: "/api/conversations/{id}/compact",
    needs: "chat",
    says: "Summarizes the history to free context: now, or before the next reply of an active run.",
    answers: { 200: ConversationView },
  },
  cancelRun: {
    method: "POST",
    path: "/api/conversations/{id}/cancel",
    needs: "chat",
    says: "Cancels the active run. Text that was already shown is kept.",
    answers: { 200: z.object({ cancelled: z.boolean() }) },
  },
})

/** Questions of MCP servers to the user. */
export const questionRoutes = defineRoutes({
  answerQuestion: {
    method: "POST",
    path: "/api/conversations/{id}/questions/{questionId}",
    needs: "approve",
    says: "Answers a question that an MCP server asks during a call. The first answer counts and is sent to that server.",
    body: QuestionAnswer,
    answers: { 200: SettledQuestion },
  },
})

/** Messages that wait while a run is working. */
export const queueRoutes = defineRoutes({
  listQueue: {
    method: "GET",
    path: "/api/conversations/{id}/queue",
    needs: "read",
    says: "Lists queued messages in order.",
    query: PageQuery,
    answers: { 200: pageOf(QueuedMessage) },
  },
  editQueued: {
    method: "PATCH",
    path: "/api/conversations/{id}/queue/{messageId}",
    needs: "chat",
    says: "Changes the text of a queued message; 409 `message_taken` if its run has started.",
    body: QueuedEdit,
    answers: { 200: QueuedMessage },
  },
  withdrawQueued: {
    method: "DELETE",
    path: "/api/conversations/{id}/queue/{messageId}",
    needs: "chat",
    says: "Withdraws a queued message; 409 `message_taken` if its run has started.",
    answers: { 204: null },
  },
  sendQueued: {
    method: "POST",
    path: "/api/conversations/{id}/queue/{messageId}/send",
    needs: "chat",
    says: "Starts the run of a message that is held because the previous run was cancelled; 409 `busy` during a run.",
    answers: { 202: QueuedMessage },
  },
})

/** Messages, waiting for answers, and runs. */
export const runRoutes = defineRoutes({
  sendMessage: {
    method: "POST",
    path: "/api/conversations/{id}/messages",
    needs: "chat",
    says: "Sends a message. Responds when the run ends or pauses; 202 if the message was queued.",
    body: NewMessage,
    answers: { 200: RunAnswer, 202: QueuedAnswer },
    stream: "asked",
  },
  resumeRun: {
    method: "POST",
    path: "/api/conversations/{id}/resume",
    needs: "chat",
    says: "Waits for the run that continues after its decisions, or continues a failed or cancelled run.",
    answers: { 200: RunAnswer },
    stream: "asked",
  },
  listRuns: {
    method: "GET",
    path: "/api/conversations/{id}/runs",
    needs: "read",
    says: "Lists the runs of a conversation, newest first.",
    query: PageQuery,
    answers: { 200: pageOf(Run) },
  },
  readRun: {
    method: "GET",
    path: "/api/runs/{id}",
    needs: "read",
    says: "Returns one run.",
    answers: { 200: Run },
  },
  readRunOfMessage: {
    method: "GET",
    path: "/api/conversations/{id}/messages/{messageId}/run",
    needs: "read",
    says: "Returns the run of a message.",
    answers: { 200: Run },
  },
  readRunJournal: {
    method: "GET",
    path: "/api/runs/{id}/journal",
    needs: "read",
    says: "Returns the recorded events of a run, as many as fit in a response.",
    query: RunJournalQuery,
    answers: { 200: RunJournal },
  },
})

/** Live events, as server-sent events. */
export const streamRoutes = defineRoutes({
  watchConversation: {
    method: "GET",
    path: "/api/conversations/{id}/events",
    needs: "read",
    says: "Streams all events after a cursor (`Last-Event-ID` or `after`), then live events until you disconnect.",
    query: EventQuery,
    answers: {},
    stream: "always",
  },
  watchFeed: {
    method: "GET",
    path: "/api/feed",
    needs: "read",
    says: "Streams your conversations and open proposals: a snapshot first, then each conversation that changes.",
    answers: {},
    stream: "always",
  },
})

/** Links with which other users of the server can read one run. */
export const sharedRunRoutes = defineRoutes({
  shareRun: {
    method: "POST",
    path: "/api/runs/{id}/shares",
    needs: "manage",
    says: "Creates a link to this run for other users of this server. It shows the run's messages, calls and results, and nothing of other runs. The secret is returned only once.",
    body: NewSharedRun,
    answers: { 201: CreatedSharedRun },
  },
  listSharedRuns: {
    method: "GET",
    path: "/api/shared-runs",
    needs: "read",
    says: "Lists your valid links to runs, newest first, without their secrets.",
    query: PageQuery,
    answers: { 200: pageOf(SharedRunView) },
  },
  revokeSharedRun: {
    method: "DELETE",
    path: "/api/shared-runs/{id}",
    needs: "manage",
    says: "Revokes a link to a run, which then returns 404.",
    answers: { 204: null },
  },
  openSharedRun: {
    method: "POST",
    path: "/api/shared-runs/open",
    needs: "read",
    says: "Returns the events of a shared run, as many as fit in a response.",
    body: SharedRunSecret,
    answers: { 200: SharedRun },
  },
})
