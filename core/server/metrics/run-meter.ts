import type { Live, ModelSource } from "../../engine/ports.ts"
import type { Log } from "../../shared/log.ts"
import type { EventOf, JournalEvent } from "../../protocol/events.ts"
import type { CallId, ConversationId, RunId } from "../../protocol/ids.ts"
import type { ServerMetrics } from "./server-metrics.ts"
import { Generation, Grading, Guardrail, RouterChoice } from "../../protocol/conversation/stages.ts"
import type { StatusPart, Model, ReplyPart } from "../../engine/model.ts"
import { codeOf } from "../../protocol/errors.ts"

interface OpenCall {
  readonly tool: string
  proposed: boolean
}

interface Options {
  readonly metrics: ServerMetrics
  readonly log: Log
  /** Whether this name may be a label; a model can call tools that do not exist. */
  isTool(name: string): boolean
}

/** Most open calls and runs in memory; older ones are counted without their names. */
const MAX_OPEN = 10_000

/** Counts committed events. The loop does not depend on it. */
export class RunMeter {
  readonly #options: Options
  readonly #calls = new Map<CallId, OpenCall>()
  readonly #runs = new Map<ConversationId, { readonly id: RunId; readonly at: number }>()

  constructor(options: Options) {
    this.#options = options
  }

  readonly onEvents = (id: ConversationId, live: Live): void => {
    if (live.type === "gone") this.#runs.delete(id)
    if (live.type !== "events" || live.events.length === 0) return
    const { commits, events } = this.#options.metrics
    commits.add()
    events.add(live.events.length)
    for (const event of live.events) this.#count(id, event)
  }

  #count(id: ConversationId, event: JournalEvent): void {
    const { runs, restarts, proposals } = this.#options.metrics
    switch (event.type) {
      case "run_started":
        runs.add(1, { status: "started" })
        return remember(this.#runs, id, { id: event.runId, at: event.at })
      case "message":
        for (const part of event.parts) {
          if (part.type === "call") remember(this.#calls, part.id, { tool: this.#nameOf(part.name), proposed: false })
        }
        return
      case "awaiting_confirmation":
        runs.add(1, { status: "paused" })
        return event.proposals.forEach(({ callId, tool }) => this.#propose(callId, tool))
      case "proposal":
        return this.#propose(event.proposal.callId, event.proposal.tool)
      case "decision":
        if (event.decision === "edit") proposals.add(1, { outcome: "superseded" })
        return
      case "in_doubt":
        return proposals.add(1, { outcome: "in_doubt" })
      case "tool_end":
        return this.#endCall(event)
      case "step":
        return countStep(this.#options.metrics, event, (tool) => this.#nameOf(tool))
      case "restarted":
        return restarts.add(1, { because: event.because })
      case "run_ended":
        return this.#endRun(id, event)
      default:
        return undefined
    }
  }

  #propose(callId: CallId, tool: string): void {
    this.#options.metrics.proposals.add(1, { outcome: "waiting" })
    remember(this.#calls, callId, { tool: this.#nameOf(tool), proposed: true })
  }

  #endCall({ callId, status, ms, reusedFrom }: EventOf<"tool_end">): void {
    const { toolCalls, toolSeconds, reusedAnswers, proposals } = this.#options.metrics
    const { tool, proposed } = this.#calls.get(callId) ?? { tool: "unknown", proposed: false }
    this.#calls.delete(callId)
    toolCalls.add(1, { tool, status })
    if (reusedFrom) reusedAnswers.add(1, { tool })
    else toolSeconds.observe(ms / 1000, { tool })
    if (!proposed) return
    proposals.add(1, { outcome: status === "ok" ? "applied" : status === "error" ? "failed" : status })
  }

  #endRun(id: ConversationId, { status, reason, error, at }: EventOf<"run_ended">): void {
    const { metrics, log } = this.#options
    metrics.runs.add(1, { status })
    if (error) metrics.runErrors.add(1, { code: error.code })
    const run = this.#runs.get(id)
    this.#runs.delete(id)
    const began = run ? { run: run.id, ms: at - run.at } : {}
    const why = { ...(reason ? { reason } : {}), ...(error ? { code: error.code } : {}) }
    log.info("run_ended", { conversation: id, ...began, status, ...why })
  }

  #nameOf(tool: string): string {
    return this.#options.isTool(tool) ? tool : "unknown"
  }
}

