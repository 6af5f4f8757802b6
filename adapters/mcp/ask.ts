import { z } from "zod"
import {
  conversationForKey,
  conversationOf,
  type FrameSource,
  messageIdOfKey,
  type MessageInput,
  type PawlExtras,
  refuseText,
  registerStream,
  sendAndWatch,
  sendOnce,
  toConversationStart,
  watchFirstRun,
} from "../../core/adapter.ts"
import {
  AppError,
  codeOf,
  type ConversationId,
  type ConversationView,
  failure,
  type Frame,
  newId,
  type RunId,
  type UnknownFrame,
} from "../../core/protocol/index.ts"
import { type McpResult, toResult, defineMcpTool, type McpToolCall } from "./tool.ts"
import { toConversationId } from "./reading.ts"
import { RunReader } from "../openai/run-reader.ts"

const Name = z.string().trim().min(1).max(200)

const AskInput = z.strictObject({
  message: z.string().describe("What to say, in plain words"),
  agent: Name.optional().describe("Who is asked (list_agents); the assistant unless said"),
  conversation: Name.optional().describe("Continues this conversation (conv_…) instead of starting a new one"),
  model: Name.optional().describe("Who answers in a new conversation; the person's usual model unless said"),
  connection: Name.optional().describe("The database (conn_…) that a new conversation works on"),
  key: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("Any text of your own: sent again with the same key and words within a day, it is not done twice"),
})
type AskInput = z.infer<typeof AskInput>

export const askAgent = defineMcpTool({
  name: "ask_agent",
  title: "Ask an agent",
  description:
    "An agent of the person answers, with its own tools on the person's data. Changes are proposed and wait for the person.",
  needs: "chat",
  reads: false,
  input: AskInput,
  async run(input, call) {
    const id = call.words ?? newId("msg", call.caller.person.id)
    const message: MessageInput = {
      ...{ type: "message", id, text: input.message, when: "reject" },
      ...{ credential: call.caller.credential.id, asks: true },
    }
    refuseText(message)
    call.ports.streams.admit(call.caller)
    return answerOf(await openQuestion(call, input, message), input, call)
  },
})

export const listAgents = defineMcpTool({
  name: "list_agents",
  title: "List agents",
  description: "The agents that can be asked, and what each is for.",
  needs: "read",
  reads: true,
  input: z.strictObject({}),
  async run(_input, { ports }) {
    const agents = ports.agents.all.map(({ name, description }) => ({ name, description }))
    return toResult(agents.map(({ name, description }) => `${name}: ${description}`).join("\n"), { agents })
  },
})

/** Follows the run to its end or pause. */
async function answerOf({ id, frames }: OpenedAsk, { key }: AskInput, call: McpToolCall): Promise<McpResult> {
  const { caller, ports, signal, page } = call
  const source = registerStream(caller, ports, frames)
  const answer = new AskAnswer(id)
  const over = AbortSignal.any([signal, call.cancelled])
  // A client with a key may come back for the answer; one without a key cannot.
  const isTakenBack = () => call.cancelled.aborted || (signal.aborted && call.hangingUpCancels && key === undefined)
  // A cancelled call is followed until its run is known, because an unknown run cannot be stopped.
  const hangUp = () => void ((answer.hasBegun || !isTakenBack()) && source.close())
  over.addEventListener("abort", hangUp, { once: true })
  if (over.aborted) hangUp()
  try {
    while (!answer.isOver) {
      const some = await source.next()
      if (!some) break
      for (const frame of some) {
        const progress = answer.read(frame)
        if (progress !== undefined) await call.progress(progress)
      }
      if (over.aborted) hangUp()
    }
  } finally {
    over.removeEventListener("abort", hangUp)
    source.close()
  }
  const { run_id: run, status, proposals } = answer.beside
  if (isTakenBack() && !answer.isOver) await stop(call, id, run)
  if (!answer.isOver) throw failure("draining")
  const { failed } = answer
  if (failed) throw new AppError(codeOf(failed) ?? "internal", `${failed.message} (conversation ${id})`)
  const where = status === "paused" ? ` The person decides at ${page}/c/${id}; then ask again, or read ${id}.` : ""
  return toResult([answer.text, `Conversation ${id}, ${status}.${where}`], {
    ...{ answer: answer.text, conversation: id, run, status, proposals },
    ...(where ? { decide_at: `${page}/c/${id}` } : {}),
  })
}

/** Stops this run only. */
async function stop({ caller, ports }: McpToolCall, id: OpenedAsk["id"], run: RunId): Promise<void> {
  await ports.runtime.submit(id, { type: "cancel", by: caller.person.id, run })
}

interface OpenedAsk {
  readonly id: ConversationId
  readonly frames: FrameSource
}

