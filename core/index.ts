import "./require-node.ts"
/** The API for programs that embed Pawl. It exports every type that appears in a signature, and nothing else. */
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
  StatusPart,
} from "./engine/model.ts"
export type { Clock } from "./shared/time/clock.ts"
export type { Log } from "./shared/log.ts"
export { type ValidationResult, type ValidationIssue, type Schema, withJsonSchema } from "./engine/definition/schema.ts"
export {
  type AgentTool,
  agentTool,
  type AgentToolOptions,
  handoff,
  type HandoffOptions,
  type HandoffTool,
} from "./api/agent-tool.ts"
export type { SubAgentResult } from "./api/sub-agents.ts"
export { type Agent, defineAgent, type GroundContext } from "./api/agent.ts"
export type { Answer, Answered, Cancelled, Failed, Undecided } from "./api/answer.ts"
export type { Audit, AuditEntry, Grant, Grants } from "./api/audit.ts"
export type { AskOptions } from "./api/ask.ts"
export type { AGUINames, RunEvents } from "./api/run-response.ts"
export type { PartialAnswer, PartialValue } from "./api/partial-answer.ts"
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
export type { Files, NewFile, StoredFile } from "./api/files.ts"
export { askTool, type AskToolOptions } from "./api/ask-tool.ts"
export type { Question, QuestionRef, Questions } from "./api/questions.ts"
export type { QuestionForUser, UserReply } from "./api/ask-user.ts"
export type { HttpOptions, ListeningServer, ListenOptions } from "./api/serve.ts"
export type { McpDefinition, McpHttpServer, McpProgram, McpServerOptions, McpServers, McpTool } from "./api/mcp.ts"
export type { NewToken, People, TokenOptions, TokenRecord, Tokens, UserRecord } from "./api/people.ts"
export { failure } from "./api/tool.ts"
export { type Limits, openPawl, type Pawl, type PawlOptions } from "./api/open-pawl.ts"
export { definePack, type OpenedPack, type Pack } from "./api/agent.ts"
export type { Person } from "./api/person.ts"
export type { ProposalFilter, Proposals } from "./api/proposals.ts"
export type { Conversation, Message, Page, PawlEvent, Proposal, Usage } from "./api/parts.ts"
export type { StoreSettings } from "./api/store-settings.ts"
export type { Traces } from "./api/open-pawl.ts"
export {
  type AnswerExtra,
  type AskableWriteTool,
  answer,
  type CallContext,
  defineTool,
  failed,
  type Preview,
  type ReadTool,
  type SiblingCall,
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
  QuestionId,
  RunId,
  TokenId,
  UserId,
} from "./protocol/ids.ts"
export type { Web, WebAnswer, WebRequest } from "./engine/pack-services.ts"
export type { Embedder } from "./protocol/workspace.ts"
export type { Method } from "./protocol/routes/route.ts"
export { defineRoute, type PackRequest, type PackRoute } from "./engine/pack-services.ts"
export type {
  PackMigration,
  PackStatement,
  PackTable,
  PackTables,
  PackValue,
  PersonalPackTable,
  SharedPackTable,
} from "./engine/pack-services.ts"
