import { AppError, codeOf, failure, hasCode } from "../../protocol/errors.ts"
import type { NewEvent } from "../../protocol/events.ts"
import { newId } from "../../protocol/ids.ts"
import type { Part } from "../../protocol/conversation/message.ts"
import { interruptedReply, Reply, recordStatus, streamReply } from "./reply.ts"
import type { Conversation } from "../conversation.ts"
import { failedEnd, record, type Stop, type Work } from "../record.ts"
import { runTimeout, type NextStep } from "../next-step.ts"
import { currentModel, failureOfAll, fallBack, spare } from "../fallback.ts"
import { cutPoint } from "../history/cut.ts"
import { messageText, resendableParts, rejectionOf, withoutCalls } from "../history/history.ts"
import type { Model, ReplyPart } from "../model.ts"
import { toolsToShow } from "../declared-tools.ts"
import type { Reservation } from "../ports.ts"
import { stageRecords } from "./stage-events.ts"
import { digestRequest } from "../history/request-digest.ts"
import { joinTools } from "./join-tools.ts"
import { shortenHistory } from "./shorten-history.ts"
import { ground, toRequest } from "./to-request.ts"
import { checkAnswerSchema } from "./answer-schema.ts"
import { withFiles } from "./with-files.ts"
import { accounted, estimateOf, reserve, settle } from "./ask-decision.ts"

/** Asks the model once and records its whole reply. Text is shown as it arrives; only whole parts are recorded. */
export async function askModel(work: Work, { toolChoice }: Extract<NextStep, { type: "ask-model" }>): Promise<void> {
  const { conversation, agent, ports } = work
  let model: Model
  try {
    model = await currentModel(work)
  } catch (error) {
    // The store could not read the user's API keys. The run is not at fault, and it is tried again.
    if (hasCode(error, "store_unavailable")) throw error
    return broken(work, conversation.run?.fallback?.model ?? conversation.model ?? "", error)
  }
  const joined = await joinTools(work)
  if (joined) return record(work, [joined])
  const spared = await spare(work, model)
  if (spared) return record(work, [spared])
  if (model.takesTools === false && toolsToShow(conversation, agent).length > 0)
    return broken(work, model.name, failure("model_lacks_tools", { model: model.name, agent: agent.name }))
  const room = shortenHistory(work, model)
  if (room) return record(work, [room])
  const grounding = agent.ground ? await ground(work, agent.ground, model) : ""
  if (grounding === undefined) return stopped(work, new Reply(model.name, conversation.user, ports.clock))
  const asked = toRequest(work, { model, toolChoice, grounding })
  const request = await withFiles(work, model, asked)
  if (!request) return stopped(work, new Reply(model.name, conversation.user, ports.clock))
  let reservation: Reservation | undefined
  try {
    if (ports.budget) reservation = await reserve(work, model, { request, historyTokens: conversation.tokens })
  } catch (error) {
    if (!hasCode(error, "over_budget")) throw error
    return broken(work, model.name, error)
  }
  // Before the request is sent, because status parts change the history while the reply arrives.
  const digest = digestRequest(asked, request, conversation.history)
  const bounded = reservation ? { ...request, maxOutputTokens: reservation.maxOutputTokens } : request
  const reply = new Reply(model.name, conversation.user, ports.clock)
  let isCut = false
  try {
    const { signal } = work
    const most = ports.limits.replyCharacters
    const think = (text: string) => publishThought(work, reply, reply.thinking.more(text))
    const asking = { model, request: bounded, signal, most, tell: recordStatus(work, model.name), think }
    isCut = (await streamReply(asking, (part) => publishText(work, reply, part))) === "cut"
  } catch (error) {
    // Our own failure, not the provider's: a wait could not be recorded.
    if (hasCode(error, "store_unavailable") || hasCode(error, "lease_lost")) throw error
    // Providers do not charge for an error before the first token, but for an interrupted reply.
    const begun = work.signal.aborted || reply.offset > 0
    if (reservation) await settle(work, reservation, begun ? estimateOf(reservation, reply) : undefined)
    return work.signal.aborted ? stopped(work, reply) : broken(work, model.name, error, reply)
  }
  const ends = reply.calls === 0 && reply.finish === "stop" && !isCut
  const judged = ends ? await checkAnswerSchema(work, messageText(reply.parts)) : undefined
  await record(work, await toEvents(work, { reply, isCut, model, toolChoice, reservation, judged, digest }))
  // After its cost is recorded. In between it counts twice, so that the limit cannot be exceeded.
  if (reservation) await settle(work, reservation)
}

/** Sends text to the clients as it arrives, after the recorded events. */
function publishText(work: Work, reply: Reply, part: ReplyPart): void {
  const { conversation, ports } = work
  const { id, position } = conversation
  const text = reply.add(part)
  if (text) ports.bus.publish(id, { type: "text_delta", position, offset: reply.offset, text, reply })
  if (part.type === "reasoning") publishThought(work, reply, reply.thoughtToShow)
}

