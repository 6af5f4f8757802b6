import { canonicalJson } from "../../shared/text/json.ts"
import type { NewEvent } from "../../protocol/events.ts"
import { withTimeLimit } from "../../shared/concurrency/time-limit.ts"
import { JOINED_TOOLS, type JoinedTool } from "../definition/joined-tools.ts"
import type { Work } from "../record.ts"

/** A server that takes longer to list its tools is left out of this run. */
const SECONDS = 15

/**
 * Returns the event to record before the model is asked: the MCP tools of this run, if they changed. Once a run, before
 * its first call; from then on its tools stay the same.
 */
export async function joinTools(work: Work): Promise<NewEvent | undefined> {
  const { conversation, agent, ports, signal } = work
  const { run, joined, user, id } = conversation
  if (!ports.joining || !run || run.hasJoined || run.iteration > 0) return undefined
  const { joining, clock, log } = ports
  if (joining.isNone && joined.length === 0) return undefined
  const ended = await withTimeLimit<readonly JoinedTool[] | undefined>(
    { clock, seconds: SECONDS, signal, graceMs: 0 },
    (inner) => joining.toolsFor({ user, conversation: id, agent: agent.name, signal: inner() }),
  )
  if (ended.type === "threw") log.warn("join_tools_failed", { conversation: id, error: ended.error })
  if (ended.type === "timed_out" || ended.type === "stopped") ended.rest.catch(() => {}) // too late for this run
  if (ended.type !== "returned" || !ended.value || isSame(ended.value, joined)) return undefined
  return { type: "step", step: JOINED_TOOLS, detail: { tools: ended.value } }
}

const isSame = (one: readonly JoinedTool[], other: readonly JoinedTool[]): boolean =>
  one.length === other.length && canonicalJson(one) === canonicalJson(other)
