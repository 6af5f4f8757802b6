import type { EventOf } from "../protocol/events.ts"
import type { CallId, ProposalId, RunId } from "../protocol/ids.ts"
import { callContent } from "./content.ts"
import { rootIdOf, spanIdOf } from "./ids.ts"
import type { RunSpan, SpanAttributes } from "./span.ts"

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
export type EndedSpan = Pick<RunSpan, "name" | "from" | "to" | "attributes"> & {
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
export class StepSpans {
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
