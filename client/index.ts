/** A client for browsers and Node: API calls, streams that reconnect, and the data to display a conversation. */
export { hasCode } from "../core/protocol/errors.ts"
export type { FeedFrame, FeedFrameType, Frame, FrameType, UnknownFrame } from "../core/protocol/frames.ts"
export { type CallOptions, type Calls, newKey } from "./calls.ts"
export { type Client, createClient } from "./client.ts"
export { ClientError } from "./client-error.ts"
export type { ClientClock } from "./clock.ts"
export { type FollowOptions, canRetry, type StreamState } from "./stream/follow.ts"
export type { ConnectionState } from "./socket/shared-socket.ts"
export { fromDetail, withDetail } from "./transcript/from-detail.ts"
export { escapeHidden, type TextPiece, piecesOf } from "../core/shared/text/hidden-characters.ts"
export { BACKSLASH_SIGN, FORMULA_SIGN, type Formula, formulaIndex, protectMath, withFormulas } from "./protect-math.ts"
export { formatSql } from "./format-sql.ts"
export { MAX_READING_COST, readingCost } from "./reading-cost.ts"
export { isFrame } from "./is-frame.ts"
export { onPageReturn } from "./socket/shared-socket.ts"
export { type PageRequest, readPages } from "./read-pages.ts"
export { reduce } from "./reduce.ts"
export { emptyFeed, type FeedList, reduceFeed, withConversations, withoutConversation } from "./reduce.ts"
export {
  withTableRequested,
  emptyWorkspace,
  outdated,
  reduceWorkspace,
  withEdit,
  withRows,
  type WorkspaceRows,
  type WorkspaceTable,
  type WorkspaceView,
} from "./reduce-workspace.ts"
export {
  type SharedConnection,
  createSocketClient,
  type SocketClient,
  type SocketClientOptions,
} from "./socket/over-socket.ts"
export type { TimelineEntry, TimelineKind } from "./timeline/following.ts"
export { type RunTimeline, toTimeline } from "./timeline/timeline.ts"
export { describeTotals, formatUsage } from "./timeline/totals.ts"
export type { Totals } from "./timeline/totals.ts"
export { EventParser, type StreamEvent } from "./stream/sse-parser.ts"
export type { RunOptions, ClientStreams, WatchOptions } from "./stream/streams.ts"
export * from "./transcript/transcript.ts"
export type { ClientOptions } from "./transport.ts"
export { olderThan, withOlderMessages } from "./transcript/from-detail.ts"
export {
  describeAnswerProblems,
  CITATION_PROBLEMS,
  citationLegend,
  citationsOf,
  describeCitation,
  sourceNumber,
  describeUnmarked,
} from "./transcript/citation-text.ts"
export { formatContextUse, describeContext } from "./transcript/context-meter.ts"
export { callLabels, describeProposal } from "./transcript/shown-calls.ts"
export {
  describeAsker,
  openQuestions,
  describePart,
  describeQuestionStep,
  toContent,
} from "./transcript/open-questions.ts"
export { describeClientWait } from "./transcript/shown-calls.ts"
export { lastThought, formatThinking, formatThought } from "./transcript/reply-text.ts"
export { describeEndpoints, modelFacts, describeFactSources } from "./model-text.ts"
export {
  describeEnding,
  describeSummary,
  CONTINUE_TEXT,
  isCutShort,
  summaryLists,
  describeLeftOut,
  describeNotice,
  describeWaiting,
} from "./transcript/reply-text.ts"
export {
  formatEstimate,
  describeAlways,
  capitalized,
  count,
  dollars,
  duration,
  grantName,
  humanName,
  formatTimeLeft,
} from "./format.ts"
export { titleOf } from "../core/protocol/conversation/message.ts"
