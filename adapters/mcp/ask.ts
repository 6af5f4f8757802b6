import { z } from "zod"
import {
  refuseText,
  type MessageInput,
  openFor,
  conversationForKey,
  conversationOf,
  messageIdOfKey,
  toBeginning,
  type FrameSource,
  subscribe,
  framesOfRun,
  sayAndWatch,
  watchRepeated,
} from "../../core/adapter.ts"
import { type McpResult, toResult, defineMcpTool, type McpToolCall } from "./tool.ts"
import { AppError, codeOf, failure, hasCode } from "../../core/protocol/errors.ts"
import { newId, type RunId, type ConversationId } from "../../core/protocol/ids.ts"
import type { ConversationView } from "../../core/protocol/conversation/conversation.ts"
import { toConversationId } from "./reading.ts"
import type { Frame, UnknownFrame } from "../../core/protocol/frames.ts"
import type { PawlExtras } from "../../core/protocol/dialects/openai.ts"
import { RunReader } from "../openai/run-reader.ts"

const Name = z.string().trim().min(1).max(200)

/** What `ask_agent` takes. */
export const AskInput = z.strictObject({
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
export type AskInput = z.infer<typeof AskInput>

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
    return answerOf(await openAsked(call, input, message), input, call)
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

/** Follows the run to its end, or to where it waits for a person. */
async function answerOf({ id, frames }: OpenedAsk, { key }: AskInput, call: McpToolCall): Promise<McpResult> {
  const { caller, ports, signal, page } = call
  const source = openFor(caller, ports, frames)
  const answer = new AskAnswer(id)
  const over = AbortSignal.any([signal, call.cancelled])
  // Whoever hangs up and has a key may come again for the answer; without one nobody will.
  const isTakenBack = () => call.cancelled.aborted || (signal.aborted && call.hangingUpCancels && key === undefined)
  // What is taken back before its run is known is followed until it is: what has no name cannot be stopped.
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

/** Of this run only: what others have said since goes on. */
async function stop({ caller, ports }: McpToolCall, id: OpenedAsk["id"], run: RunId): Promise<void> {
  await ports.runtime.submit(id, { type: "cancel", by: caller.person.id, run })
}

export interface OpenedAsk {
  readonly id: ConversationId
  readonly frames: FrameSource
}

/** Says what was asked, in a conversation of its own or in one that goes on, and gives the run that answers it. */
export async function openAsked(call: McpToolCall, input: AskInput, words: MessageInput): Promise<OpenedAsk> {
  const { caller, ports } = call
  const user = caller.person.id
  if (input.agent !== undefined) ports.agents.get(input.agent)
  if (input.conversation !== undefined) {
    const place = await conversationOf(ports, user, toConversationId(input.conversation))
    requireFit(place, input)
    return sayOnce(call, input, { words, place, isTaken: false })
  }
  const { agent, model, connection } = input
  const beginning = await toBeginning(caller, ports, { agent, model, connectionId: connection })
  const { key } = input
  if (key !== undefined) {
    const begin = (id: ConversationId) => ports.runtime.begin({ ...beginning, id })
    // Keys of other dialects are not these.
    const place = await conversationForKey(ports, { user, key: `mcp ${key}`, begin })
    // Words that are there are this request's, or of one before it that the key is forgotten of.
    const hasWords = (await ports.conversations.runs(place.id, { limit: 1 })).items.length > 0
    return sayOnce(call, input, { words, place, isTaken: hasWords || place.agent !== beginning.agent })
  }
  const id = newId("conv", user, ports.clock.now())
  await ports.runtime.begin({ ...beginning, id }, words)
  const source = await subscribe(ports, { id, after: { position: 0, offset: 0 } })
  return { id, frames: framesOfRun(ports, source, { id, position: 0, message: words.id, waits: false }) }
}

/** A conversation stays with its agent, its model and its database: what is named for a new one is not passed over. */
function requireFit(place: ConversationView, { agent, model, connection }: AskInput): void {
  const wrong = agent !== undefined && agent !== place.agent ? "agent" : model ? "model" : connection && "connection"
  if (wrong)
    throw failure("bad_request", { problem: `${wrong}: only for a new conversation; ${place.id} keeps its own.` })
}

interface Saying {
  readonly words: MessageInput
  readonly place: ConversationView
  /** It is for other words than these, unless these are there already. */
  readonly isTaken: boolean
}

/** Says the words in a conversation, or gives the run of those that the key has brought before. */
async function sayOnce(call: McpToolCall, input: AskInput, { words, place, isTaken }: Saying): Promise<OpenedAsk> {
  const { caller, ports } = call
  const { id, position } = place
  const user = caller.person.id
  const key = input.key && `mcp ${input.key}`
  const { messageId, repeated } = await messageIdOfKey(ports, { user, id, key, body: input })
  // A client that uses a number twice would have its new words taken for the old ones.
  const isUsed = key === undefined && (await ports.conversations.placeOf(id, words.id)) !== undefined
  const message: MessageInput = { ...words, id: key === undefined && !isUsed ? words.id : messageId }
  const isThere = async () => (await ports.conversations.placeOf(id, messageId)) !== undefined
  if (isTaken && !(repeated && (await isThere()))) throw failure("key_reused")
  if (!repeated) return { id, frames: await sayAndWatch(ports, place, message) }
  // From its beginning, as it stands now: without pauses that it has gone on from.
  const again = async () => ({
    id,
    frames: (await watchRepeated(ports, { id, position, message, asItStands: true })).frames,
  })
  return again().catch(async (error: unknown) => {
    // Of two that came at once the other was first, and what is at work is this very message.
    if (hasCode(error, "busy") && (await isThere())) return again()
    throw error
  })
}

/** Told on the way: enough for a person to see that something goes on, and never more than a listener could hold. */
const MAX_PROGRESS = 200

/** A run as the answer of one tool: the replies of all its steps, and what is told while it goes on. */
export class AskAnswer {
  readonly #reader: RunReader
  readonly #replies: string[] = []
  #failed: { readonly code: string; readonly message: string } | undefined
  #begun = false
  #over = false
  #told = 0

  constructor(conversation: ConversationId) {
    this.#reader = new RunReader(conversation)
  }

  /** What to tell of a frame as progress, in a few words; mostly nothing. */
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

  /** Replies of one run stand apart. */
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
