import { recordedResult } from "../../engine/calls/client-tools.ts"
import type { ClientResult } from "../../engine/input.ts"
import { isKnown } from "../../engine/replay/replay.ts"
import { failure, hasCode } from "../../protocol/errors.ts"
import type { EventOf, JournalEvent } from "../../protocol/events.ts"
import type { UnknownFrame } from "../../protocol/frames.ts"
import type { CallId, ConversationId, RunId, UserId } from "../../protocol/ids.ts"
import { conversationOf } from "../conversation/find.ts"
import { waitForEvent } from "../conversation/wait-for-event.ts"
import type { FrameSource } from "./frame-source.ts"
import { PendingCalls } from "./frame-maker.ts"
import type { StreamPorts } from "../conversation/ports.ts"
import { runRows, prependFrames } from "./journal-runs.ts"
import { watchFrom } from "./send-message.ts"

interface SentResults {
  readonly user: UserId
  readonly id: ConversationId
  readonly results: readonly ClientResult[]
}

/** The frames of a run that continues with results, and the position of its first result. */
interface ContinuedRun {
  readonly frames: FrameSource
  readonly part: number
}

/** The calls of the newest run that were delegated to the client. */
interface DelegatedCalls {
  readonly runId: RunId | undefined
  readonly ended: ReadonlyMap<CallId, EventOf<"tool_end">>
  /** Those without a result, as frames. */
  readonly waiting: ReadonlyMap<CallId, UnknownFrame>
}

export async function readDelegatedCalls(
  ports: StreamPorts,
  user: UserId,
  id: ConversationId,
): Promise<DelegatedCalls> {
  const { position } = await conversationOf(ports, user, id)
  const start = await ports.conversations.runStart(id, position)
  const calls = new PendingCalls()
  const ended = new Map<CallId, EventOf<"tool_end">>()
  const waiting = new Map<CallId, UnknownFrame>()
  let runId: RunId | undefined
  const apply = (event: JournalEvent) => {
    if (event.type === "run_started") runId = event.runId
    calls.add(event)
    if (event.type === "handed_over") {
      const { name = "", input = {} } = calls.part(event.callId) ?? {}
      const at = new Date(event.at).toISOString()
      const data = { callId: event.callId, name, input, expiresAt: new Date(event.expiresAt).toISOString(), at }
      waiting.set(event.callId, { id: String(event.position), type: event.type, data })
    }
    if (event.type === "tool_end" && waiting.delete(event.callId)) ended.set(event.callId, event)
  }
  for await (const rows of runRows(ports, { id, start, position })) for (const row of rows) if (isKnown(row)) apply(row)
  return { runId, ended, waiting }
}

/**
 * Records the client's results and returns the continued run, beginning with the calls that still wait. Repeating the same
 * results returns the same run; different results for a settled call throw `call_settled`.
 */
export async function sendResults(ports: StreamPorts, sent: SentResults): Promise<ContinuedRun> {
  const { user, id, results } = sent
  const before = await readDelegatedCalls(ports, user, id)
  const fresh = results.filter((result) => !isRepeated(before, result))
  if (fresh.length > 0) await record(ports, { ...sent, results: fresh })
  const { runId, waiting, ended } = await readDelegatedCalls(ports, user, id)
  const { position } = await conversationOf(ports, user, id)
  const ours = new Set(results.map(({ callId }) => callId))
  const isFirst = (event: JournalEvent) => event.type === "tool_end" && ours.has(event.callId)
  const frames = await watchFrom(ports, { id, position, isFirst })
  const started = { id: "0", type: "run_started", data: { runId } }
  const part = ended.get(results[0]?.callId as CallId)?.position ?? position
  return { part, frames: prependFrames([started, ...waiting.values()], frames) }
}

function isRepeated({ ended }: DelegatedCalls, { callId, text }: ClientResult): boolean {
  const end = ended.get(callId)
  if (end && end.text !== recordedResult(text)) throw failure("call_settled", { id: callId })
  return end !== undefined
}

/** If two clients send the same result concurrently, one is recorded and the other gets its outcome. */
async function record(ports: StreamPorts, { user, id, results }: SentResults): Promise<void> {
  const open = new Set(results.map(({ callId }) => callId))
  const happens = (event: JournalEvent) => {
    if (event.type === "tool_end") open.delete(event.callId)
    return open.size === 0
  }
  const conversation = await conversationOf(ports, user, id)
  using watching = waitForEvent(ports, conversation, happens)
  try {
    await ports.runtime.submit(id, { type: "client_results", results, by: user })
  } catch (error) {
    if (!hasCode(error, "call_settled")) throw error
    const settled = await readDelegatedCalls(ports, user, id)
    const left = results.filter((result) => !isRepeated(settled, result))
    if (left.length === results.length) throw error
    if (left.length > 0) await record(ports, { user, id, results: left })
    return
  }
  await watching.over()
  const after = await readDelegatedCalls(ports, user, id)
  for (const result of results) if (!isRepeated(after, result)) throw failure("call_settled", { id: result.callId })
}
