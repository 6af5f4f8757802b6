import { join } from "node:path"
import { z } from "zod"
import type { Agent, Conversation, Model, ReplyPart } from "../engine.ts"
import { answer, defineAgent, defineTool, newId, openEngine, type OpenedEngine, type Tool } from "../engine.ts"
import type { JournalEvent, UnknownEvent } from "../../core/protocol/events.ts"
import type { ConversationId, ProposalId } from "../../core/protocol/ids.ts"
import { openIn } from "../../core/store/proposals/states.ts"
import type { Contender, OpenOptions, Place, Variant } from "../contender.ts"
import { DELTA, decide, type Entry, heldUp, lookUp, TOOL } from "../script.ts"

export const AGENT = "bench"
export const PERSON = "ada"

/** Our runtime as a program embeds it: through the public entry, with the program's own model and tool. */
export async function openPawlContender(variant: Variant, options: OpenOptions): Promise<Contender> {
  return toContender(await openBenchPawl(variant, options), variant)
}

export function openBenchPawl(variant: Variant, { place, approval }: OpenOptions): Promise<OpenedEngine> {
  return openEngine({
    store: { url: urlOf(variant, place), durability: variant.durability },
    agents: [benchAgent(approval === true)],
    models: model,
    log: complaining,
    recovers: false,
  })
}

export const urlOf = (variant: Variant, place: Place): string =>
  variant.postgres ? (place.postgresUrl ?? "") : `file:${join(place.folder, "pawl.db")}`

export const benchAgent = (approval: boolean): Agent =>
  defineAgent({ name: AGENT, description: "", instructions: "Answer.", tools: [lookUpTool(approval)] })

export async function toContender(pawl: OpenedEngine, variant: Variant): Promise<Contender> {
  const { runtime, store } = pawl
  const { journal, bus } = pawl.ports
  const person = await store.people.ensure(PERSON, Date.now())

  const toMessage = (text: string) => ({ type: "message", id: newId("msg", person.id), text, when: "queue" }) as const

  async function begin(id: string, text: string): Promise<Conversation> {
    const beginning = { user: person.id, agent: AGENT, id: id as ConversationId }
    const conversation = await runtime.begin(beginning, toMessage(text))
    await runtime.rest(conversation.id)
    return conversation
  }

  return {
    async turn(id, text, first) {
      if (first) return lastText(await begin(id, text))
      const known = id as ConversationId
      if (variant.reload) journal.drop(known)
      await runtime.submit(known, toMessage(text))
      await runtime.rest(known)
      return lastText(await journal.load(known))
    },
    async stream(id, text, show) {
      const unsubscribe = bus.subscribe(id as ConversationId, (live) => {
        if (live.type === "text_delta") show(live.text)
      })
      await begin(id, text)
      unsubscribe()
    },
    async pause(id, text) {
      await begin(id, text)
    },
    async resume(id) {
      const known = id as ConversationId
      const [waiting] = await store.engine.query<{ id: ProposalId }>(WAITING, [id, id])
      if (!waiting) throw new Error(`${id} has no open proposal`)
      await runtime.submit(known, { type: "decide", proposalId: waiting.id, decision: "commit", by: person.id })
      await runtime.rest(known)
      return lastText(await journal.load(known))
    },
    async countPaused() {
      const [row] = await store.engine.query<{ n: number }>(
        "SELECT count(*) AS n FROM proposals WHERE status = 'pending'",
        [],
      )
      return Number(row?.n)
    },
    transcript: async (id) => (await journal.read(id as ConversationId)).flatMap(toEntries),
    async close() {
      await pawl[Symbol.asyncDispose]()
    },
  }
}

const WAITING = openIn("q.id", "c.id = ?")

const usage = { inputTokens: 400, outputTokens: 100 }
const DELTA_PART: ReplyPart = { type: "text", text: DELTA }

export const model: Model = {
  name: "bench",
  provider: "bench",
  contextTokens: Number.MAX_SAFE_INTEGER, // the floor never truncates the history, so Pawl must not either
  async *stream({ history }) {
    const last = history.at(-1)
    const text = last?.role === "tool" ? last.results[0]?.text : last?.role === "user" ? last.text : undefined
    if (heldUp.at) await heldUp.at(last?.role === "tool" ? "second-model-call" : "first-model-call", text ?? "")
    const reply = decide({ role: last?.role === "tool" ? "tool" : "user", text: text ?? "" }, history.length)
    if (reply.type === "deltas") {
      for (let i = 0; i < reply.count; i++) {
        if (i > 0 && i % reply.aTurn === 0) await new Promise((resolve) => setImmediate(resolve))
        yield DELTA_PART
      }
    }
    if (reply.type === "text") yield { type: "text", text: reply.text }
    if (reply.type === "call") yield { type: "call", name: TOOL, input: JSON.stringify(reply.input) }
    yield { type: "finish", finish: reply.type === "call" ? "calls" : "stop", usage }
  },
}

function lookUpTool(approval: boolean): Tool {
  const input = z.object({ key: z.string(), fields: z.string() })
  const common = { name: TOOL, description: "Looks up a record by key.", input, afterCrash: "in-doubt" } as const
  const run = async (parsed: z.infer<typeof input>) => {
    if (heldUp.at) await heldUp.at("tool", parsed.key)
    return answer(lookUp(parsed))
  }
  if (approval) return defineTool({ ...common, effect: "write", inverse: false, run })
  return defineTool({ ...common, effect: "read", afterCrash: "run-again", run })
}

function lastText({ history, id }: Conversation): string {
  const last = history.at(-1)
  const part = last?.role === "assistant" ? last.parts.at(-1) : undefined
  if (part?.type !== "text") throw new Error(`${id} did not end with text`)
  return part.text
}

function toEntries(event: JournalEvent | UnknownEvent): Entry[] {
  if ("body" in event) throw new Error(`an unknown event: ${event.type}`)
  if (event.type === "tool_end") return [["result", event.text]]
  if (event.type !== "message") return []
  return event.parts.flatMap((part): Entry[] => {
    if (part.type === "reasoning") return []
    if (part.type === "call") return [["call", part.name]]
    return [[event.role === "user" ? "user" : "text", part.text]]
  })
}

function complain(event: string, fields: Record<string, unknown>): void {
  console.error(event, fields)
}

/** Prints every warning and error, because a benchmark that fails silently measures nothing. */
export const complaining = { info() {}, warn: complain, error: complain }
