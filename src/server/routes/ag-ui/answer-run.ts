import type { Context } from "hono"
import { AgUiEvents, type EventsHead } from "../../../dialects/ag-ui/events.ts"
import { messagesUpTo, messagesUpToCalls, readRun } from "../../../dialects/ag-ui/asked-run.ts"
import type { AgUiRequest } from "../../../protocol/ag-ui.ts"
import { failure } from "../../../protocol/errors.ts"
import type { Env } from "../../door/request-env.ts"
import { STREAM_HEADERS } from "../../stream/event-stream.ts"
import { pulseOf } from "../../stream/keep-alive.ts"
import { openFor } from "../../stream/open-stream.ts"
import type { StreamPorts } from "../../stream/ports.ts"
import { toTextStream } from "../../stream/text-stream.ts"
import { decideInterrupts } from "./decide-interrupts.ts"
import { findThread, type AgUiThread } from "./find-thread.ts"
import { sayWords } from "./say-words.ts"
import { type ToldRun, withState } from "./with-state.ts"

/** Says what a frontend says, or decides what it decides, and answers with the run that follows. */
export async function answerRun(c: Context<Env>, ports: StreamPorts, body: AgUiRequest): Promise<Response> {
  const asked = readRun(body)
  ports.streams.admit(c.get("caller"))
  const thread = await findThread(c, ports, body.threadId)
  const opened = await open()
  c.header("x-pawl-conversation", thread.id)
  if (opened.ignored.length > 0) c.header("x-pawl-ignored", opened.ignored.join(", "))
  const source = openFor(c.get("caller"), ports, withState(ports, thread.id, opened.frames))
  const events = new AgUiEvents(headOf(body, thread, opened))
  return c.body(toTextStream(source, events, pulseOf(ports.clock)), 200, STREAM_HEADERS)

  async function open(): Promise<ToldRun> {
    const { resume = [] } = body
    const speaks = asked.said !== undefined && !(await thread.hasSaid(asked.said.id))
    // Words take the place of what waits: then nothing of it is decided, and a frontend that may not speak before it has
    // answered everything calls it cancelled.
    if (speaks && resume.some(({ status }) => status === "resolved"))
      throw failure("bad_request", {
        problem: "resume: decide, or say something else in its place and cancel what waits; not both in one run.",
      })
    if (resume.length > 0 && !speaks) return decideInterrupts(c, ports, { thread, resume })
    return sayWords(c, ports, { thread, asked, state: body.state })
  }
}

/** What the frontend shows from before the point from which it is told; the rest of what it has is told anew. */
function headOf(body: AgUiRequest, thread: AgUiThread, { own, calls, proposals, late }: ToldRun): EventsHead {
  const { threadId, runId, messages, state } = body
  const { said } = readRun(body)
  const kept = calls ? messagesUpToCalls(messages, calls) : messagesUpTo(messages, said?.id ?? "")
  const isReset = kept.length < messages.length || kept.some((each, at) => each !== messages[at])
  return { threadId, runId, conversation: thread.id, messages: kept, isReset, state, own, open: proposals, late }
}
