import { createHash } from "node:crypto"
import type { NewEvent } from "../../protocol/events.ts"
import { showHidden } from "../../shared/text/show-hidden.ts"
import type { CallId } from "../../protocol/ids.ts"
import type { Conversation } from "../conversation.ts"
import { currentModel, fallBack } from "../fallback.ts"
import { estimateTokens } from "../history/tokens.ts"
import { Reply, recordStatus, streamReply } from "../ask/reply.ts"
import type { HistoryMessage, Model, ModelRequest, ReplyPart } from "../model.ts"
import type { Reservation } from "../ports.ts"
import { record, type Work } from "../record.ts"
import { TOOL_MODEL_CALL } from "../definition/stages.ts"
import { accounted, estimateOf, reserve, settle } from "../ask/ask-decision.ts"

export interface AskingCall {
  readonly id: CallId
  readonly name: string
}

/**
 * The conversation's model for a tool. Requests count against the same limits and on the same bill as those of the
 * loop. The parts arrive after the reply is whole and recorded, because a tool shows them to no user.
 */
export function modelForTool(work: Work, call: AskingCall, model: Model): Model {
  const { name, provider, contextTokens, price, paidBy, decides } = model
  return {
    name,
    provider,
    contextTokens,
    ...(price === undefined ? {} : { price }),
    ...(paidBy === undefined ? {} : { paidBy }),
    ...(decides === undefined ? {} : { decides }),
    async *stream(request, signal) {
      yield* await inTurn(work, () => ask(work, call, { model, request, signal }))
    },
  }
}

interface Question {
  readonly model: Model
  readonly request: ModelRequest
  readonly signal: AbortSignal
}

/** No reply is shown before it is whole, so another model can always answer instead. */
async function ask(work: Work, call: AskingCall, question: Question): Promise<ReplyPart[]> {
  try {
    return await askOnce(work, call, question)
  } catch (error) {
    const { model, signal } = question
    if (signal.aborted) throw error
    // Another tool's request may have failed first, and the run has changed the model already.
    if ((await currentModel(work)).name === model.name) {
      const next = await fallBack(work, model.name, error)
      if (!next) throw error
      await record(work, [next])
    }
    return ask(work, call, { ...question, model: await currentModel(work) })
  }
}

async function askOnce(work: Work, call: AskingCall, question: Question): Promise<ReplyPart[]> {
  const { model, signal } = question
  signal.throwIfAborted()
  const request = withoutHiding(question.request)
  const historyTokens = request.history.reduce((sum, turn) => sum + estimateTokens(textOf(turn)), 0)
  const reservation = await reserve(work, model, { request, historyTokens })
  const bounded = reservation ? { ...request, maxOutputTokens: reservation.maxOutputTokens } : request
  const reply = new Reply(model.name, work.conversation.user, work.ports.clock)
  const parts: ReplyPart[] = []
  try {
    await streamReply({ model, request: bounded, signal, tell: recordStatus(work, model.name) }, (part) => {
      reply.add(part)
      parts.push(part)
    })
    // The call was stopped: it is settled, and another node may be the writer. Record nothing.
    signal.throwIfAborted()
  } catch (error) {
    const begun = signal.aborted || reply.offset > 0
    if (reservation) await settle(work, reservation, begun ? estimateOf(reservation, reply) : undefined)
    throw error
  }
  await record(work, [toStep(call, { model, request, reply, reservation })])
  if (reservation) await settle(work, reservation)
  return parts
}

/** Tools often ask about untrusted text: documents, pages, cells of a database. */
const withoutHiding = (request: ModelRequest): ModelRequest => ({
  ...request,
  system: showHidden(request.system),
  history: request.history.map((turn) => (turn.role === "user" ? { ...turn, text: showHidden(turn.text) } : turn)),
})

interface Whole {
  readonly model: Model
  readonly request: ModelRequest
  readonly reply: Reply
  readonly reservation: Reservation | undefined
}

function toStep({ id, name }: AskingCall, { model, request, reply, reservation }: Whole): NewEvent {
  const usage = accounted(model, reply.usage, reservation)
  const promptHash = createHash("sha256").update(request.system).digest("hex")
  const asked = { model: model.name, promptHash, tries: 1, ...(usage ? { usage } : {}) }
  return { type: "step", step: TOOL_MODEL_CALL, detail: { callId: id, tool: name }, asked }
}

const textOf = (turn: HistoryMessage): string => {
  if (turn.role === "user") return turn.text
  return JSON.stringify(turn.role === "assistant" ? turn.parts : turn.results)
}

const turns = new WeakMap<Conversation, Promise<unknown>>()

/** A conversation has one reservation. Under a cost limit, concurrent tools ask one after another. */
function inTurn<T>({ conversation, ports }: Work, question: () => Promise<T>): Promise<T> {
  if (!ports.budget) return question()
  const asked = (turns.get(conversation) ?? Promise.resolve()).then(question)
  turns.set(
    conversation,
    asked.catch(() => {}),
  )
  return asked
}
