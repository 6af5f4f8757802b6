import type { EventOf, EventType } from "../../core/protocol/events.ts"
import { quote } from "../../core/shared/text/quote.ts"
import { Waiting } from "../../core/protocol/conversation/stages.ts"
import { callLabels } from "../transcript/shown-calls.ts"
import { humanName } from "../format.ts"
import type { Follow, Following, TimelineEntry } from "./following.ts"

const MAX_WORDS = 300

/** One entry for each type of event. A missing entry does not compile. */
export const follow: { readonly [Type in EventType]: Follow<Type> } = {
  conversation_started: moment("other", () => "Conversation started"),
  settings(following, event) {
    const { model, mode, title, titledBy } = event
    const set = [model && `model ${model}`, mode && `mode ${mode}`, title && `title ${quote(title)}`].filter(Boolean)
    const entry = { kind: "other", title: set.length > 0 ? `Set: ${set.join(", ")}` : "Settings changed" } as const
    if (titledBy) following.add({ ...since(following, event), ...entry, detail: titledBy.model, ...used(titledBy) })
    else following.add({ ...at(event), ...entry })
  },
  run_started: moment("other", ({ undoes, again, compacts }) => {
    if (undoes) return "Undo run started"
    if (again) return "Run started to propose again"
    return compacts ? "Summary run started" : "Run started"
  }),
  message(following, event) {
    for (const part of event.parts) if (part.type === "call") following.names.set(part.id, part.name)
    if (event.role === "user") following.add({ ...at(event), kind: "words", title: "Message", detail: textOf(event) })
    else following.add(replyOf(following, event))
  },
  step(following, event) {
    const waiting = event.step === "waiting" ? Waiting.safeParse(event.detail).data : undefined
    if (waiting) {
      following.before = event.at + waiting.seconds * 1000
      return void following.add({ ...at(event), ...waitingFor(waiting) })
    }
    const { asked } = event
    const title = humanName(event.step)
    if (!asked) return void following.add({ ...at(event), kind: "stage", title })
    const tries = asked.tries > 1 ? `, ${asked.tries} attempts` : ""
    following.add({
      ...since(following, event),
      kind: "stage",
      title,
      detail: `${asked.model}${tries}`,
      ...used(asked),
    })
  },
  tool_start(following, event) {
    // A call that waited for approval or its client continues here.
    following.begin(event.callId, { ...at(event), kind: "call", title: nameOf(following, event.callId) })
  },
  handed_over(following, event) {
    const title = `Waiting for the client: ${nameOf(following, event.callId)}`
    following.begin(event.callId, { ...at(event), kind: "wait", title })
  },
  tool_end(following, event) {
    const label = event.status === "error" ? firstLine(event.text) : ""
    const how = event.reusedFrom
      ? "result of an earlier read"
      : [callLabels[event.status], label].filter(Boolean).join(": ")
    for (const [proposal, call] of following.callOf)
      if (call === event.callId) following.end(proposal, event, callLabels[event.status])
    const entry = following.end(event.callId, event, how)
    // The start and end of a fast read are one commit: only the result contains its duration.
    if (entry?.kind === "call") following.lengthen(entry, event)
    if (entry) return
    following.add({ ...at(event), kind: "call", title: nameOf(following, event.callId), detail: how })
  },
  awaiting_confirmation(following, event) {
    for (const { id, callId, summary } of event.proposals) {
      following.callOf.set(id, callId)
      following.begin(id, { ...at(event), kind: "wait", title: `Waiting for approval: ${summary}` })
    }
  },
  proposal(following, { proposal, approvedBy, replaces, ...event }) {
    following.callOf.set(proposal.id, proposal.callId)
    if (replaces) following.end(replaces, event, "edited")
    const { summary } = proposal
    if (!approvedBy)
      following.begin(proposal.id, { ...at(event), kind: "wait", title: `Waiting for approval: ${summary}` })
    else following.add({ ...at(event), kind: "other", title: `Approved in advance: ${summary}`, detail: approvedBy })
  },
  decision(following, event) {
    const label = { commit: "approved", reject: "rejected", edit: "edited" }[event.decision]
    following.end(event.proposalId, event, event.reason ? `${label}, ${quote(event.reason)}` : label)
  },
  grant_revoked: moment("other", ({ tool }) => (tool ? `Permission revoked: ${tool}` : "All permissions revoked")),
  in_doubt(following, event) {
    following.end(event.callId, event, callLabels.in_doubt)
    const title = `In doubt, a person must decide: ${nameOf(following, event.callId)}`
    following.begin(event.callId, { ...at(event), kind: "wait", title, detail: event.because })
  },
  resolution(following, event) {
    following.end(event.callId, event, event.choice)
  },
  late_result: moment("call", ({ status }) => `Late result: ${callLabels[status]}`),
  // Work since the previous event was lost.
  restarted(following, event) {
    const { because, detail } = event
    const why = {
      crash: "the server stopped",
      handover: "another server took over",
      provider: detail ?? "the provider failed",
    }
    const trouble = because === "provider" ? "retry" : "restart"
    following.add({ ...lost(following, event), kind: "trouble", trouble, title: `Started over: ${why[because]}` })
  },
  fallback(following, event) {
    const title = `${event.to} instead of ${event.from}: ${event.message}`
    following.add({ ...lost(following, event), kind: "trouble", trouble: "fallback", title })
  },
  history_cut: moment("room", ({ seq }) => `From here on, the model sees only what follows message ${seq}`),
  compaction(following, event) {
    const title = {
      due: "Summary due",
      references: "Old results removed",
      summary: "Summarized",
      failed: "Summary failed",
    }
    const entry = { kind: "room", title: title[event.what] } as const
    if (event.asked)
      following.add({ ...since(following, event), ...entry, detail: event.asked.model, ...used(event.asked) })
    else following.add({ ...at(event), ...entry, ...(event.problem ? { detail: event.problem } : {}) })
  },
  run_ended(following, event) {
    const why = event.error ? `${event.error.code}: ${event.error.message}` : event.reason
    // The time until the failure has no entry yet: usually a model call without an answer.
    if (event.error && following.open.size === 0 && event.at > following.before)
      following.add({ ...since(following, event), kind: "model", title: "No reply", detail: event.error.code })
    following.add({ ...at(event), kind: "end", title: humanName(event.status), ...(why ? { detail: why } : {}) })
  },
}

