import type { Context } from "hono"
import {
  type AgUiRequest,
  type ClientResult,
  type Env,
  type MessageInput,
  readDelegatedCalls,
  refuseText,
  senderFields,
  sendOnce,
  sendResults,
  type ServerPorts,
  toClientContext,
  userOf,
} from "../../core/adapter.ts"
import { CLIENT_HISTORY, type ClientContext, type ConversationView, failure } from "../../core/protocol/index.ts"
import { AgUiEvents, type EventsHead } from "./events.ts"
import { messagesUpTo, messagesUpToCalls, readRun, type AgUiInput } from "./run-request.ts"
import { decideInterrupts } from "./decide-interrupts.ts"
import { streamEvents, type AgUiRun, withState } from "./run-stream.ts"
import { findThread, type AgUiThread } from "./thread.ts"

/** Answers a frontend's request: sends its message, its decisions or its results, and streams the run that follows. */
export async function answerRun(c: Context<Env>, ports: ServerPorts, body: AgUiRequest): Promise<Response> {
  const input = readRun(body)
  ports.streams.admit(c.get("caller"))
  const thread = await findThread(c, ports, body.threadId)
  const opened = await open()
  if (opened.ignored.length > 0) c.header("x-pawl-ignored", opened.ignored.join(", "))
  const source = withState(ports, thread.id, opened.frames)
  return streamEvents(c, ports, { id: thread.id, source, events: new AgUiEvents(headOf(body, thread, opened)) })

  async function open(): Promise<AgUiRun> {
    const { resume = [] } = body
    const speaks = input.userMessage !== undefined && !(await thread.hasMessage(input.userMessage.id))
    // A message supersedes open proposals. A frontend that must answer all of them first sends them as cancelled.
    if (speaks && resume.some(({ status }) => status === "resolved"))
      throw failure("bad_request", {
        problem: "resume: decide, or say something else in its place and cancel what waits; not both in one run.",
      })
    const brought = speaks ? [] : await ofFrontend(c, ports, { thread, results: input.results })
    if (resume.length > 0 && !speaks) {
      if (brought.length > 0) (await continueWith(c, ports, { thread, results: brought })).frames.close()
      return decideInterrupts(c, ports, { thread, resume })
    }
    if (brought.length > 0) return continueWith(c, ports, { thread, results: brought })
    return sendToThread(c, ports, { thread, asked: input, state: body.state })
  }
}

interface Results {
  readonly thread: AgUiThread
  readonly results: readonly ClientResult[]
}

/** The results of delegated calls. Results of our own tools are known here already. */
async function ofFrontend(
  c: Context<Env>,
  ports: ServerPorts,
  { thread, results }: Results,
): Promise<readonly ClientResult[]> {
  if (!thread.found || results.length === 0) return []
  const { waiting, ended } = await readDelegatedCalls(ports, userOf(c), thread.id)
  return results.filter(({ callId }) => waiting.has(callId) || ended.has(callId))
}

/** Sends results of the frontend's tools, and returns the continued run. */
async function continueWith(c: Context<Env>, ports: ServerPorts, { thread, results }: Results): Promise<AgUiRun> {
  const proposals = await ports.proposals.open(thread.id)
  const { frames } = await sendResults(ports, { user: userOf(c), id: thread.id, results })
  const calls = new Set(results.map(({ callId }) => callId))
  return { frames, calls, hasClientResults: true, proposals, late: [], ignored: [] }
}

/** The messages that the frontend keeps; everything after them is sent again. */
function headOf(
  body: AgUiRequest,
  thread: AgUiThread,
  { own, calls, hasClientResults, proposals, late }: AgUiRun,
): EventsHead {
  const { threadId, runId, messages, state } = body
  const { userMessage } = readRun(body)
  const known = calls
    ? messagesUpToCalls(messages, calls, { keepsResults: hasClientResults ?? false })
    : messagesUpTo(messages, userMessage?.id ?? "")
  const isReset = known.length < messages.length || known.some((each, at) => each !== messages[at])
  const brought = hasClientResults ? calls : undefined
  return {
    threadId,
    runId,
    conversation: thread.id,
    messages: known,
    isReset,
    state,
    own,
    brought,
    open: proposals,
    late,
  }
}

/** Most characters of client context, in total and per entry. */
const ROOM = { all: 64_000, one: 48_000 }

/** The limit of a run with frontend tools, where each reply that calls one counts. */
const MAX_ITERATIONS = 20

interface Saying {
  readonly thread: AgUiThread
  readonly asked: AgUiInput
  readonly state: unknown
}

/** Sends the message, or finds it if it was sent before, and returns the frames of its run. */
export async function sendToThread(
  c: Context<Env>,
  ports: ServerPorts,
  { thread, asked: input, state }: Saying,
): Promise<AgUiRun> {
  const { userMessage, ignored } = input
  if (!userMessage) throw failure("bad_request", { problem: "messages: there is no user message." })
  const id = await thread.idOf(userMessage.id)
  const newMessage = { type: "message", id, text: userMessage.text, when: "reject" } as const
  refuseText(newMessage)
  const place = await thread.begin()
  await requireSameText(ports, place, newMessage)
  const brought = await toContext(ports, { place, asked: input, state, isNew: thread.found === undefined })
  const message: MessageInput = {
    ...newMessage,
    ...senderFields(c.get("caller")),
    ...(input.tools.length > 0 ? { clientTools: input.tools, maxIterations: MAX_ITERATIONS } : {}),
    ...(input.results.length > 0
      ? { results: { type: "client_results", results: input.results, by: userOf(c) } as const }
      : {}),
    ...(brought.length > 0 ? { brought } : {}),
  }
  return {
    frames: await sendOnce(ports, place, message),
    ...{ own: id, proposals: [], late: [], calls: undefined },
    ignored: thread.found && input.before.length > 0 ? ["messages", ...ignored] : ignored,
  }
}

/** Refuses another text under the id of a message that was already sent. */
async function requireSameText(
  { conversations }: ServerPorts,
  { id }: ConversationView,
  { id: message, text }: Pick<MessageInput, "id" | "text">,
): Promise<void> {
  const before = await conversations.message(id, message)
  if (before && before.content !== text && !before.truncated) throw failure("key_reused")
}

interface Bringing {
  readonly place: ConversationView
  readonly asked: AgUiInput
  readonly state: unknown
  readonly isNew: boolean
}

/** The frontend's history is sent to a new conversation only, its context with every message. */
async function toContext(
  ports: ServerPorts,
  { place, asked: input, state, isNew }: Bringing,
): Promise<ClientContext[]> {
  const { before, instructions, context } = input
  const history: [string, unknown][] = isNew ? [[CLIENT_HISTORY, before]] : []
  const own = isNew ? {} : (await ports.journal.load(place.id)).state
  const theirs = typeof state === "object" && state !== null ? Object.entries(state) : []
  const left = theirs.filter(([name]) => !Object.hasOwn(own, name))
  const fields: [string, unknown][] = [
    ["instructions", instructions],
    ...context.map(([name, value]): [string, unknown] => [name, value]),
  ]
  return toClientContext([...history, ...fields, ["state", Object.fromEntries(left)]], ROOM)
}
