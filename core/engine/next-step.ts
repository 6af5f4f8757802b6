import { failure } from "../protocol/errors.ts"
import type { PauseReason } from "../protocol/conversation/conversation.ts"
import type { Agent } from "./definition/agent.ts"
import { type Call, type Conversation, isServerRun, pauseReason, type RunState } from "./conversation.ts"
import { pendingInput } from "./inbox.ts"
import { lacksTools } from "./declared-tools.ts"
import { mustAnswer } from "./definition/stages.ts"
import { needsProposal } from "./gate/policy.ts"

export type NextStep =
  | { readonly type: "take-inbox" }
  | { readonly type: "recover-calls" }
  | { readonly type: "run-tools" }
  | { readonly type: "propose" }
  | { readonly type: "guardrail" }
  | { readonly type: "route" }
  | { readonly type: "grade" }
  | { readonly type: "compact" }
  | { readonly type: "ask-model"; readonly toolChoice: "auto" | "none" }
  | { readonly type: "end-run"; readonly reason: "undo" | "again" }
  | { readonly type: "give-up"; readonly reason: "set_aside" | "run_timeout" }
  | IdleStep

/** No work is left until there is input. */
export type IdleStep = { readonly type: "pause"; readonly reason: PauseReason } | { readonly type: "finish" }

export interface Limits {
  /** How long a run may work, without waiting for people. */
  readonly runSeconds: number
  /** The name of the setting with that limit, for messages. Default: `PAWL_RUN_SECONDS`. */
  readonly runSetting?: string
  /** How often the same step may end the process before its run is stopped, and how often a reply may fail. */
  readonly restarts: number
  /** The most characters of a reply: text, thinking and arguments together. */
  readonly replyCharacters: number
}

/** The error of a run that exceeded its time limit. */
export const runTimeout = ({ runSeconds, runSetting }: Limits) =>
  failure("run_timeout", { seconds: runSeconds, setting: runSetting ?? RUN_SETTING })

export const RUN_SETTING = "PAWL_RUN_SECONDS"

/** The end of a run that exceeded its time limit is recorded within this time. */
const TO_RECORD_MS = 60_000

/**
 * How long a run has worked. A run is stopped at its time limit, so a longer time was not spent working: the clock was
 * set, another node's clock is ahead, or the machine slept.
 */
export function countedWorkMs({ runSeconds }: Pick<Limits, "runSeconds">, run: RunState | undefined): number {
  const longest = runSeconds * 1000 + TO_RECORD_MS
  return (run?.longGapsMs ?? []).reduce((worked, gap) => (gap > longest ? worked - gap : worked), run?.workedMs ?? 0)
}

/** Returns the next step of a conversation. Pure, so every rule of the loop is one row of a table test. */
export function nextStep(conversation: Conversation, agent: Agent, limits: Omit<Limits, "replyCharacters">): NextStep {
  const { run, calls } = conversation
  if (conversation.hasUnknownEvents) return { type: "finish" }
  if (run?.status !== "running")
    return pendingInput(conversation).length > 0 ? { type: "take-inbox" } : { type: "finish" }
  if (run.blamed && run.blames >= limits.restarts) return { type: "give-up", reason: "set_aside" }
  // If a call started and did not end, its writer failed. Determine its outcome first.
  if (calls.some((call) => call.state === "started")) return { type: "recover-calls" }
  if (pendingInput(conversation).length > 0) return { type: "take-inbox" }
  // After its time limit a run starts nothing itself. What a person decided is still executed.
  const timeIsUp = countedWorkMs(limits, run) >= limits.runSeconds * 1000
  const isNew = (call: Call) => call.state === "new" && !timeIsUp
  if (
    calls.some(
      (call) => call.state === "approved" || (isNew(call) && !needsProposal(conversation, agent.tools.find(call.name))),
    )
  )
    return { type: "run-tools" }
  if (calls.some((call) => call.state === "edited" || isNew(call))) return { type: "propose" }
  const reason = pauseReason(conversation)
  if (reason) return { type: "pause", reason }
  // An undo or repeated proposal ends with its call, because no model reply follows.
  if (isServerRun(run) && !run.compacts && calls.every((call) => call.state === "ended"))
    return { type: "end-run", reason: run.undoes ? "undo" : "again" }
  if (timeIsUp) return { type: "give-up", reason: "run_timeout" }
  if (run.compacts) return { type: "compact" }
  const { stages } = agent
  if (stages?.guardrail && conversation.stages.pending) return { type: "guardrail" }
  if (agent.route && (conversation.routing.pending || lacksTools(conversation, agent))) return { type: "route" }
  if (stages?.grading && conversation.stages.gradingPending) return { type: "grade" }
  if (conversation.compaction.due) return { type: "compact" }
  const mayCall = run.iteration < run.maxIterations && !(stages && mustAnswer(conversation.stages, stages))
  return { type: "ask-model", toolChoice: mayCall ? "auto" : "none" }
}

export function isIdle(step: NextStep): step is IdleStep {
  return step.type === "pause" || step.type === "finish"
}
