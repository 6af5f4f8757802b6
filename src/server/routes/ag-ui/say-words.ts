import type { Context } from "hono"
import { refuseText } from "../../../agent/accept/refuse-input.ts"
import type { MessageInput } from "../../../agent/input.ts"
import type { AgUiAsked } from "../../../dialects/ag-ui/asked-run.ts"
import { type Brought, CLIENT_HISTORY } from "../../../protocol/conversation/brought.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { failure, hasCode } from "../../../protocol/errors.ts"
import { toClientContext } from "../../conversation/client-context.ts"
import { spokenBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import type { FrameSource } from "../../stream/event-stream.ts"
import type { StreamPorts } from "../../stream/ports.ts"
import { sayAndWatch } from "../../stream/say-and-watch.ts"
import { watchRepeated } from "../../stream/watch-repeated.ts"
import type { AgUiThread } from "./thread-of-request.ts"
import type { AgUiRun } from "./with-state.ts"

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
  ports: StreamPorts,
  { thread, asked, state }: Saying,
): Promise<AgUiRun> {
  const { said, ignored } = asked
  if (!said) throw failure("bad_request", { problem: "messages: nobody says anything in them." })
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
  { conversations }: StreamPorts,
  { id }: ConversationView,
  { id: message, text }: Pick<MessageInput, "id" | "text">,
): Promise<void> {
  const before = await conversations.message(id, message)
  if (before && before.content !== text && !before.truncated) throw failure("key_reused")
}

async function watch(ports: StreamPorts, place: ConversationView, message: MessageInput): Promise<FrameSource> {
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
async function toBrought(ports: StreamPorts, { place, asked, state, isNew }: Bringing): Promise<Brought[]> {
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
