/** What a program that embeds Pawl imports. */
export { type Agent, type AgentDefinition, defineAgent } from "./agent/agent.ts"
export { type Clock, systemClock } from "./agent/clock.ts"
export type { Conversation } from "./agent/conversation.ts"
export type { Model, ModelRequest, ReplyPart } from "./agent/model.ts"
export type { Live } from "./agent/ports.ts"
export { replay } from "./agent/replay.ts"
export type { Runtime } from "./agent/runtime/runtime.ts"
export { withJsonSchema } from "./agent/schema.ts"
export { type Answer, answer, type CallContext, defineTool, failed, type Preview, type Tool } from "./agent/tool.ts"
export {
  definePack,
  type OpenedPack,
  type Pack,
  type PackNeeds,
  type PackServices,
} from "./packs/pack.ts"
export { openPawl, type Pawl, type PawlOptions } from "./main.ts"
export { AppError, codeOf, failure, hasCode } from "./protocol/errors.ts"
export { newId } from "./protocol/ids.ts"
export { defineRoute, type PackRequest, type PackRoute } from "./protocol/ports/pack-routes.ts"
export type { PackMigration, PackStatement, PackTable, PackTables } from "./protocol/ports/pack-tables.ts"
export { openStore, type Store, type StoreOptions } from "./store/store.ts"
