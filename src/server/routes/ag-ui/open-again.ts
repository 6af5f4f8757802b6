import type { Context } from "hono"
import { AgUiEvents, type EventsHead } from "../../../dialects/ag-ui/events.ts"
import { toldMessages } from "../../../dialects/ag-ui/told-messages.ts"
import type { AgUiRequest } from "../../../protocol/dialects/ag-ui.ts"
import type { Env } from "../../door/request-env.ts"
import { newestRun } from "../../stream/newest-run.ts"
import type { StreamPorts } from "../../stream/ports.ts"
import { toldSource } from "../../stream/told-rows.ts"
import { readToldRuns } from "../../stream/told-runs.ts"
import { watchRun } from "../../stream/watch-repeated.ts"
import { streamEvents } from "./stream-events.ts"
import { findThread } from "./thread-of-request.ts"
import { withState } from "./with-state.ts"

/**
 * A thread as it stands, for whoever opens it: what was said before as a snapshot, then its newest run from its beginning to
 * its end or to what it waits for, also while it is at work. Nothing is said or decided by it.
 */
export async function connectThread(c: Context<Env>, ports: StreamPorts, body: AgUiRequest): Promise<Response> {
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