type Placed = Pick<TimelineEntry, "position" | "at">

const at = ({ position, at: moment }: Placed): Placed => ({ position, at: moment })

/** A model call took the time since the previous event. */
const since = ({ before }: Following, { position, at: until }: Placed) => ({
  position,
  at: Math.min(before, until),
  ms: Math.max(0, until - before),
})

/** The same for lost work; a moment if there was none. */
const lost = (following: Following, event: Placed) =>
  following.before < event.at ? since(following, event) : at(event)

const used = ({ usage }: { readonly usage?: TimelineEntry["usage"] | undefined }) => (usage ? { usage } : {})

const nameOf = ({ names }: Following, callId: string): string => humanName(names.get(callId) ?? "Tool call")

function moment<Type extends EventType>(
  kind: TimelineEntry["kind"],
  toTitle: (event: EventOf<Type>) => string,
): Follow<Type> {
  return (following, event) => void following.add({ ...at(event), kind, title: toTitle(event) })
}

function replyOf(following: Following, event: EventOf<"message">): TimelineEntry {
  const calls = event.parts.flatMap((part) => (part.type === "call" ? part.name : []))
  const label = textOf(event)
  const how = event.finish === "stop" || event.finish === "calls" || !event.finish ? [] : [event.finish]
  const detail = [...(label ? [label] : []), ...(calls.length > 0 ? [`calls ${calls.join(", ")}`] : []), ...how].join(
    " · ",
  )
  const entry = { ...since(following, event), kind: "model", title: event.model ?? "Model" } as const
  return { ...entry, ...(detail ? { detail } : {}), ...used(event) }
}

const firstLine = (text: string): string => text.trim().split("\n", 1)[0]?.slice(0, MAX_WORDS) ?? ""

/** The beginning of a message on one line. */
const textOf = ({ parts }: EventOf<"message">): string =>
  parts
    .map((part) => (part.type === "text" ? part.text.slice(0, MAX_WORDS) : ""))
    .join("")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_WORDS)

function waitingFor({
  provider,
  because,
  seconds,
  attempt,
  attempts,
}: Waiting): Omit<TimelineEntry, "position" | "at"> {
  const which = attempt && attempts ? `, attempt ${attempt} of ${attempts}` : ""
  return {
    kind: "trouble",
    trouble: "retry",
    title: `Waiting ${seconds} s for ${provider}${which}`,
    detail: because,
    ms: seconds * 1000,
  }
}
