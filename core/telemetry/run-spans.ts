import { addUsage } from "../engine/add-usage.ts"
import type { Usage } from "../protocol/conversation/message.ts"
import { type RecordedModelCall, Waiting } from "../protocol/conversation/stages.ts"
import type { EventOf, JournalEvent } from "../protocol/events.ts"
import type { CallId, ConversationId, ProposalId, RunId } from "../protocol/ids.ts"
import { callContent, messageContent, modelAttributes, providerName, usageAttributes } from "./attributes.ts"
import { rootIdOf, type RunSpan, type SpanAttributes, spanIdOf, type SpanEvent } from "./span.ts"

/** One run as the journal recorded it. */
export interface RecordedRun {
  readonly conversation: ConversationId
  readonly agent: string
  /** From its start, without a gap. */
  readonly events: readonly [EventOf<"run_started">, ...JournalEvent[]]
}

interface SpanOptions {
  readonly content: boolean
  /** When the first token of the reply between these times arrived, if this process saw it. */
  firstToken?(from: number, to: number): number | undefined
}

/** A span with the position of the event that ended it. */
export interface PositionedSpan extends RunSpan {
  readonly position: number
}

/**
 * All spans of a run that have ended so far, in that order. Pure: every process gets the same spans from the same
 * journal. The journal does not record when a model was called, so a model call starts when the event before it was
 * recorded.
 */
export function runSpans(run: RecordedRun, options: SpanOptions): PositionedSpan[] {
  const builder = new RunSpanBuilder(run, options)
  for (const event of run.events) builder.add(event)
  return builder.spans
}

class RunSpanBuilder {
  readonly spans: PositionedSpan[] = []
  readonly #run: RecordedRun
  readonly #options: SpanOptions
  readonly #start: EventOf<"run_started">
  readonly #steps: StepSpans
  readonly #spanEvents: SpanEvent[] = []
  #position = 0
  /** The time of the previous event: a model call starts then. */
  #previousAt: number
  /** Whether the next step is a model call, as far as the journal shows. */
  #isModelNext = true
  #model: string | undefined
  #usage: Usage | undefined
  #provider: string | undefined
  #inputContent: SpanAttributes = {}

  constructor(run: RecordedRun, options: SpanOptions) {
    this.#run = run
    this.#options = options
    this.#start = run.events[0]
    this.#previousAt = this.#start.at
    this.#steps = new StepSpans(this.#start.runId, options.content, (span) => this.#addSpan(span))
  }

  add(event: JournalEvent): void {
    this.#position = event.position
    this.#apply(event)
    // These events report on a model call without ending it.
    const { type } = event
    if (type === "settings" || (type === "step" && (event.step === "waiting" || event.step === "left_out"))) return
    this.#previousAt = event.at
  }

