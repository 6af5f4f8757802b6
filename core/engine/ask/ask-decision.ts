import type { PaidBy, Usage } from "../../protocol/conversation/message.ts"
import type { RecordedModelCall } from "../../protocol/conversation/stages.ts"
import { AppError, codeOf, failure, hasCode } from "../../protocol/errors.ts"
import { withTimeLimit } from "../../shared/concurrency/time-limit.ts"
import { showHidden } from "../../shared/text/show-hidden.ts"
import { readJson } from "../../shared/text/read-json.ts"
import { addUsage } from "../add-usage.ts"
import { parse, type Schema } from "../definition/schema.ts"
import { currentModel, fallBack, spare } from "../fallback.ts"
import { messageText } from "../history/history.ts"
import { digestAside } from "../history/request-digest.ts"
import { estimateTokens } from "../history/tokens.ts"
import type { HistoryMessage, Model, ModelRequest, Price } from "../model.ts"
import { runTimeout } from "../next-step.ts"
import type { Reservation, Spent } from "../ports.ts"
import { failedEnd, record, type Stop, type Work } from "../record.ts"
import { Reply, recordStatus, streamReply } from "./reply.ts"

/** How many answers are requested until one fits. */
const TRIES = 3
/** A decision is short. */
const SECONDS = 60
const AGAIN = "Send the JSON object again, whole and mended, and nothing else."

interface DecisionQuestion<Answer> {
  /** The name of the decision, such as `guardrail`. */
  readonly name: string
  readonly instructions: string
  readonly text: string
  readonly answer: Schema<Answer>
}

interface AsideAnswer<Answer> {
  /** Undefined if no answer fitted; `problem` says why. */
  readonly value?: Answer
  readonly problem?: string
  readonly asked?: RecordedModelCall
  /** Reserved costs, to be released after `asked` is recorded. */
  readonly reservations: readonly Reservation[]
}

/**
 * Asks the conversation's model for a decision as JSON. Nothing of it is shown or becomes part of the history; the
 * caller records the result. An answer that does not fit is sent back with the problem, a limited number of times. A
 * failure of the provider is returned as `problem`. Returns undefined if the work was stopped, or if the run changed to
 * another model: then there is nothing to record.
 */
export async function askDecision<Answer>(
  work: Work,
  question: DecisionQuestion<Answer>,
): Promise<AsideAnswer<Answer> | undefined> {
  const { conversation, ports } = work
  const first = decisionRequest(question)
  const history: HistoryMessage[] = [...first.history]
  const reservations: Reservation[] = []
  let usage: Usage | undefined
  let problem = "no answer came"
  let model: Model | undefined
  let tries = 0
  try {
    model = await currentModel(work)
    const spared = await spare(work, model)
    if (spared) return void (await record(work, [spared]))
    if (model.decides === false) return { problem: `${model.name} is no judge`, reservations }
    while (tries < TRIES) {
      tries++
      const reply = await requestReply(work, { model, request: { ...first, history: [...history] }, reservations })
      const used = accounted(model, reply.usage, reservations.at(-1))
      if (used) usage = { ...used, ...addUsage(usage, used) }
      const read = await toAnswer(question.answer, messageText(reply.parts))
      const asked = { model: model.name, ...digestAside(first), tries, ...(usage ? { usage } : {}) }
      if ("value" in read) return { value: read.value, asked, reservations }
      problem = read.problem
      const text = messageText(reply.parts).trim() || "(nothing)"
      history.push(
        { role: "assistant", parts: [{ type: "text", text }] },
        { role: "user", text: `${problem} ${AGAIN}` },
      )
    }
  } catch (error) {
    if (work.signal.aborted) {
      // An answer that is not recorded was still paid for.
      for (const reservation of reservations)
        await settle(
          work,
          reservation,
          estimateOf(reservation, new Reply(reservation.model.name, conversation.user, work.ports.clock)),
        )
      return stoppedDecision(work)
    }
    if (hasCode(error, "store_unavailable")) throw error
    // Before a first answer another model may decide instead. The change is recorded, and the loop asks for this
    // decision again.
    const from = model?.name ?? conversation.run?.fallback?.model ?? conversation.model ?? ""
    const next = tries <= 1 ? await fallBack(work, from, error) : undefined
    if (next) return void (await record(work, [next]))
    if (!(error instanceof AppError)) ports.log.warn("ask_aside_failed", { conversation: conversation.id, error })
    problem = codeOf(error) ?? "internal"
  }
  const asked = model && { model: model.name, ...digestAside(first), tries, ...(usage ? { usage } : {}) }
  return { problem, reservations, ...(asked ? { asked } : {}) }
}

/** The first request for a decision. */
export const decisionRequest = (question: DecisionQuestion<unknown>): ModelRequest => ({
  system: `${question.instructions}\n\nAnswer with one JSON object that fits this schema, and nothing else:\n${schemaOf(question)}`,
  history: [{ role: "user", text: showHidden(question.text) }],
  tools: [],
  toolChoice: "none",
  answers: question.name,
})

/** A cancel is in the inbox and ends the run with the next step; a run timeout ends it now. */
export async function stoppedDecision(work: Work): Promise<undefined> {
  const { conversation, ports, signal } = work
  const why = signal.reason as Stop
  if (why === "shutdown") throw signal.reason
  if (why === "cancel") return undefined
  await record(work, [failedEnd(conversation, runTimeout(ports.limits))])
  return undefined
}