function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.set(key, value)
  if (map.size <= MAX_OPEN) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}

/** Counts the decisions of stages. Details are validated: a step of a newer version is not counted. */
function countStep(metrics: ServerMetrics, { step, detail }: EventOf<"step">, nameOf: (tool: string) => string) {
  const { verdicts, choices, grades, citations } = metrics
  switch (step) {
    case "guardrail": {
      const verdict = Guardrail.safeParse(detail).data?.verdict
      if (verdict) verdicts.add(1, { verdict })
      return
    }
    case "routing": {
      const choice = RouterChoice.safeParse(detail).data
      if (choice) choices.add(1, { action: choice.action, tool: choice.tool === null ? "none" : nameOf(choice.tool) })
      return
    }
    case "grading":
      for (const { relevant } of Grading.safeParse(detail).data?.grades ?? [])
        grades.add(1, { relevant: String(relevant) })
      return
    case "generation": {
      const { citations: all = 0, flagged = 0, unmarked = 0 } = Generation.safeParse(detail).data ?? {}
      if (all > flagged) citations.add(all - flagged, { is: "bound" })
      if (flagged > 0) citations.add(flagged, { is: "flagged" })
      if (unmarked > 0) citations.add(unmarked, { is: "unmarked" })
    }
  }
}

/** Wraps models to count every call by provider, because names of models are arbitrary. */
export function observedModels(models: ModelSource, metrics: ServerMetrics): ModelSource {
  const observed = new WeakMap<Model, Model>()
  const observe = (model: Model): Model => {
    let known = observed.get(model)
    if (!known) observed.set(model, (known = observedModel(model, metrics)))
    return known
  }
  return { get: async (...given: Parameters<ModelSource["get"]>) => observe(await models.get(...given)) }
}

/** A proxy, so that every other property is read from the model itself. */
function observedModel(model: Model, metrics: ServerMetrics): Model {
  return new Proxy(model, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (name !== "stream") return typeof value === "function" ? (value.bind(target) as unknown) : value
      return (...given: Parameters<Model["stream"]>) =>
        observedStream(target.stream(...given), given[1], { model, metrics })
    },
  })
}

interface Counting {
  readonly model: Model
  readonly metrics: ServerMetrics
}

/** Passes every part through and counts how the call ends. */
function observedStream(
  stream: AsyncIterable<ReplyPart | StatusPart>,
  signal: AbortSignal,
  { model, metrics }: Counting,
): AsyncIterable<ReplyPart | StatusPart> {
  const { provider: name, countedAs: provider = name } = model
  let ended = false
  const end = (outcome: string) => {
    if (!ended) metrics.modelCalls.add(1, { provider, outcome })
    ended = true
  }
  const seen = ({ done, value }: IteratorResult<ReplyPart | StatusPart, unknown>) => {
    if (done) return end("unfinished")
    const part = value as ReplyPart | StatusPart
    if (part.type !== "finish") return
    const { inputTokens, outputTokens } = part.usage
    if (inputTokens) metrics.modelTokens.add(inputTokens, { provider, direction: "input" })
    if (outputTokens) metrics.modelTokens.add(outputTokens, { provider, direction: "output" })
    end("ok")
  }
  const failed = (error: unknown) => end(signal.aborted ? "stopped" : (codeOf(error) ?? "internal"))
  return {
    [Symbol.asyncIterator]() {
      const inner = stream[Symbol.asyncIterator]()
      return {
        next() {
          const part = inner.next()
          part.then(seen, failed)
          return part
        },
        return: async (value?: unknown) => {
          end("stopped")
          return (await inner.return?.(value)) ?? { done: true, value: undefined }
        },
      }
    },
  }
}
