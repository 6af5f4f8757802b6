/** Benchmarks also measure internals that are not published: the engine with its journal and its runtime. */
export { type Agent, defineAgent } from "../core/engine/definition/agent.ts"
export type { Conversation } from "../core/engine/conversation.ts"
export type { Model, ModelRequest, ReplyPart } from "../core/engine/model.ts"
export { answer, defineTool, type Tool } from "../core/engine/definition/tool.ts"
export { openEngine, type OpenedEngine } from "../core/compose/open-engine.ts"
export { newId } from "../core/protocol/ids.ts"
