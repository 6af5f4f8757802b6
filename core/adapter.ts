/**
 * The API for adapters, with `protocol/index.ts`. An adapter serves another wire format over the same conversations: it
 * reads a request, sends a message or decides a proposal with these functions, and translates the frames of the run.
 */

// The adapter itself. Its routes are in the table of `protocol/routes`, which checks requests, scopes and answers.
export type { Adapter } from "./server/app.ts"
export type { ServerPorts } from "./server/app.ts"
export type { Env } from "./server/auth/credentials.ts"
export { boundLargeBodies, serveRoute } from "./server/request/serve-route.ts"

// The caller: the person, the scopes, and what is recorded with a message or a decision.
export type { Caller } from "./server/auth/credentials.ts"
export { requireScope, actorOf, senderFields, userOf } from "./server/auth/caller.ts"
export { findBaseUrl, mcpChallenge } from "./server/auth/origins.ts"

// Conversations: find, start and delete them, choose a model or a connection.
export { conversationForKey, conversationIdOfKey } from "./server/conversation/idempotency-keys.ts"
export { conversationOf, findConversation, proposalOf, readState } from "./server/conversation/find.ts"
export {
  changeModel,
  chooseAndRememberModel,
  chooseConnection,
  chooserOf,
  lastChosenModel,
  requireSight,
  toModelAnswer,
  toConversationStart,
} from "./server/conversation/settings.ts"
export { eraseConversation } from "./server/conversation/erase.ts"

// Messages: their text, files, client context and idempotency keys.
export type { ClientResult, MessageInput } from "./engine/input.ts"
export { refuseText } from "./engine/accept/refuse-input.ts"
export { toSentence } from "./engine/definition/schema.ts"
export { toClientContext } from "./server/conversation/client-context.ts"
export {
  hasIdempotencyKey,
  messageIdFor,
  messageIdOfKey,
  messageIdOfName,
  readIdempotencyKey,
} from "./server/conversation/idempotency-keys.ts"
export { readUploadForm, storeFiles, useFiles, type RequestFile } from "./server/files/uploads.ts"
export { fileOf, answerWithFile } from "./server/routes/files.ts"
export { embedTexts } from "./server/routes/collections.ts"
export { estimateFileTokens, estimateTokens } from "./engine/history/tokens.ts"
export { estimateRequest } from "./server/conversation/context-meter.ts"

// Runs: send a message and watch its run, watch it again, or continue it with results of client tools.
export {
  sendAndWatch,
  sendOnce,
  watchFirstRun,
  watchFrom,
  watchRun,
  subscribeDuring,
} from "./server/stream/send-message.ts"
export { sendResults, readDelegatedCalls } from "./server/stream/client-results.ts"
export { isOpen, newestRun, type NewestRun } from "./server/stream/journal-runs.ts"
export { whenIdleAnywhere } from "./engine/runtime/idle-anywhere.ts"

// Decisions about proposals.
export {
  isOutcomeOf,
  conflict,
  decideAndWait,
  edit,
  requireDeviceOnline,
  reject,
  resolveDoubt,
} from "./server/conversation/decide.ts"
export { waitForEvent } from "./server/conversation/wait-for-event.ts"

// Frames: a run as it happens, or as the journal has it, and how frames become an answer.
export { type AnyFrame, PendingCalls } from "./server/stream/frame-maker.ts"
export { keepAliveOf, STREAM_HEADERS, toTextStream, type Translation } from "./server/stream/event-stream.ts"
export type { FrameSource } from "./server/stream/frame-source.ts"
export { registerStream, subscribe } from "./server/stream/open-stream.ts"
export { isEnd } from "./server/stream/subscription.ts"
export { RunFrames } from "./server/stream/send-message.ts"
export {
  RunPauses,
  type JournalRow,
  readRecordedRuns,
  type RunRange,
  runRows,
  rowsToFrames,
  fixedSource,
  prependFrames,
} from "./server/stream/journal-runs.ts"
export { ANSWER } from "./engine/definition/stages.ts"
export { isKnown } from "./engine/replay/replay.ts"
export { isServerRun } from "./engine/conversation.ts"

// The request and response schemas of the adapters, which the table of routes uses, and what they share with the server.
export { clientNameOf, ClientTool } from "./protocol/conversation/tool-calls.ts"
export { SqlResultState } from "./protocol/databases/connections.ts"
export type { AgUiMessage, AgUiRequest, AgUiResume } from "./protocol/dialects/ag-ui.ts"
export type {
  UiChat,
  UiChatQuery,
  UiChatRequest,
  UiMessage,
  UiPart,
  UiStopped,
  UiStopRequest,
  UiStreamQuery,
} from "./protocol/dialects/ai-sdk.ts"
export type { McpMessage } from "./protocol/dialects/mcp.ts"
export type {
  CompactedResponse,
  CompactRequest,
  ConversationItem,
  ConversationItems,
  InputItems,
  InputItemsQuery,
  InputTokens,
  InputTokensRequest,
  ListedItem,
  NewOpenAiConversation,
  OpenAiConversation,
  OpenAiConversationDeleted,
  OpenAiConversationPatch,
  OutputCall,
  OutputItem,
  OutputMessage,
  ResponseAnswered,
  ResponseDeleted,
  ResponseQuery,
  ResponseRequest,
} from "./protocol/dialects/openai-responses.ts"
export {
  type ChatCompletion,
  type ChatCompletionRequest,
  type ChatToolCall,
  type ChatUsage,
  type EmbeddingRequest,
  type FinishReason,
  JsonSchemaFormat,
  OpenAiContent,
  type OpenAiEmbeddings,
  type OpenAiError,
  type OpenAiFile,
  type OpenAiFileDeleted,
  type OpenAiFiles,
  type OpenAiFilesQuery,
  type OpenAiModel,
  type OpenAiModels,
  type PawlExtras,
} from "./protocol/dialects/openai.ts"
export type { ThreadAnswer, ThreadFrame, ThreadModel, ThreadState } from "./protocol/dialects/threads.ts"
export { CATALOGUE } from "./protocol/error-catalogue.ts"
export { type FoundPassage, PassageSearch, searchNotice } from "./protocol/library.ts"
export { canonicalJson, own } from "./shared/text/json.ts"
export { readJson, tryReadJson } from "./shared/text/read-json.ts"
export { isStorable } from "./shared/text/text.ts"
export { isTimeZone } from "./shared/time/zone.ts"
