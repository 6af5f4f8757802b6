import { addUsage } from "../engine/add-usage.ts"
import type { Usage } from "../protocol/conversation/message.ts"
import { type RecordedModelCall, Waiting } from "../protocol/conversation/stages.ts"
import type { EventOf, JournalEvent } from "../protocol/events.ts"
import type { CallId, ConversationId, ProposalId, RunId } from "../protocol/ids.ts"
import { callContent, messageContent, modelAttributes, providerName, usageAttributes } from "./attributes.ts"
import { rootIdOf, type RunSpan, type SpanAttributes, spanIdOf, type SpanMoment } from "./span.ts"

/** One run as the journal has it. */
export interface RecordedRun {
  readonly conversation: ConversationId
  readonly agent: string
  /** From its start, without a gap. */
  readonly events: readonly [EventOf<"run_started">, ...JournalEvent[]]
}

interface Telling {
  readonly content: boolean
  /** When the first words of a reply came that was open between these times, where this process has seen them come. */
  firstWords?(from: number, to: number): number | undefined
}

/** A span, and the position of the event that has ended it. */
export interface PlacedSpan extends RunSpan {
  readonly position: number
}

/**
 * All that has ended in a run so far, in the order in which it did. Pure: of one journal every process tells the same. The
 * journal does not say when a model was asked, but what came before that, and nothing takes time between the two.
 */
export function runSpans(run: RecordedRun, telling: Telling): PlacedSpan[] {
  const fold = new RunFold(run, telling)
  for (const event of run.events) fold.take(event)
  return fold.spans
}

class RunFold {
  readonly spans: PlacedSpan[] = []
  readonly #run: RecordedRun
  readonly #telling: Telling
  readonly #start: EventOf<"run_started">
  readonly #steps: StepSpans
  readonly #moments: SpanMoment[] = []
  #position = 0
  /** When that ended after which the model is asked. */
  #since: number
  /** Whether the model is asked, as far as the journal tells: nothing else is to do. */
  #asking = true
  #model: string | undefined
  #usage: Usage | undefined
  #provider: string | undefined
  #words: SpanAttributes = {}

  constructor(run: RecordedRun, telling: Telling) {
    this.#run = run
    this.#telling = telling
    this.#start = run.events[0]
    this.#since = this.#start.at
    this.#steps = new StepSpans(this.#start.runId, telling.content, (span) => this.#add(span))
  }

  take(event: JournalEvent): void {
    this.#position = event.position
    this.#follow(event)
    // What only tells of a call of a model that is under way does not end it.
    const { type } = event
    if (type === "settings" || (type === "step" && (event.step === "waiting" || event.step === "left_out"))) return
    this.#since = event.at
  }

  #follow(event: JournalEvent): void {
    switch (event.type) {
      case "message":
        return event.role === "user" ? this.#hear(event) : this.#reply(event)
      case "step":
        if (event.step === "waiting") return this.#note("waiting", event.at, waitingAttributes(event.detail))
        return this.#stage(event.step, event.asked, event.at)
      case "compaction":
        return event.asked && this.#stage("compaction", event.asked, event.at)
      case "tool_start":
      case "handed_over":
        return this.#steps.begin(event)
      case "tool_end":
        this.#steps.result(event)
        this.#asking = !this.#steps.hasOpenCalls
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
        this.#fail(event.at, event.detail ?? event.because)
        return this.#note("restarted", event.at, { "pawl.restart.because": event.because })
      case "fallback":
        if (!event.earlier) this.#fail(event.at, event.because, event.from)
        return this.#note("fallback", event.at, { "pawl.fallback.from": event.from, "pawl.fallback.to": event.to })
      case "run_ended":
        return this.#end(event)
      default:
        return undefined
    }
  }

  #hear(event: EventOf<"message">): void {
    if (this.#telling.content) this.#words = messageContent(event)
    this.#asking = !this.#steps.hasOpenCalls
  }

  #reply(event: EventOf<"message">): void {
    const { model, usage, finish, position, at } = event
    this.#model = model ?? this.#model
    this.#count(usage)
    // The reply of a run that takes something back, or proposes it again, was written by us.
    const isOurs = this.#start.undoes !== undefined || this.#start.again !== undefined
    const from = this.#since
    const step = this.#steps.stepAt(from)
    if (!isOurs) {
      const first = this.#telling.firstWords?.(from, at)
      const attributes = {
        ...modelAttributes(model, usage, finish),
        "gen_ai.response.time_to_first_chunk": first === undefined ? undefined : Math.max(0, first - from) / 1000,
        ...(this.#telling.content ? { ...this.#words, ...messageContent(event) } : {}),
      }
      this.#words = {}
      const error = finish === "broken" || finish === "cancelled" ? finish : undefined
      this.#add({ ...toChat(model, { from, to: at, attributes, error }), what: `chat ${position}`, parent: step })
    }
    this.#steps.reply(event)
    this.#asking = false
  }

  /** A decision beside the replies. What nobody was asked for took no time, and is told as a moment of the run. */
  #stage(step: string, asked: RecordedModelCall | undefined, at: number): void {
    if (!asked) return this.#note(step, at)
    const [from, place] = [this.#since, this.#position]
    const { runId } = this.#start
    const attributes = { ...modelAttributes(asked.model, asked.usage), "pawl.model.tries": asked.tries }
    this.#count(asked.usage)
    const parent = spanIdOf(runId, `stage ${place}`)
    this.#add({ ...toChat(asked.model, { from, to: at, attributes }), what: `chat ${place}`, parent })
    const of = { what: `stage ${place}`, parent: rootIdOf(runId), attributes: { "pawl.step.name": step } }
    this.#add({ ...of, name: `step ${step}`, from, to: at })
  }

  /** An attempt that came to nothing: its process died, or the provider failed. */
  #fail(at: number, error: string, model?: string): void {
    if (!this.#asking || this.#start.undoes || this.#start.again) return
    const from = this.#since
    const parent = this.#steps.stepAt(from)
    const attributes = modelAttributes(model)
    this.#add({ ...toChat(model, { from, to: at, attributes, error }), what: `chat ${this.#position}`, parent })
  }

  #end({ at, status, reason, error }: EventOf<"run_ended">): void {
    if (error && at > this.#since) this.#fail(at, error.code)
    this.#steps.close(at)
    const { runId, at: from, trace } = this.#start
    const attributes = {
      ...this.#common(),
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
      ...{ kind: "internal", from, to: at, attributes, error: failed, moments: this.#moments },
      ...{ position: this.#position, askedBy: trace },
    })
  }

  #count(usage: Usage | undefined): void {
    if (usage) this.#usage = { ...addUsage(this.#usage, usage), ...addDetails(this.#usage, usage) }
    this.#provider = providerName(usage) ?? this.#provider
  }

  #note(name: string, at: number, attributes: SpanAttributes = {}): void {
    this.#moments.push({ name, at, attributes })
  }

  #common(): SpanAttributes {
    return { "gen_ai.conversation.id": this.#run.conversation, "pawl.run.id": this.#start.runId }
  }

  #add({ what, attributes, error, kind = "internal", ...span }: EndedSpan): void {
    const { runId } = this.#start
    const all = { ...this.#common(), ...attributes, ...(error === undefined ? {} : { "error.type": error }) }
    const id = spanIdOf(runId, what)
    this.spans.push({ ...span, kind, run: runId, id, attributes: all, error, position: this.#position })
  }
}

/** Why a provider is asked once more, and when: no word of anybody's. */
function waitingAttributes(detail: unknown): SpanAttributes {
  const waiting = Waiting.safeParse(detail).data
  if (!waiting) return {}
  const { because, seconds, attempt } = waiting
  return { "pawl.retry.because": because, "pawl.retry.after_seconds": seconds, "pawl.retry.attempt": attempt }
}

/** What a run's own sum leaves out: of these tokens the cache's, and those of thinking. Undefined where nobody has counted them. */
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
  /** What it is a part of. */
  readonly step: OpenStep
  begunAt?: number
  /** Since when a person is asked about it. */
  asked?: { readonly proposal: ProposalId; readonly at: number }
  /** Since when it is not known whether it was done, and by which event: there may be several in one millisecond. */
  doubt?: { readonly at: number; readonly position: number }
}