  #apply(event: JournalEvent): void {
    switch (event.type) {
      case "message":
        return event.role === "user" ? this.#addUserMessage(event) : this.#addReply(event)
      case "step":
        if (event.step === "waiting") return this.#addSpanEvent("waiting", event.at, waitingAttributes(event.detail))
        return this.#addStage(event.step, event.asked, event.at)
      case "compaction":
        return event.asked && this.#addStage("compaction", event.asked, event.at)
      case "tool_start":
      case "handed_over":
        return this.#steps.start(event)
      case "tool_end":
        this.#steps.result(event)
        this.#isModelNext = !this.#steps.hasOpenCalls
        return undefined
      case "awaiting_confirmation":
        return event.proposals.forEach(({ id, callId }) => this.#steps.propose(id, callId, event.at))
      case "proposal":
        if (event.approvedBy === undefined) this.#steps.propose(event.proposal.id, event.proposal.callId, event.at)
        return undefined
      case "decision":
        return this.#steps.decide(event)
      case "in_doubt":
        return this.#steps.doubt(event)
      case "resolution":
        return this.#steps.resolve(event.callId, event.choice, event.at)
      case "restarted":
        this.#addFailedAttempt(event.at, event.detail ?? event.because)
        return this.#addSpanEvent("restarted", event.at, { "pawl.restart.because": event.because })
      case "fallback":
        if (!event.earlier) this.#addFailedAttempt(event.at, event.because, event.from)
        return this.#addSpanEvent("fallback", event.at, {
          "pawl.fallback.from": event.from,
          "pawl.fallback.to": event.to,
        })
      case "run_ended":
        return this.#endRun(event)
      default:
        return undefined
    }
  }

  #addUserMessage(event: EventOf<"message">): void {
    if (this.#options.content) this.#inputContent = messageContent(event)
    this.#isModelNext = !this.#steps.hasOpenCalls
  }

  #addReply(event: EventOf<"message">): void {
    const { model, usage, finish, position, at } = event
    this.#model = model ?? this.#model
    this.#addUsage(usage)
    // The reply of a run that undoes or repeats a proposal was written by Pawl, not by a model.
    const isOurs = this.#start.undoes !== undefined || this.#start.again !== undefined
    const from = this.#previousAt
    const step = this.#steps.stepAt(from)
    if (!isOurs) {
      const first = this.#options.firstToken?.(from, at)
      const attributes = {
        ...modelAttributes(model, usage, finish),
        "gen_ai.response.time_to_first_chunk": first === undefined ? undefined : Math.max(0, first - from) / 1000,
        ...(this.#options.content ? { ...this.#inputContent, ...messageContent(event) } : {}),
      }
      this.#inputContent = {}
      const error = finish === "broken" || finish === "cancelled" ? finish : undefined
      this.#addSpan({ ...toChat(model, { from, to: at, attributes, error }), what: `chat ${position}`, parent: step })
    }
    this.#steps.reply(event)
    this.#isModelNext = false
  }

  /** A decision next to the replies. Without a model call it becomes a span event. */
  #addStage(step: string, asked: RecordedModelCall | undefined, at: number): void {
    if (!asked) return this.#addSpanEvent(step, at)
    const [from, place] = [this.#previousAt, this.#position]
    const { runId } = this.#start
    const attributes = { ...modelAttributes(asked.model, asked.usage), "pawl.model.tries": asked.tries }
    this.#addUsage(asked.usage)
    const parent = spanIdOf(runId, `stage ${place}`)
    this.#addSpan({ ...toChat(asked.model, { from, to: at, attributes }), what: `chat ${place}`, parent })
    const of = { what: `stage ${place}`, parent: rootIdOf(runId), attributes: { "pawl.step.name": step } }
    this.#addSpan({ ...of, name: `step ${step}`, from, to: at })
  }

  /** A failed attempt: its process failed, or the provider did. */
  #addFailedAttempt(at: number, error: string, model?: string): void {
    if (!this.#isModelNext || this.#start.undoes || this.#start.again) return
    const from = this.#previousAt
    const parent = this.#steps.stepAt(from)
    const attributes = modelAttributes(model)
    this.#addSpan({ ...toChat(model, { from, to: at, attributes, error }), what: `chat ${this.#position}`, parent })
  }

  #endRun({ at, status, reason, error }: EventOf<"run_ended">): void {
    if (error && at > this.#previousAt) this.#addFailedAttempt(at, error.code)
    this.#steps.close(at)
    const { runId, at: from, trace } = this.#start
    const attributes = {
      ...this.#commonAttributes(),
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": this.#run.agent,
      "gen_ai.provider.name": this.#provider,
      "gen_ai.request.model": this.#model,
      ...usageAttributes(this.#usage),
      "pawl.run.status": status,
      "pawl.run.reason": reason,
    }
    const failed = status === "failed" ? (error?.code ?? "failed") : undefined
    this.spans.push({
      ...{ run: runId, id: rootIdOf(runId), parent: undefined, name: `invoke_agent ${this.#run.agent}` },
      ...{ kind: "internal", from, to: at, attributes, error: failed, events: this.#spanEvents },
      ...{ position: this.#position, callerTrace: trace },
    })
  }

  #addUsage(usage: Usage | undefined): void {
    if (usage) this.#usage = { ...addUsage(this.#usage, usage), ...addDetails(this.#usage, usage) }
    this.#provider = providerName(usage) ?? this.#provider
  }

  #addSpanEvent(name: string, at: number, attributes: SpanAttributes = {}): void {
    this.#spanEvents.push({ name, at, attributes })
  }

  #commonAttributes(): SpanAttributes {
    return { "gen_ai.conversation.id": this.#run.conversation, "pawl.run.id": this.#start.runId }
  }

  #addSpan({ what, attributes, error, kind = "internal", ...span }: EndedSpan): void {
    const { runId } = this.#start
    const all = { ...this.#commonAttributes(), ...attributes, ...(error === undefined ? {} : { "error.type": error }) }
    const id = spanIdOf(runId, what)
    this.spans.push({ ...span, kind, run: runId, id, attributes: all, error, position: this.#position })
  }
}

/** Why and when the provider is called again. Contains no text of a person or a model. */
function waitingAttributes(detail: unknown): SpanAttributes {
  const waiting = Waiting.safeParse(detail).data
  if (!waiting) return {}
  const { because, seconds, attempt } = waiting
  return { "pawl.retry.because": because, "pawl.retry.after_seconds": seconds, "pawl.retry.attempt": attempt }
}

/** The token details that `addUsage` leaves out. Undefined if no provider counted them. */
function addDetails(sum: Usage | undefined, usage: Usage): Partial<Usage> {
  const add = (of: "cachedTokens" | "cacheWriteTokens" | "reasoningTokens") => {
    const counted = [sum?.[of], usage[of]].filter((count) => typeof count === "number")
    return counted.length > 0 ? { [of]: counted.reduce((total, count) => total + count, 0) } : {}
  }
  return { ...add("cachedTokens"), ...add("cacheWriteTokens"), ...add("reasoningTokens") }
}

type Chat = Pick<EndedSpan, "from" | "to" | "attributes" | "error">

const toChat = (model: string | undefined, chat: Chat) =>
  ({ ...chat, name: model === undefined ? "chat" : `chat ${model}`, kind: "client" }) as const

interface OpenCall {
  readonly tool: string
  readonly input: object
  /** The step that it belongs to. */
  readonly step: OpenStep
  startedAt?: number
  /** The open proposal, and since when. */
  asked?: { readonly proposal: ProposalId; readonly at: number }
  /** Since when the call is in doubt, and the position of that event: several may share a millisecond. */
  doubt?: { readonly at: number; readonly position: number }
}

interface OpenStep {
  readonly id: string
  readonly number: number
  readonly from: number
  readonly calls: Set<CallId>
}

/** A span without the attributes that all spans of a run share. */
type EndedSpan = Pick<RunSpan, "name" | "from" | "to" | "attributes"> & {
  readonly what: string
  readonly parent: string
  readonly kind?: RunSpan["kind"]
  readonly error?: string | undefined
}

/** Results of calls that never started: they were refused, or not approved in time. */
const NEVER_STARTED: ReadonlySet<string> = new Set(["denied", "rejected", "expired", "superseded", "cancelled"])

/**
 * The steps of a run, with their tool calls and waits. A step is one reply of the model and the calls in it: it starts
 * with the model call and ends with the last of its tool calls.
 */
class StepSpans {
  readonly #run: RunId
  readonly #content: boolean
  readonly #onEnd: (span: EndedSpan) => void
  readonly #calls = new Map<CallId, OpenCall>()
  #step: OpenStep | undefined
  #addUsage = 0

  constructor(run: RunId, content: boolean, onEnd: (span: EndedSpan) => void) {
    this.#run = run
    this.#content = content
    this.#onEnd = onEnd
  }

  get hasOpenCalls(): boolean {
    return this.#calls.size > 0
  }

  /** The id of the open step, which is started if there is none. */
  stepAt(from: number): string {
    this.#step ??= this.#start(from)
    return this.#step.id
  }

  reply({ parts, at }: EventOf<"message">): void {
    this.stepAt(at)
    const step = this.#step as OpenStep
    for (const part of parts) {
      if (part.type !== "call") continue
      step.calls.add(part.id)
      this.#calls.set(part.id, { tool: part.name, input: part.input, step })
    }
    if (step.calls.size === 0) this.#endRun(step, at)
  }

  start({ callId, at }: EventOf<"tool_start" | "handed_over">): void {
    const call = this.#calls.get(callId)
    if (call) call.startedAt ??= at
  }

  propose(proposal: ProposalId, callId: CallId, at: number): void {
    const call = this.#calls.get(callId)
    if (call) call.asked = { proposal, at }
  }

  decide({ proposalId, decision, at }: EventOf<"decision">): void {
    for (const [id, call] of this.#calls) if (call.asked?.proposal === proposalId) this.#endWait(id, decision, at)
  }

  doubt({ callId, at, position }: EventOf<"in_doubt">): void {
    const call = this.#calls.get(callId)
    if (call) call.doubt ??= { at, position }
  }

  resolve(callId: CallId, choice: string, at: number): void {
    const call = this.#calls.get(callId)
    if (!call?.doubt) return
    const attributes = { "gen_ai.tool.name": call.tool, "gen_ai.tool.call.id": callId, "pawl.doubt.choice": choice }
    const { at: from, position } = call.doubt
    delete call.doubt
    this.#onEnd({
      what: `doubt ${position}`,
      parent: call.step.id,
      name: "wait in_doubt",
      from,
      to: at,
      attributes,
    })
  }

  result(event: EventOf<"tool_end">): void {
    const { callId, at } = event
    const call = this.#calls.get(callId)
    if (!call) return
    this.#endWait(callId, event.status, at)
    this.resolve(callId, event.status, at)
    this.#calls.delete(callId)
    if (call.startedAt !== undefined || !NEVER_STARTED.has(event.status)) this.#endCall(event, call)
    const { step } = call
    step.calls.delete(callId)
    if (step.calls.size === 0) this.#endRun(step, at)
  }

  /** Ends the open step, because the run has ended. */
  close(at: number): void {
    if (this.#step) this.#endRun(this.#step, at)
  }

  #endCall({ callId, status, ms, code, reusedFrom, text, at }: EventOf<"tool_end">, call: OpenCall): void {
    const attributes: SpanAttributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": call.tool,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": callId,
      "pawl.tool.status": status,
      "pawl.tool.reused_from": reusedFrom,
      ...(this.#content ? callContent(call.input, text) : {}),
    }
    const error = status === "ok" ? undefined : (code ?? status)
    // The start and end of a quick read are in one commit, so only the result knows how long it took.
    const from = Math.min(call.startedAt ?? at, at - ms)
    const name = `execute_tool ${call.tool}`
    this.#onEnd({ what: `call ${callId}`, parent: call.step.id, name, from, to: at, attributes, error })
  }

  #endWait(callId: CallId, outcome: string, at: number): void {
    const call = this.#calls.get(callId)
    if (!call?.asked) return
    const { proposal, at: from } = call.asked
    delete call.asked
    const attributes = {
      "gen_ai.tool.name": call.tool,
      "gen_ai.tool.call.id": callId,
      "pawl.proposal.id": proposal,
      "pawl.proposal.outcome": outcome,
    }
    this.#onEnd({ what: `proposal ${proposal}`, parent: call.step.id, name: "wait proposal", from, to: at, attributes })
  }

  #start(from: number): OpenStep {
    const number = ++this.#addUsage
    return { id: spanIdOf(this.#run, `step ${number}`), number, from, calls: new Set() }
  }

  #endRun({ number, from }: OpenStep, to: number): void {
    this.#step = undefined
    const attributes = { "pawl.step.number": number }
    this.#onEnd({ what: `step ${number}`, parent: rootIdOf(this.#run), name: "step", from, to, attributes })
  }
}
