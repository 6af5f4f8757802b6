/** For tests of agents and tools: a model that plays prepared replies and refuses what no provider would take. */
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
  BesidePart,
  ThinkingPart,
} from "./agent/model.ts"
export type { ReplySettings } from "./protocol/conversation/reply-settings.ts"
export type { ReplyFinish } from "./protocol/conversation/message.ts"
export {
  breaksOff,
  type CallInput,
  calls,
  type Failing,
  fails,
  finishes,
  hangs,
  replies,
  type Saying,
  type Script,
  type ScriptEnd,
  says,
  thinks,
  waits,
} from "./models/scripted/script.ts"
export type { CallId, FileId, MessageId } from "./protocol/ids.ts"
export { always, ReceivedRequest, ScriptedModel, type ScriptedReply, scripted } from "./models/scripted/model.ts"
export { checkRequest } from "./models/scripted/check-request.ts"
