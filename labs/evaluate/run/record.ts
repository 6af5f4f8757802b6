import { type Client, ClientError, readPages, toTimeline } from "../../../client/index.ts"
import { readRunRows } from "../../../client/read-pages.ts"
import type { RecordedEvent } from "../../../core/protocol/conversation/conversation.ts"
import type { JournalEvent } from "../../../core/protocol/events.ts"
import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { type EvalSpent, type RecordedAnswer, type RecordedCall, NOTHING_SPENT, addSpent } from "../happened.ts"

/** The characters of a result that a report stores and a judge sees: about a page. */
const MAX_RESULT = 4000

export interface CaseRecord {
  readonly happened: RecordedAnswer
  readonly spent: EvalSpent
  /** The model that answered; null if none did. */
  readonly model: string | null
  /** The JSON answer, if one was requested. */
  readonly value: unknown
}

/** Reads the outcome of a run from its journal, not from the stream. */
export async function recordRun(client: Client, id: string): Promise<CaseRecord> {
  const run = await client.readRun({ params: { id } })
  const rows = await readRunRows(client, id)
  const events = rows as unknown as readonly JournalEvent[]
  const happened = {
    text: lastWords(events),
    calls: callsIn(events),
    proposals: await proposalsOf(client, { conversationId: run.conversationId, runId: run.id }),
    status: run.status,
    ...(run.error ? { error: `${run.error.code}: ${run.error.message}` } : {}),
  }
  return { happened, spent: spentOn(rows, events), model: run.model, value: answeredValue(events) }
}

/** The newest reply with text. */
function lastWords(events: readonly JournalEvent[]): string {
  for (const event of events.toReversed()) {
    if (event.type !== "message" || event.role !== "assistant") continue
    const text = event.parts.map((part) => (part.type === "text" ? part.text : "")).join("")
    if (text.trim() !== "") return text
  }
  return ""
}

function callsIn(events: readonly JournalEvent[]): RecordedCall[] {
  const ends = new Map(events.flatMap((event) => (event.type === "tool_end" ? [[event.callId, event]] : [])))
  return events
    .flatMap((event) => (event.type === "message" ? event.parts : []))
    .flatMap((part) => {
      if (part.type !== "call") return []
      const end = ends.get(part.id)
      const result = end ? { result: end.text.slice(0, MAX_RESULT).toWellFormed() } : {}
      return [{ tool: part.name, arguments: part.input, status: end?.status ?? "open", ...result }]
    })
}

async function proposalsOf(client: Client, of: Pick<Proposal, "conversationId" | "runId">): Promise<RecordedCall[]> {
  const found: RecordedCall[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { conversationId } = of
    const page = await client.listProposals({ query: { conversationId, limit: 200, ...(cursor ? { cursor } : {}) } })
    const ours = page.items.filter(({ runId }) => runId === of.runId)
    found.push(...ours.map(({ tool, arguments: given, status }) => ({ tool, arguments: given, status })))
    cursor = page.nextCursor
  }
  return found.toReversed() // the list has the newest first
}

function spentOn(rows: readonly RecordedEvent[], events: readonly JournalEvent[]): EvalSpent {
  const { totals } = toTimeline(rows)
  const { ms, waitingMs, modelMs, calls, cost, inputTokens, outputTokens } = totals
  return {
    ...{ costUsd: cost, inputTokens, outputTokens, toolCalls: calls, modelMs },
    modelCalls: events.reduce((sum, event) => sum + askedIn(event), 0),
    ms: Math.max(0, ms - waitingMs),
  }
}

/** The number of model calls that this event stands for. */
function askedIn(event: JournalEvent): number {
  if (event.type === "message") return event.role === "assistant" ? 1 : 0
  return "asked" in event && event.asked ? event.asked.tries : 0
}

function answeredValue(events: readonly JournalEvent[]): unknown {
  const answered = events.findLast((event) => event.type === "step" && event.step === "answer")
  const detail = answered?.type === "step" ? (answered.detail as { fits?: boolean; value?: unknown }) : undefined
  return detail?.fits ? detail.value : undefined
}

/**
 * Sums the cost of all runs of an environment, including judges, for a case that could not finish. Null if it cannot be
 * read.
 */
export async function spentIn(client: Client): Promise<EvalSpent> {
  try {
    let spent = NOTHING_SPENT
    for (const { id } of await readPages((query) => client.listConversations({ query }))) {
      const runs = await readPages((query) => client.listRuns({ params: { id }, query }))
      for (const run of runs) spent = addSpent(spent, (await recordRun(client, run.id)).spent)
    }
    return spent
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    return { ...NOTHING_SPENT, costUsd: null }
  }
}
