import type { Context } from "hono"
import { AgUiEvents, type EventsHead } from "./events.ts"
import type { AgUiRequest, AgUiMessage } from "../../core/protocol/dialects/ag-ui.ts"
import { type Env, newestRun, type ServerPorts, toldSource, readToldRuns, watchRun } from "../../core/adapter.ts"
import { streamEvents, withState } from "./run-stream.ts"
import { findThread } from "./thread.ts"
import type { Frame, UnknownFrame } from "../../core/protocol/frames.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { thoughtsFirst } from "../thoughts-first.ts"

/**
 * A thread as it stands, for whoever opens it: what was said before as a snapshot, then its newest run from its beginning to
 * its end or to what it waits for, also while it is at work. Nothing is said or decided by it.
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
    const source = toldSource([{ id: "0", type: "done", data: { status: "completed" } }])
    return streamEvents(c, ports, { id, source, events: new AgUiEvents(head) })
  }
  const { start } = run
  const before = await readToldRuns(ports, { id, position: start - 1 })
  const messages = before.runs.flatMap((frames) => toldMessages(id, frames))
  const source = await watchRun(ports, { id, start, position: found.position })
  const events = new AgUiEvents({ ...head, messages, isReset: true })
  return streamEvents(c, ports, { id, source: withState(ports, id, source), events })
}

/** A run that is over as the messages that a frontend shows of it: those that its events would have made. */
export function toldMessages(conversation: ConversationId, frames: readonly UnknownFrame[]): readonly AgUiMessage[] {
  const [first] = frames as readonly Frame[]
  if (first?.type === "run_started" && first.data.compacts) return []
  const events = new AgUiEvents({
    ...{ threadId: "", runId: "", conversation, state: undefined, isReset: false, messages: [], open: [], late: [] },
  })
  for (const frame of thoughtsFirst(frames)) events.translate(frame)
  return events.messages
}
