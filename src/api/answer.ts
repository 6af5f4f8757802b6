import { failure } from "../protocol/errors.ts"
import type { ConversationId, RunId } from "../protocol/ids.ts"
import { parse } from "../agent/definition/schema.ts"
import { readJsonAnswer } from "../protocol/conversation/json-answer.ts"
import type { Finish, Message } from "../protocol/conversation/message.ts"
import { lookUntil } from "./follow.ts"
import type { Parts, PersonalParts } from "./parts.ts"
import type { Proposal, Usage } from "./read-only.ts"

interface Asked {
  readonly conversationId: ConversationId
  readonly runId: RunId
  /** What the model said last; empty where it has said nothing yet. */
  readonly text: string
  readonly usage: Usage | null
  /** Where the conversation stood: `conversations.events(id, { after: cursor })` goes on from there. */
  readonly cursor: string
}

/** The model has answered. */
export interface Answered<Value = unknown> extends Asked {
  readonly status: "answered"
  /** The answer as it was promised, checked; undefined where nothing was. */
  readonly value: Value
  /** Why its reply ended: `stop`, or `limit` where the provider cut it off. */
  readonly finish: Finish | null
}

/** A person has to decide. It waits on disk, for as long as the proposals last, in this life or the next. */
export interface Undecided extends Asked {
  readonly status: "waiting"
  /** `approval`: writes wait for a yes or a no. `doubt`: nobody knows what became of a write; see `proposals.resolve`. */
  readonly because: "approval" | "doubt"
  readonly proposals: readonly Proposal[]
}

/** It came to nothing; the code says why, and what was said is kept. */
export interface Failed extends Asked {
  readonly status: "failed"
  readonly error: { readonly code: string; readonly message: string }
}

/** Somebody stopped it. */
export interface Cancelled extends Asked {
  readonly status: "cancelled"
}

/** How a question ended, for now. */
export type Answer<Value = unknown> = Answered<Value> | Undecided | Failed | Cancelled

/** A run, and where it began. */
export interface AskedRun {
  readonly runId: RunId
  readonly position: number
}

/** The run that a place in the journal belongs to; undefined before the first. */
export async function runAt({ store }: Parts, id: ConversationId, position: number): Promise<AskedRun | undefined> {
  const start = await store.conversations.runStart(id, position)
  const [row] = await store.journal.read(id, { after: start - 1, upTo: start })
  return row?.type === "run_started" && "runId" in row ? { runId: row.runId, position: start } : undefined
}

/** How a run ended or what it waits for; where it works, as soon as it does no more. */
export function answerOf(parts: PersonalParts, id: ConversationId, run: AskedRun): Promise<Answer> {
  return lookUntil(parts, id, () => answerNow(parts, id, run))
}

/** What was promised to be JSON, as the agent's own schema reads it. */
async function valueOf({ ports }: PersonalParts, agent: string, messages: readonly Message[]): Promise<unknown> {
  const { answers } = ports.agents.orEmpty(agent)
  const isAsked = messages.some(({ schema }) => schema !== undefined)
  if (!answers && !isAsked) return undefined
  const read = readJsonAnswer(messages.findLast(({ role }) => role === "assistant")?.content ?? "")
  if ("problem" in read || isAsked || !answers) return "value" in read ? read.value : undefined
  const parsed = await parse(answers, read.value)
  return "value" in parsed ? parsed.value : undefined
}

async function answerNow(parts: PersonalParts, id: ConversationId, place: AskedRun): Promise<Answer | undefined> {
  const { conversations, proposals } = parts.store
  const { runId } = place
  const user = await parts.user()
  // The place is read first: whoever goes on from it may see something twice, but misses nothing.
  const view = await conversations.find(user, id)
  const run = view && (await conversations.run(user, runId))
  if (!run) throw failure("not_found")
  if (run.status === "running") return undefined
  const [messages, open] = await Promise.all([conversations.messagesOfRun(id, place.position), proposals.open(id)])
  const reply = messages.findLast(({ role, content }) => role === "assistant" && content !== "")
  const { usage, error, status, pauseReason } = run
  const asked = { conversationId: id, runId, text: reply?.content ?? "", usage, cursor: String(view.position) }
  switch (status) {
    case "completed":
      return {
        ...asked,
        status: "answered",
        finish: reply?.finish ?? null,
        value: await valueOf(parts, view.agent, messages),
      }
    case "cancelled":
      return { ...asked, status }
    case "failed":
      return { ...asked, status, error: error ?? { code: "internal", message: "The run failed." } }
    case "paused": {
      const because = pauseReason === "in_doubt" ? "doubt" : "approval"
      return { ...asked, status: "waiting", because, proposals: open.filter((proposal) => proposal.runId === runId) }
    }
  }
}
