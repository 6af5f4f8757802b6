/** What benches measure lies below what is published: the engine, with its journal and its runtime in reach. */
export { type Agent, defineAgent } from "../src/agent/definition/agent.ts"
export type { Conversation } from "../src/agent/conversation.ts"
export type { Model, ModelRequest, ReplyPart } from "../src/agent/model.ts"
export { answer, defineTool, type Tool } from "../src/agent/definition/tool.ts"
export { openEngine, type OpenedEngine } from "../src/compose/open-engine.ts"
export { newId } from "../src/protocol/ids.ts"