function publishThought({ conversation: { id, position }, ports }: Work, { thinking }: Reply, text: string): void {
  if (text === "") return
  ports.bus.publish(id, { type: "reasoning_delta", position, offset: thinking.offset, text, ms: thinking.ms })
}

interface Whole {
  readonly reply: Reply
  /** It exceeded the most characters of a reply. */
  readonly isCut: boolean
  readonly model: Model
  readonly toolChoice: "auto" | "none"
  readonly reservation: Reservation | undefined
  /** Events for an answer that must fit a schema. */
  readonly judged: readonly NewEvent[] | undefined
  /** The digest of its request. */
  readonly digest: string
}

async function toEvents({ conversation, agent: { stages } }: Work, whole: Whole): Promise<NewEvent[]> {
  const { reply, isCut, model, toolChoice, reservation, judged, digest } = whole
  // If the model calls tools although it was asked for text, its calls are dropped, because they would not run.
  const parts = toolChoice === "none" ? withoutCalls(reply.parts) : reply.parts
  const hasContent = resendableParts(parts).length > 0
  const calledInstead = !hasContent && reply.parts.length > parts.length
  const { run } = conversation
  // Asked once more with a hint. The state counts these, so that a crash does not repeat them.
  const isAskedAgain = calledInstead && !isCut && run?.wordless === 0
  const { data, steps } = stages && !isAskedAgain ? await stageRecords(stages, conversation, parts) : NO_STAGES
  const message = {
    ...toMessage(conversation, parts),
    finish: calledInstead ? ("calls" as const) : reply.finish,
    model: model.name,
    usage: accounted(model, reply.usage, reservation),
    ...(data ? { data } : {}),
    request: digest,
  }
  if (parts.some((part) => part.type === "call")) return [message, ...steps]
  if (isAskedAgain) return [message]
  if (judged) return [message, ...steps, ...judged]
  const isLimit = hasContent && toolChoice === "none" && run !== undefined && run.iteration >= run.maxIterations
  const ending = reply.finish === "stop" || reply.finish === "calls" ? undefined : reply.finish
  const other = isLimit ? "iteration_limit" : (ending ?? (hasContent ? undefined : "empty_reply"))
  const reason = isCut ? "reply_limit" : other
  return [message, ...steps, { type: "run_ended", status: "completed", ...(reason ? { reason } : {}) }]
}

const NO_STAGES = { data: undefined, steps: [] }

const toMessage = ({ user, seq }: Conversation, parts: Part[]) =>
  ({ type: "message", id: newId("msg", user), seq: seq + 1, role: "assistant", parts }) as const

/** Stopped by a user or a limit. The text that was shown is recorded and marked as interrupted. */
async function stopped(work: Work, reply: Reply): Promise<void> {
  const { conversation, ports, signal } = work
  const why = signal.reason as Stop
  if (why === "shutdown") throw signal.reason
  const events = await interruptedReply(work, why === "cancel" ? "cancelled" : "broken", reply.shownParts())
  if (why === "run_timeout") {
    events.push(failedEnd(conversation, runTimeout(ports.limits)))
  }
  // The cancel is in the inbox and ends the run with the next step.
  if (events.length > 0) await record(work, events)
}

/**
 * The provider failed. A retriable error is retried, visibly. Before the first visible text another model of the list
 * may be asked. Otherwise the run ends with an error, and the text that was shown last is recorded and marked as
 * interrupted.
 */
async function broken(work: Work, model: string, error: unknown, reply?: Reply): Promise<void> {
  const { conversation, ports } = work
  const code = codeOf(error) ?? "internal"
  const message = error instanceof AppError ? error.message : failure("internal").message
  if (!(error instanceof AppError)) ports.log.error("ask_model_failed", { conversation: conversation.id, error })
  const next = reply && reply.offset > 0 ? undefined : await fallBack(work, model, error)
  if (next) return record(work, [next])
  const cut = code === "context_overflow" ? cutPoint(conversation, conversation.tokens / 2) : undefined
  if (cut) return record(work, [{ type: "history_cut", ...cut }])
  // Before its first part, `#openWithRetries` of models/providers/provider-model.ts has retried already. After that only
  // the loop may retry, because it tells the user.
  const retriable =
    error instanceof AppError && error.details.retriable === true && reply !== undefined && reply.hasBegun
  const restarts = conversation.run?.restarts ?? 0
  if (retriable && restarts + 1 < ports.limits.restarts) {
    // An attempt that had only thought does not replace text that an earlier attempt had shown.
    const shown = reply.offset > 0 ? { shown: reply.shown } : {}
    return record(work, [{ type: "restarted", because: "provider", detail: code, ...shown }])
  }
  return record(work, [
    ...(await interruptedReply(work, "broken", reply?.shownParts())),
    failedEnd(conversation, failureOfAll(work, model, { code, message }), rejectionOf(error)),
  ])
}
