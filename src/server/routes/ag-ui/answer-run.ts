import type { Context } from "hono"
import type { ClientResult } from "../../../agent/input.ts"
import { AgUiEvents, type EventsHead } from "../../../dialects/ag-ui/events.ts"
import { messagesUpTo, messagesUpToCalls, readRun } from "../../../dialects/ag-ui/asked-run.ts"
import type { AgUiRequest } from "../../../protocol/dialects/ag-ui.ts"
import { failure } from "../../../protocol/errors.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { bringResults, handedCalls } from "../../stream/bring-results.ts"
import type { StreamPorts } from "../../stream/ports.ts"
import { decideInterrupts } from "./decide-interrupts.ts"
import { sayInThread } from "./say-words.ts"
import { streamEvents } from "./stream-events.ts"
import { findThread, type AgUiThread } from "./thread-of-request.ts"
import { type AgUiRun, withState } from "./with-state.ts"

/** Says what a frontend says, or decides what it decides, and answers with the run that follows. */
export async function answerRun(c: Context<Env>, ports: StreamPorts, body: AgUiRequest): Promise<Response> {
  const asked = readRun(body)
  ports.streams.admit(c.get("caller"))
  const thread = await findThread(c, ports, body.threadId)
  const opened = await open()
  if (opened.ignored.length > 0) c.header("x-pawl-ignored", opened.ignored.join(", "))
  const source = withState(ports, thread.id, opened.frames)
  return streamEvents(c, ports, { id: thread.id, source, events: new AgUiEvents(headOf(body, thread, opened)) })

  async function open(): Promise<AgUiRun> {
    const { resume = [] } = body
    const speaks = asked.said !== undefined && !(await thread.hasSaid(asked.said.id))
    // Words take the place of what waits: then nothing of it is decided, and a frontend that may not speak before it has
    // answered everything calls it cancelled.
    if (speaks && resume.some(({ status }) => status === "resolved"))
      throw failure("bad_request", {
        problem: "resume: decide, or say something else in its place and cancel what waits; not both in one run.",
      })
    const brought = speaks ? [] : await ofFrontend(c, ports, { thread, results: asked.results })
    if (resume.length > 0 && !speaks) {
      if (brought.length > 0) (await bring(c, ports, { thread, results: brought })).frames.close()
      return decideInterrupts(c, ports, { thread, resume })
    }
    if (brought.length > 0) return bring(c, ports, { thread, results: brought })
    return sayInThread(c, ports, { thread, asked, state: body.state })
  }
}

interface Results {
  readonly thread: AgUiThread
  readonly results: readonly ClientResult[]
}

/** Those of the results that are of calls which were handed over: what stands there of our own tools is known here. */
async function ofFrontend(
  c: Context<Env>,
  ports: StreamPorts,
  { thread, results }: Results,
): Promise<readonly ClientResult[]> {
  if (!thread.found || results.length === 0) return []
  const { waiting, ended } = await handedCalls(ports, userOf(c), thread.id)
  return results.filter(({ callId }) => waiting.has(callId) || ended.has(callId))
}

/** Brings what tools of the frontend have answered, and gives the run as it goes on. */
async function bring(c: Context<Env>, ports: StreamPorts, { thread, results }: Results): Promise<AgUiRun> {
  const proposals = await ports.proposals.open(thread.id)
  const { frames } = await bringResults(ports, { user: userOf(c), id: thread.id, results })
  const calls = new Set(results.map(({ callId }) => callId))
  return { frames, calls, isBrought: true, proposals, late: [], ignored: [] }
}

/** What the frontend shows from before the point from which it is told; the rest of what it has is told anew. */
function headOf(
  body: AgUiRequest,
  thread: AgUiThread,
  { own, calls, isBrought, proposals, late }: AgUiRun,
): EventsHead {
  const { threadId, runId, messages, state } = body
  const { said } = readRun(body)
  const kept = calls
    ? messagesUpToCalls(messages, calls, { keepsResults: isBrought ?? false })
    : messagesUpTo(messages, said?.id ?? "")
  const isReset = kept.length < messages.length || kept.some((each, at) => each !== messages[at])
  const brought = isBrought ? calls : undefined
  return {
    threadId,
    runId,
    conversation: thread.id,
    messages: kept,
    isReset,
    state,
    own,
    brought,
    open: proposals,
    late,
  }
}
