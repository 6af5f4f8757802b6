/** Pawl from a browser or from Node: calls, streams that survive their connections, and what a person is shown of them. */
export { hasCode } from "../protocol/errors.ts"
export type { FeedFrame, FeedFrameType, Frame, FrameType, UnknownFrame } from "../protocol/frames.ts"
export { type CallOptions, type Calls, newKey } from "./calls.ts"
export { type Client, createClient } from "./client.ts"
export { ClientError } from "./client-error.ts"
export type { ClientClock } from "./clock.ts"
export { type FollowOptions, mayPass, type StreamState } from "./stream/follow.ts"
export type { ConnectionState } from "./socket/shared-socket.ts"
export { fromDetail, withDetail } from "./transcript/from-detail.ts"
export { escapeHidden, type Piece, piecesOf } from "../protocol/text/hidden-characters.ts"
export { BACKSLASH_SIGN, FORMULA_SIGN, type Formula, formulaIndex, protectMath, withFormulas } from "./protect-math.ts"
export { formatSql } from "./format-sql.ts"
export { MAX_READING_COST, readingCost } from "./reading-cost.ts"
export { isFrame } from "./is-frame.ts"
export { onPageReturn } from "./socket/on-page-return.ts"
export { reduce } from "./reduce.ts"
export { emptyFeed, type FeedList, reduceFeed, withConversations, withoutConversation } from "./reduce-feed.ts"
export {
  withTableAsked,
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
} from "./socket-client.ts"
export type { TimelineEntry, TimelineKind } from "./timeline/entry.ts"
export { type RunTimeline, toTimeline } from "./timeline/timeline.ts"
export { totalWords, usedWords } from "./timeline/total-words.ts"
export type { Totals } from "./timeline/totals.ts"
export { EventParser, type StreamEvent } from "./stream/sse-parser.ts"
export type { RunOptions, ClientStreams, WatchOptions } from "./stream/streams.ts"
export * from "./transcript/transcript.ts"
export type { ClientOptions } from "./transport.ts"
export { olderThan, withOlderMessages } from "./transcript/with-older-messages.ts"
export { withWhole } from "./transcript/with-whole.ts"
export {
  answerWords,
  CITATION_PROBLEMS,
  citationLegend,
  citationsOf,
  citationWords,
  sourceNumber,
  unmarkedWords,
} from "./transcript/citation-words.ts"
export { fullnessWords, meterWords } from "./transcript/context-meter.ts"
export { callWords, proposalWords } from "./transcript/outcome-words.ts"
export { askerWords, openQuestions, questionWords, toContent } from "./transcript/open-questions.ts"
export { programWords } from "./transcript/program-words.ts"
export { lastThought, thinkingWords, thoughtWords } from "./transcript/thought-words.ts"
export { endpointWords, modelFacts, sourceWords } from "./model-words.ts"
export {
  endingWords,
  gaveWayWords,
  GO_ON,
  isCutShort,
  keptLists,
  leftOutWords,
  noticeWords,
  waitingWords,
} from "./transcript/reply-words.ts"
export { aboutTime, capitalized, count, dollars, duration, humanName } from "./words.ts"
export { titleOf } from "../protocol/conversation/title.ts"