interface OpenStep {
  readonly id: string
  readonly number: number
  readonly from: number
  readonly calls: Set<CallId>
}

/** A span as far as those know who end one: the rest is the same for all of a run. */
type EndedSpan = Pick<RunSpan, "name" | "from" | "to" | "attributes"> & {
  readonly what: string
  readonly parent: string
  readonly kind?: RunSpan["kind"]
  readonly error?: string | undefined
}

/** Results of calls that were never begun: they were refused, or nobody agreed to them in time. */
const NEVER_BEGUN: ReadonlySet<string> = new Set(["denied", "rejected", "expired", "superseded", "cancelled"])

/**
 * The steps of a run, and the calls and waits that are parts of them. A step is one reply of the model and what it has
 * called for: it begins when the model is asked, and ends when the last of its calls has.
 */
class StepSpans {
  readonly #run: RunId
  readonly #content: boolean
  readonly #ended: (span: EndedSpan) => void
  readonly #calls = new Map<CallId, OpenCall>()
  #step: OpenStep | undefined
  #count = 0

  constructor(run: RunId, content: boolean, ended: (span: EndedSpan) => void) {
    this.#run = run
    this.#content = content
    this.#ended = ended
  }

  get hasOpenCalls(): boolean {
    return this.#calls.size > 0
  }

  /** The step that is open, begun where none is. */
  stepAt(from: number): string {
    this.#step ??= this.#begin(from)
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
    if (step.calls.size === 0) this.#end(step, at)
  }

  begin({ callId, at }: EventOf<"tool_start" | "handed_over">): void {
    const call = this.#calls.get(callId)
    if (call) call.begunAt ??= at
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
    this.#ended({
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
    if (call.begunAt !== undefined || !NEVER_BEGUN.has(event.status)) this.#endCall(event, call)
    const { step } = call
    step.calls.delete(callId)
    if (step.calls.size === 0) this.#end(step, at)
  }

  /** The run is over, and so is what it was at. */
  close(at: number): void {
    if (this.#step) this.#end(this.#step, at)
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
    // A read that answers at once has its start and its end in one commit: then the result alone knows how long it took.
    const from = Math.min(call.begunAt ?? at, at - ms)
    const name = `execute_tool ${call.tool}`
    this.#ended({ what: `call ${callId}`, parent: call.step.id, name, from, to: at, attributes, error })
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
    this.#ended({ what: `proposal ${proposal}`, parent: call.step.id, name: "wait proposal", from, to: at, attributes })
  }

  #begin(from: number): OpenStep {
    const number = ++this.#count
    return { id: spanIdOf(this.#run, `step ${number}`), number, from, calls: new Set() }
  }

  #end({ number, from }: OpenStep, to: number): void {
    this.#step = undefined
    const attributes = { "pawl.step.number": number }
    this.#ended({ what: `step ${number}`, parent: rootIdOf(this.#run), name: "step", from, to, attributes })
  }
}
