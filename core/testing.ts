/**
 * For tests of agents and tools: a model that plays scripted replies and rejects requests that a provider would reject.
 */
export type {
  AssistantTurn,
  CallResult,
  HistoryMessage,
  ModelRequest,
  ReplyPart,
  ShownFile,
  ToolDeclaration,
  ToolTurn,
  NamedFiles,
  TurnFiles,
  UserTurn,
  WaitingPart,
  LeftOutPart,
  StatusPart,
  ThinkingPart,
} from "./engine/model.ts"
export type { ReplySettings } from "./protocol/conversation/reply-settings.ts"
export type { ReplyFinish } from "./protocol/conversation/message.ts"
export {
  breaksOff,
  type CallInput,
  calls,
  type ScriptedFailureOptions,
  fails,
  finishes,
  givesValue,
  hangs,
  replies,
  type ScriptedTextOptions,
  type Script,
  type ScriptEnd,
  says,
  thinks,
  waits,
} from "./models/scripted/script.ts"
export type { CallId, FileId, MessageId } from "./protocol/ids.ts"
export {
  always,
  byAgent,
  byTurn,
  ReceivedRequest,
  ScriptedModel,
  type ScriptedReply,
  scripted,
} from "./models/scripted/model.ts"
export { checkRequest } from "./models/scripted/check-request.ts"
export type { StoreSettings } from "./api/store-settings.ts"
export { type CrashingStore, type CrashPoint, crashingStore } from "./testing/crashing-store.ts"
export { EffectLog, effectLog, type RecordedEffect } from "./testing/effect-log.ts"
export { TestClock, testClock } from "./testing/test-clock.ts"
