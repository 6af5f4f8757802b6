import type { Context } from "hono"
import { AgUiEvents, type EventsHead } from "./events.ts"
import {
  type AgUiMessage,
  type AgUiRequest,
  type Env,
  fixedSource,
  newestRun,
  readRecordedRuns,
  type ServerPorts,
  watchRun,
} from "../../core/adapter.ts"
import type { ConversationId, Frame, UnknownFrame } from "../../core/protocol/index.ts"
import { streamEvents, withState } from "./run-stream.ts"
import { findThread } from "./thread.ts"
import { reasoningFirst } from "../reasoning-first.ts"

/**
 * Streams a thread as it is now: previous messages as a snapshot, then the newest run from its beginning. Sends and decides
 * nothing.
 */
export async function connectThread(c: Context<Env>, ports: ServerPorts, body: AgUiRequest): Promise<Response> {
  ports.streams.admit(c.get("caller"))
  const { id, found } = await findThread(c, ports, body.threadId)
  const run = found && (await newestRun(ports, id))
  const { threadId, runId, state } = body
  const head: EventsHead = {
    ...{ threadId, runId, conversation: id, state, isReset: false, messages: [], open: [], late: [] },
  }
  if (!found || !run) {
    const source = fixedSource([{ id: "0", type: "done", data: { status: "completed" } }])
    return streamEvents(c, ports, { id, source, events: new AgUiEvents(head) })
  }
  const { start } = run
  const before = await readRecordedRuns(ports, { id, position: start - 1 })
  const messages = before.runs.flatMap((frames) => recordedMessages(id, frames))
  const source = await watchRun(ports, { id, start, position: found.position })
  const events = new AgUiEvents({ ...head, messages, isReset: true })
  return streamEvents(c, ports, { id, source: withState(ports, id, source), events })
}

/** A finished run as the messages that its events would have created. */
function recordedMessages(conversation: ConversationId, frames: readonly UnknownFrame[]): readonly AgUiMessage[] {
  const [first] = frames as readonly Frame[]
  if (first?.type === "run_started" && first.data.compacts) return []
  const events = new AgUiEvents({
    ...{ threadId: "", runId: "", conversation, state: undefined, isReset: false, messages: [], open: [], late: [] },
  })
  for (const frame of reasoningFirst(frames)) events.translate(frame)
  return events.messages
}