/** Sends the message, in a new conversation or an existing one, and returns the frames of its run. */
export async function openQuestion(call: McpToolCall, input: AskInput, words: MessageInput): Promise<OpenedAsk> {
  const { caller, ports } = call
  const user = caller.person.id
  if (input.agent !== undefined) ports.agents.get(input.agent)
  if (input.conversation !== undefined) {
    const place = await conversationOf(ports, user, toConversationId(input.conversation))
    requireFit(place, input)
    return sendQuestion(call, input, { words, place, isTaken: false })
  }
  const { agent, model, connection } = input
  const beginning = await toConversationStart(caller, ports, { agent, model, connectionId: connection })
  const { key } = input
  if (key !== undefined) {
    const begin = (id: ConversationId) => ports.runtime.begin({ ...beginning, id })
    // Keys of other adapters are separate.
    const place = await conversationForKey(ports, { user, key: `mcp ${key}`, begin })
    // An existing message belongs to this request, or to an earlier one whose key has expired.
    const hasWords = (await ports.conversations.runs(place.id, { limit: 1 })).items.length > 0
    return sendQuestion(call, input, { words, place, isTaken: hasWords || place.agent !== beginning.agent })
  }
  const id = newId("conv", user, ports.clock.now())
  await ports.runtime.begin({ ...beginning, id }, words)
  return { id, frames: await watchFirstRun(ports, id, words.id) }
}

/** A conversation keeps its agent, model and database: parameters for a new one are refused, not ignored. */
function requireFit(place: ConversationView, { agent, model, connection }: AskInput): void {
  const wrong = agent !== undefined && agent !== place.agent ? "agent" : model ? "model" : connection && "connection"
  if (wrong)
    throw failure("bad_request", { problem: `${wrong}: only for a new conversation; ${place.id} keeps its own.` })
}

interface Saying {
  readonly words: MessageInput
  readonly place: ConversationView
  /** The key was used for another message, unless this one is already there. */
  readonly isTaken: boolean
}

/** Sends the message, or returns the run of the message that the key was used for. */
async function sendQuestion(call: McpToolCall, input: AskInput, { words, place, isTaken }: Saying): Promise<OpenedAsk> {
  const { caller, ports } = call
  const { id } = place
  const user = caller.person.id
  const key = input.key && `mcp ${input.key}`
  const { messageId, repeated } = await messageIdOfKey(ports, { user, id, key, body: input })
  // A client that uses a request id twice must not get the old answer.
  const isUsed = key === undefined && (await ports.conversations.placeOf(id, words.id)) !== undefined
  const message: MessageInput = { ...words, id: key === undefined && !isUsed ? words.id : messageId }
  const isThere = async () => (await ports.conversations.placeOf(id, messageId)) !== undefined
  if (isTaken && !(repeated && (await isThere()))) throw failure("key_reused")
  return { id, frames: await (repeated ? sendOnce : sendAndWatch)(ports, place, message) }
}

/** Most progress notifications of a call. */
const MAX_PROGRESS = 200

/** Collects a run as the result of one tool: all its replies. */
class AskAnswer {
  readonly #reader: RunReader
  readonly #replies: string[] = []
  #failed: { readonly code: string; readonly message: string } | undefined
  #begun = false
  #over = false
  #told = 0

  constructor(conversation: ConversationId) {
    this.#reader = new RunReader(conversation)
  }

  /** The progress text of a frame, if any. */
  read(frame: Frame | UnknownFrame): string | undefined {
    for (const piece of this.#reader.read(frame)) {
      if (piece.type === "began") this.#begun = true
      if (piece.type === "reply" || piece.type === "waits") this.#replies.push(piece.text)
      if (piece.type === "failed") this.#failed = piece.error
      if (piece.type === "failed" || piece.type === "ended") this.#over = true
    }
    const progress = toProgress(frame as Frame)
    return progress === undefined || ++this.#told > MAX_PROGRESS ? undefined : progress
  }

  /** Its run is known. */
  get hasBegun(): boolean {
    return this.#begun
  }

  get isOver(): boolean {
    return this.#over
  }

  get failed(): { readonly code: string; readonly message: string } | undefined {
    return this.#failed
  }

  /** The replies are separated by blank lines. */
  get text(): string {
    return this.#replies.join("\n\n")
  }

  get beside(): PawlExtras {
    return this.#reader.beside
  }
}

function toProgress(frame: Frame): string | undefined {
  switch (frame.type) {
    case "run_started":
      return "Working on it."
    case "step":
      return `Step: ${frame.data.step}.`
    case "tool_start":
      return `Uses ${frame.data.name}.`
    case "awaiting_confirmation":
      return "Waits for a decision."
    case "restarted":
      return "The reply begins again."
    default:
      return undefined
  }
}
