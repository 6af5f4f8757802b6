import type { Live, Log } from "../../agent/ports.ts"
import type { EventOf, JournalEvent } from "../../protocol/events.ts"
import type { CallId, ConversationId, RunId } from "../../protocol/ids.ts"
import { countStep } from "./count-step.ts"
import type { ServerMetrics } from "./server-metrics.ts"

interface OpenCall {
  readonly tool: string
  proposed: boolean
}

interface Options {
  readonly metrics: ServerMetrics
  readonly log: Log
  /** Names that may become labels; a model can call anything. */
  isTool(name: string): boolean
}

/** Open calls and runs remembered at most; older ones are counted without their names. */
const MAX_OPEN = 10_000

/** Hears what is committed and counts it. The loop knows nothing of it. */
export class RunMeter {
  readonly #options: Options
  readonly #calls = new Map<CallId, OpenCall>()
  readonly #runs = new Map<ConversationId, { readonly id: RunId; readonly at: number }>()

  constructor(options: Options) {
    this.#options = options
  }

  readonly hear = (id: ConversationId, live: Live): void => {
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
