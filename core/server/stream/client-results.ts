import { recordedResult } from "../../engine/calls/client-tools.ts"
import type { ClientResult } from "../../engine/input.ts"
import { isKnown } from "../../engine/replay/replay.ts"
import { failure, hasCode } from "../../protocol/errors.ts"
import type { EventOf, JournalEvent } from "../../protocol/events.ts"
import type { UnknownFrame } from "../../protocol/frames.ts"
import type { CallId, ConversationId, RunId, UserId } from "../../protocol/ids.ts"
import { conversationOf } from "../conversation/find.ts"
import { waitForEvent } from "../conversation/wait-for-event.ts"
import type { FrameSource } from "./event-stream.ts"
import { PendingCalls } from "./frame-maker.ts"
import type { StreamPorts } from "../conversation/ports.ts"
import { runRows, withFirst } from "./journal-runs.ts"
import { watchOn } from "./send-message.ts"

export interface BroughtResults {
  readonly user: UserId
  readonly id: ConversationId
  readonly results: readonly ClientResult[]
}

/** A run that goes on with results, and where it does. */
export interface GoneOn {
  readonly frames: FrameSource
  readonly part: number
}

/** How the calls of the newest run stand that were handed over to a program. */
export interface HandedCalls {
  readonly runId: RunId | undefined
  readonly ended: ReadonlyMap<CallId, EventOf<"tool_end">>
  /** Those without a result, as frames that tell of them. */
  readonly waiting: ReadonlyMap<CallId, UnknownFrame>
}

export async function handedCalls(ports: StreamPorts, user: UserId, id: ConversationId): Promise<HandedCalls> {
  const { position } = await conversationOf(ports, user, id)
  const start = await ports.conversations.runStart(id, position)
  const calls = new PendingCalls()
  const ended = new Map<CallId, EventOf<"tool_end">>()
  const waiting = new Map<CallId, UnknownFrame>()
  let runId: RunId | undefined
  const see = (event: JournalEvent) => {
    if (event.type === "run_started") runId = event.runId
    calls.see(event)
    if (event.type === "handed_over") {
      const { name = "", input = {} } = calls.part(event.callId) ?? {}
      const at = new Date(event.at).toISOString()
      const data = { callId: event.callId, name, input, expiresAt: new Date(event.expiresAt).toISOString(), at }
      waiting.set(event.callId, { id: String(event.position), type: event.type, data })
    }
    if (event.type === "tool_end" && waiting.delete(event.callId)) ended.set(event.callId, event)
  }
  for await (const rows of runRows(ports, { id, start, position })) for (const row of rows) if (isKnown(row)) see(row)
  return { runId, ended, waiting }
}

/**
 * Puts the results of a program on record, and gives the run as it goes on from there, with what it still waits for told
 * first. The same results sent again, because the answer was lost, are that run again; others come too late.
 */
export async function bringResults(ports: StreamPorts, brought: BroughtResults): Promise<GoneOn> {
  const { user, id, results } = brought
  const before = await handedCalls(ports, user, id)
  const fresh = results.filter((result) => !isRepeated(before, result))
  if (fresh.length > 0) await record(ports, { ...brought, results: fresh })
  const { runId, waiting, ended } = await handedCalls(ports, user, id)
  const { position } = await conversationOf(ports, user, id)
  const ours = new Set(results.map(({ callId }) => callId))
  const isFirst = (event: JournalEvent) => event.type === "tool_end" && ours.has(event.callId)
  const frames = await watchOn(ports, { id, position, isFirst })
  const started = { id: "0", type: "run_started", data: { runId } }
  const part = ended.get(results[0]?.callId as CallId)?.position ?? position
  return { part, frames: withFirst([started, ...waiting.values()], frames) }
}

function isRepeated({ ended }: HandedCalls, { callId, text }: ClientResult): boolean {
  const end = ended.get(callId)
  if (end && end.text !== recordedResult(text)) throw failure("call_settled", { id: callId })
  return end !== undefined
}

/** Of two programs that bring the same result, one is first, and the other is told what came of it. */
async function record(ports: StreamPorts, { user, id, results }: BroughtResults): Promise<void> {
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
    const settled = await handedCalls(ports, user, id)
    const left = results.filter((result) => !isRepeated(settled, result))
    if (left.length === results.length) throw error
    if (left.length > 0) await record(ports, { user, id, results: left })
    return
  }
  await watching.over()
  const after = await handedCalls(ports, user, id)
  for (const result of results) if (!isRepeated(after, result)) throw failure("call_settled", { id: result.callId })
}
