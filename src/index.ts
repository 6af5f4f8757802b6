/** What a program that embeds Pawl imports. Every type that stands in a signature is here, and nothing else is. */
export type {
  AssistantTurn,
  CallResult,
  HistoryMessage,
  Model,
  ModelRequest,
  Price,
  ReplyPart,
  ShownFile,
  ToolDeclaration,
  ToolTurn,
  NamedFiles,
  TurnFiles,
  UserTurn,
  WaitingPart,
  LeftOutPart,
  ThinkingPart,
  BesidePart,
} from "./agent/model.ts"
export type { Clock } from "./agent/clock.ts"
export type { Phrase, ToolPhrases } from "./agent/definition/phrases.ts"
export type { Log } from "./agent/ports.ts"
export { type Checked, type Issue, type Schema, withJsonSchema } from "./agent/definition/schema.ts"
export { type Agent, defineAgent, type GroundContext } from "./api/agent.ts"
export type { Answer, Answered, Cancelled, Failed, Undecided } from "./api/answer.ts"
export type { AskOptions } from "./api/ask.ts"
export type { ConversationChange, Conversations, EventOptions, MessagePage, PageOptions } from "./api/conversations.ts"
export {
  type LanguageModel,
  type LanguageModelFacts,
  type LocalAccess,
  type Models,
  type ProviderAccess,
  type ProviderSettings,
  toModel,
} from "./api/models.ts"
export type { ListeningServer, ListenOptions } from "./api/listen.ts"
export { failure } from "./api/failure.ts"
export { type Limits, openPawl, type Pawl, type PawlOptions } from "./api/open-pawl.ts"
export { definePack, type OpenedPack, type Pack } from "./api/pack.ts"
export type { Person } from "./api/person.ts"
export type { ProposalFilter, Proposals } from "./api/proposals.ts"
export type { Conversation, Message, Page, PawlEvent, Proposal, Usage } from "./api/read-only.ts"
export type { StoreSettings } from "./api/store.ts"
export type { Traces } from "./api/traces.ts"
export {
  type AnswerExtra,
  type AskableWriteTool,
  answer,
  type CallContext,
  defineTool,
  failed,
  type Preview,
  type ReadTool,
  type Tool,
  type ToolAnswer,
  type ToolOutcome,
  type WriteTool,
} from "./api/tool.ts"
export type { PackNeeds, PackServices } from "./packs/pack.ts"
export type { ReplySettings, ReplySettingsPatch } from "./protocol/conversation/reply-settings.ts"
export type { ReplyFinish } from "./protocol/conversation/message.ts"
export { AppError, hasCode } from "./protocol/errors.ts"
export type {
  AuditId,
  CallId,
  ConnectionId,
  FileId,
  ConversationId,
  MessageId,
  ProposalId,
  RunId,
  UserId,
} from "./protocol/ids.ts"
export type { Web, WebAnswer, WebRequest } from "./protocol/ports/web.ts"
export type { Embedder } from "./protocol/ports/workspace.ts"
export type { Method } from "./protocol/routes/route.ts"
export { defineRoute, type PackRequest, type PackRoute } from "./protocol/ports/pack-routes.ts"
export type {
  PackMigration,
  PackStatement,
  PackTable,
  PackTables,
  PackValue,
  PersonalPackTable,
  SharedPackTable,
} from "./protocol/ports/pack-tables.ts"
