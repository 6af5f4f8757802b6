import { stepName } from "../components/step-name.ts"
import { providerName } from "../components/provider-name.ts"
import { type TimelineEntry, type Totals, escapeHidden, humanName } from "../../../client/index.ts"
import {
  EVENT_VERSION,
  type EventOf,
  type JournalEvent,
  type RecordedEvent,
  type RunStatus,
  type Usage,
  Waiting,
} from "../../../core/protocol/index.ts"
import { callLabel } from "../components/call-label.ts"
import { dollars, duration, list, number, quoted, time } from "../strings/format.ts"
import { type Key, t } from "../strings/strings.ts"
import type { RunHead } from "./followed-run.ts"

/** Short phrases about a run: its status, its usage and its duration. */

const RUN_STATUS: Readonly<Record<RunStatus, Key>> = {
  running: "runs.statusRunning",
  paused: "runs.statusPaused",
  completed: "runs.statusCompleted",
  failed: "runs.statusFailed",
  cancelled: "runs.statusCancelled",
}

/** `Completed · offline · 10:34 · 10.6 s`. */
export function describeRun({ status, model, startedAt, endedAt }: RunHead): string {
  const took = endedAt === null ? [] : [duration(Date.parse(endedAt) - Date.parse(startedAt))]
  return [t(RUN_STATUS[status]), ...(model === null ? [] : [escapeHidden(model)]), time(startedAt), ...took].join(" · ")
}

/** A run's totals, one line per kind, without those that are zero. */
export function describeTotals(totals: Totals): string[] {
  const { ms, modelMs, callMs, waitingMs, modelCalls, calls, retries, restarts, fallbacks, ...used } = totals
  const times = [
    t("runs.totalTime", { time: duration(ms) }),
    t("runs.modelTime", { time: duration(modelMs) }),
    t("runs.toolTime", { time: duration(callMs) }),
    ...(waitingMs > 0 ? [t("runs.waitTime", { time: duration(waitingMs) })] : []),
  ]
  const counts = [
    t("runs.modelCalls", { count: modelCalls }),
    t("runs.toolCalls", { count: calls }),
    ...(restarts > 0 ? [t("runs.restarts", { count: restarts })] : []),
    ...(retries > 0 ? [t("runs.retries", { count: retries })] : []),
    ...(fallbacks > 0 ? [t("runs.fallbacks", { count: fallbacks })] : []),
  ]
  const usage = describeUsage(used)
  const unknown = used.cost === null ? [t("runs.costUnknown")] : []
  return [times.join(" · "), counts.join(" · "), ...(usage ? [[usage, ...unknown].join(", ")] : [])]
}

/** `812 → 44 tokens, 700 cached, $0.0031`; empty if nothing was counted. */
export function describeUsage({
  inputTokens,
  outputTokens,
  cachedTokens,
  cost,
}: Pick<Usage, "inputTokens" | "outputTokens" | "cachedTokens" | "cost">): string {
  if (!inputTokens && !outputTokens) return ""
  return [
    t("runs.tokens", { input: number(inputTokens ?? 0), output: number(outputTokens ?? 0) }),
    ...(cachedTokens ? [t("runs.cached", { count: cachedTokens })] : []),
    ...(cost ? [dollars(cost)] : []),
  ].join(", ")
}

/** Describes timeline entries in the language of the page, from their first and last rows. */

interface EntryText {
  readonly title: string
  readonly detail: string | undefined
}

/** The texts of entries, in their order. A row that this page does not know keeps the text of the timeline. */
export function describeEntries(entries: readonly TimelineEntry[], rows: readonly RecordedEvent[]): EntryText[] {
  const events = new Map(rows.flatMap((row) => (isKnown(row) ? [[row.position, row as unknown as JournalEvent]] : [])))
  const names = new Map<string, string>()
  for (const event of events.values()) {
    if (event.type !== "message") continue
    for (const part of event.parts) if (part.type === "call") names.set(part.id, humanName(part.name))
  }
  const seen = new Map<number, number>()
  return entries.map((entry) => {
    // One row may start several entries, such as one for each change that waits for approval.
    const index = seen.get(entry.position) ?? 0
    seen.set(entry.position, index + 1)
    const event = events.get(entry.position)
    const text = event ? describe(event, { entry, index, names }) : {}
    const end = entry.endPosition === undefined ? undefined : events.get(entry.endPosition)
    const outcome = end && describeOutcome(end)
    const began = "detail" in text ? text.detail : outcome === undefined ? entry.detail : undefined
    const detail = [began, outcome].filter((each) => each !== undefined && each !== "").join(": ")
    return { title: text.title ?? entry.title, detail: detail === "" ? undefined : detail }
  })
}

const isKnown = ({ version }: RecordedEvent): boolean => version === EVENT_VERSION

interface Described {
  readonly entry: TimelineEntry
  readonly index: number
  /** The tools of calls, by their ids. */
  readonly names: ReadonlyMap<string, string>
}

