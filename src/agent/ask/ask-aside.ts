import { AppError, codeOf, failure, hasCode } from "../../protocol/errors.ts"
import type { Usage } from "../../protocol/conversation/message.ts"
import type { AskedModel } from "../../protocol/conversation/stages.ts"
import { showHidden } from "../../protocol/text/hidden-words.ts"
import { addUsage } from "../add-usage.ts"
import { currentModel, fallBack, spare } from "../fallback.ts"
import { failedEnd } from "../give-up.ts"
import { messageText } from "../history/parts.ts"
import { digestAside } from "../history/question-digest.ts"
import { estimateTokens } from "../history/tokens.ts"
import { streamReply } from "./stream-reply.ts"
import type { HistoryMessage, Model, ModelRequest } from "../model.ts"
import type { Reservation } from "../ports.ts"
import { record, type Stop, type Work } from "../record.ts"
import { Reply } from "./reply.ts"
import { parse, type Schema } from "../definition/schema.ts"
import { accounted, estimateOf, reserve, settle } from "./spend.ts"
import { reportBeside } from "./report-beside.ts"
import { withTimeLimit } from "../concurrency/time-limit.ts"

/** A decision is asked for so often until its answer fits. */
const TRIES = 3
/** For a decision, which is short. */
const SECONDS = 60
const AGAIN = "Send the JSON object again, whole and mended, and nothing else."

export interface AsideQuestion<Answer> {
  /** What is decided, such as `guardrail`. */
  readonly name: string
  readonly instructions: string
  readonly text: string
  readonly answer: Schema<Answer>
}

export interface AsideAnswer<Answer> {
  /** Undefined where none fitted, and then `problem` says why. */
  readonly value?: Answer
  readonly problem?: string
  readonly asked?: AskedModel
  /** What was set aside for it, to be let go of once `asked` is on record. */
  readonly reservations: readonly Reservation[]
}

/**
 * Asks the conversation's model for a decision in JSON, beside the conversation: nothing of it is shown or remembered but
 * what the caller records. An answer that does not fit is sent back with what is wrong with it, a bounded number of times.
 * A provider that fails is a `problem`. Undefined where the work was stopped, or where the run has gone over to another
 * model: then there is nothing to record.
 */
export async function askAside<Answer>(
  work: Work,
  question: AsideQuestion<Answer>,
): Promise<AsideAnswer<Answer> | undefined> {
  const { conversation, ports } = work
  const first = asideRequest(question)
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
      const reply = await askWhole(work, { model, request: { ...first, history: [...history] }, reservations })
      const used = accounted(model, reply.usage, reservations.at(-1))
      if (used) usage = { ...used, ...addUsage(usage, used) }
      const read = await toAnswer(question.answer, messageText(reply.parts))
      const asked = { model: model.name, ...digestAside(first), tries, ...(usage ? { usage } : {}) }
      if ("value" in read) return { value: read.value, asked, reservations }
      problem = read.problem
      const said = messageText(reply.parts).trim() || "(nothing)"
      history.push(
        { role: "assistant", parts: [{ type: "text", text: said }] },
        { role: "user", text: `${problem} ${AGAIN}` },
      )
    }
  } catch (error) {
    if (work.signal.aborted) {
      // What was answered before that is on no record, and has to be paid for all the same.
      for (const reservation of reservations)
        await settle(
          work,
          reservation,
          estimateOf(reservation, new Reply(reservation.model.name, conversation.user, work.ports.clock)),
        )
      return stoppedAside(work)
    }
    if (hasCode(error, "store_unavailable")) throw error
    // Before it has answered once another one may decide in its place: recorded, and the loop asks for this decision again.
    const from = model?.name ?? conversation.run?.fallback?.model ?? conversation.model ?? ""
    const next = tries <= 1 ? await fallBack(work, from, error) : undefined
    if (next) return void (await record(work, [next]))
    if (!(error instanceof AppError)) ports.log.warn("ask_aside_failed", { conversation: conversation.id, error })
    problem = codeOf(error) ?? "internal"
  }
  const asked = model && { model: model.name, ...digestAside(first), tries, ...(usage ? { usage } : {}) }
  return { problem, reservations, ...(asked ? { asked } : {}) }
}

/** What a model is asked first for a decision. */
export const asideRequest = (question: AsideQuestion<unknown>): ModelRequest => ({
  system: `${question.instructions}\n\nAnswer with one JSON object that fits this schema, and nothing else:\n${schemaOf(question)}`,
  history: [{ role: "user", text: showHidden(question.text) }],
  tools: [],
  toolChoice: "none",
  answers: question.name,
})

/** A cancel is in the inbox, and ends the run with the next step; time that is up ends it here. */
export async function stoppedAside(work: Work): Promise<undefined> {
  const { conversation, ports, signal } = work
  const why = signal.reason as Stop
  if (why === "shutdown") throw signal.reason
  if (why === "cancel") return undefined
  await record(work, [failedEnd(conversation, failure("run_timeout", { seconds: ports.limits.runSeconds }))])
  return undefined
}

interface Asking {
  readonly model: Model
  readonly request: ModelRequest
  readonly reservations: Reservation[]
  /** How long it may take; a model that says nothing at all is given up long before. */
  readonly seconds?: number
}

export async function askWhole(work: Work, asking: Asking): Promise<Reply> {
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
      { model, request: bounded, signal: inner(), tell: reportBeside(work, model.name) },
      (part) => void reply.add(part),
    ),
  )
  if (ended.type === "returned") {
    if (reservation) reservations.push(reservation)
    return reply
  }
  // An error before the first word is charged by nobody; a reply that was stopped or broke later is.
  if (reservation)
    await settle(work, reservation, reply.offset > 0 || signal.aborted ? estimateOf(reservation, reply) : undefined)
  signal.throwIfAborted()
  if (ended.type === "threw") throw ended.error
  ended.rest.catch(() => {}) // what it says comes too late for anyone
  throw failure("provider_error", { provider: model.provider, problem: `no answer came within ${seconds} s` })
}

/** Tolerates what models put around JSON: a fence, a word before it. */
async function toAnswer<Answer>(schema: Schema<Answer>, text: string) {
  const from = text.indexOf("{")
  const to = text.lastIndexOf("}")
  if (from < 0 || to < from) return { problem: "There is no JSON object in this answer." }
  let value: unknown
  try {
    value = JSON.parse(text.slice(from, to + 1))
  } catch (error) {
    return { problem: `This is not valid JSON: ${(error as Error).message.slice(0, 200)}.` }
  }
  const parsed = await parse(schema, value)
  return "problem" in parsed ? { problem: `This does not fit: ${parsed.problem.slice(0, 500)}.` } : parsed
}

function schemaOf({ answer }: AsideQuestion<unknown>): string {
  const { $schema: _, ...json } = answer["~standard"].jsonSchema.input({ target: "draft-07" })
  return JSON.stringify(json)
}