interface Asking {
  readonly model: Model
  readonly request: ModelRequest
  readonly reservations: Reservation[]
  /** The time limit. A model that sends nothing is given up much earlier. */
  readonly seconds?: number
}

export async function requestReply(work: Work, asking: Asking): Promise<Reply> {
  const { model, request, reservations, seconds = SECONDS } = asking
  const { conversation, ports, signal } = work
  signal.throwIfAborted()
  const reservation = await reserve(work, model, {
    request,
    historyTokens: estimateTokens(JSON.stringify(request.history)),
  })
  const bounded = reservation ? { ...request, maxOutputTokens: reservation.maxOutputTokens } : request
  const reply = new Reply(model.name, conversation.user, ports.clock)
  const bounds = { clock: ports.clock, seconds, signal, graceMs: 0 }
  const ended = await withTimeLimit<unknown>(bounds, (inner) =>
    streamReply(
      { model, request: bounded, signal: inner(), tell: recordStatus(work, model.name) },
      (part) => void reply.add(part),
    ),
  )
  if (ended.type === "returned") {
    if (reservation) reservations.push(reservation)
    return reply
  }
  // Providers do not charge for an error before the first token, but for an interrupted reply.
  if (reservation)
    await settle(work, reservation, reply.offset > 0 || signal.aborted ? estimateOf(reservation, reply) : undefined)
  signal.throwIfAborted()
  if (ended.type === "threw") throw ended.error
  ended.rest.catch(() => {}) // the result comes too late
  throw failure("provider_error", { provider: model.provider, problem: `no answer came within ${seconds} s` })
}

/** Accepts what models write around JSON: a code fence, or text before it. */
async function toAnswer<Answer>(schema: Schema<Answer>, text: string) {
  const from = text.indexOf("{")
  const to = text.lastIndexOf("}")
  if (from < 0 || to < from) return { problem: "There is no JSON object in this answer." }
  let value: unknown
  try {
    value = readJson(text.slice(from, to + 1))
  } catch (error) {
    return { problem: `This is not valid JSON: ${(error as Error).message.slice(0, 200)}.` }
  }
  const parsed = await parse(schema, value)
  return "problem" in parsed ? { problem: `This does not fit: ${parsed.problem.slice(0, 500)}.` } : parsed
}

function schemaOf({ answer }: DecisionQuestion<unknown>): string {
  const { $schema: _, ...json } = answer["~standard"].jsonSchema.input({ target: "draft-07" })
  return JSON.stringify(json)
}

/** The cost in dollars, rounded to a millionth; null if the price or the token counts are unknown. */
export function costOf(price: Price | null, usage: Usage): number | null {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = usage
  if (!price || inputTokens === null || outputTokens === null) return null
  const [cached, written] = [cachedTokens ?? 0, cacheWriteTokens ?? 0]
  const plain = Math.max(inputTokens - cached - written, 0)
  const input =
    plain * price.input + cached * (price.cached ?? price.input) + written * (price.cacheWrite ?? price.input)
  return Math.round(input + outputTokens * price.output) / 1_000_000
}

/** The usage of a whole reply as recorded: with its cost and who pays, if the model has a price. */
export function accounted(
  model: Model,
  usage: Usage | undefined,
  reservation: Reservation | undefined,
): Usage | undefined {
  const { price, provider, paidBy = "shared" } = model
  if (price === undefined || !usage) return usage
  // Under a cost limit, calls without token counts are not free: they cost what was reserved.
  const cost = costOf(price, usage) ?? reservation?.cost ?? null
  return { ...usage, cost, provider, paidBy }
}

/** Reserves the highest possible cost of a request. Throws `over_budget`; then the request must not be sent. */
export async function reserve(
  { conversation, ports }: Work,
  model: Model,
  { request, historyTokens }: { readonly request: ModelRequest; readonly historyTokens: number },
): Promise<Reservation | undefined> {
  const { id, user, run } = conversation
  if (!ports.budget || !run) return undefined
  const aside = request.tools.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0)
  const inputTokens = historyTokens + estimateTokens(request.system) + aside
  const maxOutputTokens = request.settings?.maxOutputTokens
  return ports.budget.reserve({
    conversation: id,
    run: run.id,
    rootRun: run.rootRun,
    user,
    model,
    inputTokens,
    maxOutputTokens,
  })
}

/** Releases a reservation. If that fails, it expires by itself. */
export async function settle({ conversation, ports }: Work, reservation: Reservation, spent?: Spent): Promise<void> {
  await ports.budget?.settle(reservation, spent).catch((error: unknown) => {
    ports.log.warn("settle_failed", { conversation: conversation.id, error })
  })
}

/** The estimated charge for an interrupted reply: the whole request and the text that arrived. */
export function estimateOf(reservation: Reservation, reply: Reply): Spent {
  const { model, inputTokens } = reservation
  const outputTokens = estimateTokens(reply.shown)
  const paidBy: PaidBy = model.paidBy ?? "shared"
  const cost = costOf(model.price ?? null, { inputTokens, outputTokens }) ?? reservation.cost
  return { model: model.name, provider: model.provider, paidBy, inputTokens, outputTokens, cost }
}
