/** For tests of agents and tools: a model that plays prepared replies and refuses what no provider would take. */
export { breaksOff, calls, fails, finishes, hangs, replies, says, thinks, waits } from "./models/scripted/script.ts"
export { always, ReceivedRequest, ScriptedModel, type ScriptedReply, scripted } from "./models/scripted/model.ts"
export { checkRequest } from "./models/scripted/check-request.ts"
