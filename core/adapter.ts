/**
 * What an adapter is written against. An adapter serves another wire format over the same conversations: it reads a
 * request, sends a message or decides a proposal with these functions, and translates the frames of the run.
 */

// The adapter itself. Its routes are in the table of `protocol/routes`, which checks requests, scopes and answers.
export type { Adapter } from "./server/app.ts"
export type { ServerPorts } from "./server/ports.ts"
export type { Env } from "./server/auth/credentials.ts"
export { serveRoute } from "./server/request/serve-route.ts"

// The caller: the person, the scopes, and what is recorded with a message or a decision.
export type { Caller } from "./server/auth/credentials.ts"
export { demand, doneBy, spokenBy, userOf } from "./server/auth/caller.ts"
export { knownBase, mcpChallenge } from "./server/auth/origins.ts"

// Conversations: find, start and delete them, choose a model or a connection.
export { conversationForKey, conversationOfKey } from "./server/conversation/idempotency-keys.ts"
export { conversationOf, findConversation, proposalOf, readState } from "./server/conversation/find.ts"
export {
  changeModel,
  chooseAndRememberModel,
  chooseConnection,
  chooserOf,
  lastChosenModel,
  modelAnswer,
  toBeginning,
} from "./server/conversation/settings.ts"
export { eraseConversation } from "./server/conversation/erase.ts"

// Messages: their text, files, client context and idempotency keys.
export type { ClientResult, MessageInput } from "./engine/input.ts"
export { refuseText } from "./engine/accept/refuse-input.ts"
export { toSentence } from "./engine/definition/schema.ts"
export { toClientContext } from "./server/conversation/client-context.ts"
export { hasKey, messageIdFor, messageIdOfKey, messageOfName, readKey } from "./server/conversation/idempotency-keys.ts"
export { keepFiles, namedFiles, type RequestFile } from "./server/files/uploads.ts"

// Runs: send a message and watch its run, watch it again, or continue it with results of client tools.
export { framesOfRun, sayAndWatch, watchOn, watchRepeated, watchRun, watchWhile } from "./server/stream/send-message.ts"
export { bringResults, handedCalls } from "./server/stream/client-results.ts"
export { isOpen, newestRun, type NewestRun } from "./server/stream/journal-runs.ts"
export { whenIdleAnywhere } from "./engine/runtime/idle-anywhere.ts"

// Decisions about proposals.
export {
  concerns,
  conflict,
  decideAndWait,
  edit,
  refuseOffline,
  reject,
  resolveDoubt,
} from "./server/conversation/decide.ts"
export { waitForEvent } from "./server/conversation/wait-for-event.ts"

// Frames: a run as it happens, or as the journal has it, and how frames become an answer.
export { type AnyFrame, PendingCalls } from "./server/stream/frame-maker.ts"
export {
  type FrameSource,
  pulseOf,
  STREAM_HEADERS,
  toTextStream,
  type Translation,
} from "./server/stream/event-stream.ts"
export { openFor, subscribe } from "./server/stream/open-stream.ts"
export { isEnd } from "./server/stream/subscription.ts"
export { RunFrames } from "./server/stream/send-message.ts"
export {
  FollowedPauses,
  type JournalRow,
  readToldRuns,
  type RunRange,
  runRows,
  toldRows,
  toldSource,
  withFirst,
} from "./server/stream/journal-runs.ts"
export { ANSWER } from "./engine/definition/stages.ts"
export { isKnown } from "./engine/replay/replay.ts"
export { isServerRun } from "./engine/conversation.ts"
