import type { Context } from "hono"
import {
  type ClientResult,
  userOf,
  type Env,
  bringResults,
  handedCalls,
  type ServerPorts,
  refuseText,
  type MessageInput,
  toClientContext,
  spokenBy,
  type FrameSource,
  sayAndWatch,
  watchRepeated,
} from "../../core/adapter.ts"
import { AgUiEvents, type EventsHead } from "./events.ts"
import { messagesUpTo, messagesUpToCalls, readRun, type AgUiAsked } from "./run-request.ts"
import type { AgUiRequest } from "../../core/protocol/dialects/ag-ui.ts"
import { failure, hasCode } from "../../core/protocol/errors.ts"
import { decideInterrupts } from "./decide-interrupts.ts"
import { streamEvents, type AgUiRun, withState } from "./run-stream.ts"
import { findThread, type AgUiThread } from "./thread.ts"
import { type ClientContext, CLIENT_HISTORY } from "../../core/protocol/conversation/message.ts"
import type { ConversationView } from "../../core/protocol/conversation/conversation.ts"

/** Says what a frontend says, or decides what it decides, and answers with the run that follows. */
export async function answerRun(c: Context<Env>, ports: ServerPorts, body: AgUiRequest): Promise<Response> {
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
  ports: ServerPorts,
  { thread, results }: Results,
): Promise<readonly ClientResult[]> {
  if (!thread.found || results.length === 0) return []
  const { waiting, ended } = await handedCalls(ports, userOf(c), thread.id)
  return results.filter(({ callId }) => waiting.has(callId) || ended.has(callId))
}

/** Brings what tools of the frontend have answered, and gives the run as it goes on. */
async function bring(c: Context<Env>, ports: ServerPorts, { thread, results }: Results): Promise<AgUiRun> {
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

/** Characters that come along with the words, in all and for one thing. */
const ROOM = { all: 64_000, one: 48_000 }

/** Of a run that calls tools of its frontend: each reply that does counts. */
const MAX_ITERATIONS = 20

interface Saying {
  readonly thread: AgUiThread
  readonly asked: AgUiAsked
  readonly state: unknown
}

/** Says the words, or finds them said, and gives the run that answers them, from its beginning. */
export async function sayInThread(
  c: Context<Env>,
  ports: ServerPorts,
  { thread, asked, state }: Saying,
): Promise<AgUiRun> {
  const { said, ignored } = asked
  if (!said) throw failure("bad_request", { problem: "messages: there is no user message." })
  const id = await thread.idOf(said.id)
  const words = { type: "message", id, text: said.text, when: "reject" } as const
  refuseText(words)
  const place = await thread.begin()
  await refuseOther(ports, place, words)
  const brought = await toBrought(ports, { place, asked, state, isNew: thread.found === undefined })
  const message: MessageInput = {
    ...words,
    ...spokenBy(c.get("caller")),
    ...(asked.tools.length > 0 ? { clientTools: asked.tools, maxIterations: MAX_ITERATIONS } : {}),
    ...(asked.results.length > 0
      ? { results: { type: "client_results", results: asked.results, by: userOf(c) } as const }
      : {}),
    ...(brought.length > 0 ? { brought } : {}),
  }
  return {
    frames: await watch(ports, place, message),
    ...{ own: id, proposals: [], late: [], calls: undefined },
    ignored: thread.found && asked.before.length > 0 ? ["messages", ...ignored] : ignored,
  }
}

/** A message that was said is what it was. */
async function refuseOther(
  { conversations }: ServerPorts,
  { id }: ConversationView,
  { id: message, text }: Pick<MessageInput, "id" | "text">,
): Promise<void> {
  const before = await conversations.message(id, message)
  if (before && before.content !== text && !before.truncated) throw failure("key_reused")
}

async function watch(ports: ServerPorts, place: ConversationView, message: MessageInput): Promise<FrameSource> {
  const { id, position } = place
  const isThere = async () => (await ports.conversations.placeOf(id, message.id)) !== undefined
  const again = async () => (await watchRepeated(ports, { id, position, message, asItStands: true })).frames
  if (await isThere()) return again()
  try {
    return await sayAndWatch(ports, place, message)
  } catch (error) {
    // Two that came at once: the other one was taken, and is at work.
    if (!hasCode(error, "busy") || !(await isThere())) throw error
    return again()
  }
}

interface Bringing {
  readonly place: ConversationView
  readonly asked: AgUiAsked
  readonly state: unknown
  readonly isNew: boolean
}

/** What a frontend remembers is told to a new conversation only; what it knows beside, with all its words. */
async function toBrought(ports: ServerPorts, { place, asked, state, isNew }: Bringing): Promise<ClientContext[]> {
  const { before, instructions, context } = asked
  const history: [string, unknown][] = isNew ? [[CLIENT_HISTORY, before]] : []
  const own = isNew ? {} : (await ports.journal.load(place.id)).state
  const theirs = typeof state === "object" && state !== null ? Object.entries(state) : []
  const left = theirs.filter(([name]) => !Object.hasOwn(own, name))
  const rest: [string, unknown][] = [
    ["instructions", instructions],
    ...context.map(([name, value]): [string, unknown] => [name, value]),
  ]
  return toClientContext([...history, ...rest, ["state", Object.fromEntries(left)]], ROOM)
}