function describe(event: JournalEvent, { entry, index, names }: Described): Partial<EntryText> {
  const toolOf = (callId: string) => names.get(callId) ?? entry.title
  switch (event.type) {
    case "conversation_started":
      return { title: t("runs.entryStarted") }
    case "settings": {
      const { model, mode, title } = event
      const set = [
        ...(model ? [t("runs.setModel", { value: model })] : []),
        ...(mode ? [t("runs.setMode", { value: mode })] : []),
        ...(title ? [t("runs.setTitle", { value: quoted(title) })] : []),
      ]
      return { title: [t("runs.entrySettings"), ...(set.length > 0 ? [list(set)] : [])].join(": ") }
    }
    case "run_started":
      if (event.undoes) return { title: t("runs.entryUndo") }
      if (event.again) return { title: t("runs.entryAgain") }
      return { title: t(event.compacts ? "runs.entryCompacts" : "runs.entryRunStarted") }
    case "message":
      return event.role === "user" ? { title: t("runs.entryMessage") } : describeReply(event)
    case "step": {
      const waiting = event.step === "waiting" ? Waiting.safeParse(event.detail).data : undefined
      if (!waiting) return { title: stepName(event.step) }
      const { seconds, attempt, attempts } = waiting
      const provider = providerName(waiting.provider)
      if (!attempt || !attempts) return { title: t("runs.entryWaiting", { provider, seconds }) }
      return { title: t("runs.entryWaitingAttempt", { provider, seconds, attempt, attempts }) }
    }
    case "handed_over":
      return { title: t("runs.entryClient", { tool: toolOf(event.callId) }) }
    case "tool_end":
      return { detail: describeOutcome(event) }
    case "awaiting_confirmation": {
      const summary = event.proposals[index]?.summary
      return summary === undefined ? {} : { title: t("runs.entryApproval", { summary }) }
    }
    case "proposal": {
      const { summary } = event.proposal
      return { title: t(event.approvedBy ? "runs.entryApproved" : "runs.entryApproval", { summary }) }
    }
    case "grant_revoked":
      if (event.tool === undefined) return { title: t("runs.entryAllRevoked") }
      return { title: t("runs.entryRevoked", { tool: humanName(event.tool) }) }
    case "in_doubt":
      return { title: t("runs.entryInDoubt", { tool: toolOf(event.callId) }), detail: event.because }
    case "late_result":
      return { title: t("runs.entryLate", { status: callLabel(event.status) }) }
    case "restarted":
      if (event.because === "crash") return { title: t("runs.entryCrash") }
      if (event.because === "handover") return { title: t("runs.entryHandover") }
      if (event.detail === undefined) return { title: t("runs.entryProviderFailed") }
      return { title: t("runs.entryProvider", { reason: event.detail }) }
    case "fallback":
      return { title: t("runs.entryFallback", { to: event.to, from: event.from, reason: event.message }) }
    case "history_cut":
      return { title: t("runs.entryHistoryCut", { number: event.seq }) }
    case "compaction":
      return { title: t(COMPACTIONS[event.what]) }
    case "run_ended":
      return { title: t(entry.kind === "end" ? RUN_STATUS[event.status] : "runs.entryNoReply") }
    default:
      return {}
  }
}

const COMPACTIONS: Readonly<Record<EventOf<"compaction">["what"], Key>> = {
  due: "runs.compactionDue",
  references: "runs.compactionReferences",
  summary: "runs.compactionSummary",
  failed: "runs.compactionFailed",
}

const MAX_CHARACTERS = 300

/** The beginning of a reply, the tools that it calls, and how it ended if that is unusual. */
function describeReply({ parts, model, finish = "stop" }: EventOf<"message">): EntryText {
  const text = parts.map((part) => (part.type === "text" ? part.text.slice(0, MAX_CHARACTERS) : "")).join("")
  const line = text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_CHARACTERS)
  const tools = parts.flatMap((part) => (part.type === "call" ? [humanName(part.name)] : []))
  const details = [
    line,
    tools.length > 0 ? t("runs.callsTools", { names: list(tools) }) : "",
    finish === "stop" || finish === "calls" ? "" : finish,
  ]
  return { title: model ?? t("runs.entryModel"), detail: details.filter((each) => each !== "").join(" · ") }
}

/** The outcome that a row records for an earlier entry; undefined if it ends nothing. */
function describeOutcome(event: JournalEvent): string | undefined {
  switch (event.type) {
    case "tool_end": {
      if (event.reusedFrom) return t("runs.reusedResult")
      const [line = ""] = event.status === "error" ? event.text.trim().split("\n", 1) : []
      return [callLabel(event.status), line.slice(0, MAX_CHARACTERS)].filter((each) => each !== "").join(": ")
    }
    case "decision": {
      const decided = t(DECISIONS[event.decision])
      return event.reason ? `${decided}, ${quoted(event.reason)}` : decided
    }
    case "proposal":
      return t("runs.decidedEdit")
    case "in_doubt":
      return callLabel("in_doubt")
    case "resolution":
      return t(RESOLUTIONS[event.choice])
    default:
      return undefined
  }
}

const DECISIONS: Readonly<Record<EventOf<"decision">["decision"], Key>> = {
  commit: "runs.decidedCommit",
  reject: "runs.decidedReject",
  edit: "runs.decidedEdit",
}

const RESOLUTIONS: Readonly<Record<EventOf<"resolution">["choice"], Key>> = {
  done: "runs.resolvedDone",
  retry: "runs.resolvedRetry",
  abandon: "runs.resolvedAbandon",
}
