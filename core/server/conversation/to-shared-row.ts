import {
  EVENT_VERSION,
  type EventOf,
  type EventType,
  type JournalEvent,
  type UnknownEvent,
} from "../../protocol/events.ts"
import type { Usage } from "../../protocol/conversation/message.ts"
import type { RecordedEvent } from "../../protocol/conversation/conversation.ts"
import { type RecordedModelCall, Waiting } from "../../protocol/conversation/stages.ts"
import { own } from "../../shared/text/json.ts"

/** The shared fields of an event; undefined if it is not shown. */
type Shared = Readonly<Record<string, unknown>> | undefined

/**
 * The fields of each type of event that another person with a link to the run sees. This is an allow-list of fields: a new field is
 * hidden until it is added here, a new type does not compile without a line, and an event of a newer version is not shown.
 *
 * Shown are the text of messages and replies, tool calls with their arguments and results, and what each took and cost.
 * Hidden are files, client context, reasoning, the data of results, diffs, who decided, and everything about other runs:
 * message numbers, summaries, titles and ids. A link shows one run, not the conversation before it.
 */
const shared: { readonly [Type in EventType]: (event: EventOf<Type>) => Shared } = {
  conversation_started: () => undefined,
  settings: ({ model, mode }) => (model || mode ? { model, mode } : undefined),
  run_started: ({ maxIterations, undoes, again, compacts }) => ({
    ...{ maxIterations, compacts },
    ...{ undoes: undoes && true, again: again && true },
  }),
  message: ({ role, parts, finish, model, usage }) => ({
    ...{ role, finish, model, usage: toSharedUsage(usage) },
    parts: parts.flatMap((part) => {
      if (part.type === "text") return { type: part.type, text: part.text }
      return part.type === "call" ? { type: part.type, id: part.id, name: part.name, input: part.input } : []
    }),
  }),
  step: ({ step, detail, asked }) => {
    const waiting = step === "waiting" ? Waiting.safeParse(detail).data : undefined
    return { step, detail: waiting, asked: toSharedAsked(asked) }
  },
  tool_start: ({ callId }) => ({ callId }),
  handed_over: ({ callId }) => ({ callId }),
  tool_end: ({ callId, status, text, ms, code, reusedFrom }) => ({
    ...{ callId, status, text, ms, code },
    reusedFrom: reusedFrom && true,
  }),
  awaiting_confirmation: ({ proposals }) => ({ proposals: proposals.map(toSharedProposal) }),
  // An approval here is always by a rule, which has a name.
  proposal: ({ proposal, replaces, approvedBy }) => ({ proposal: toSharedProposal(proposal), replaces, approvedBy }),
  decision: ({ proposalId, decision, reason }) => ({ proposalId, decision, reason }),
  grant_revoked: () => undefined,
  in_doubt: ({ callId, because }) => ({ callId, because }),
  resolution: ({ callId, choice }) => ({ callId, choice }),
  late_result: ({ callId, status, text }) => ({ callId, status, text }),
  restarted: ({ because, detail }) => ({ because, detail }),
  fallback: ({ from, to, because, message }) => ({ from, to, because, message }),
  history_cut: () => undefined,
  compaction: ({ what, problem, asked }) => ({ what, problem, asked: toSharedAsked(asked) }),
  run_ended: ({ status, reason, error }) => ({ status, reason, error }),
}

/**
 * One event of a shared run, with positions counted from the run's first event. Undefined for events of a newer version,
 * whose fields are unknown.
 */
export function toSharedRow(event: JournalEvent | UnknownEvent, start: number): RecordedEvent | undefined {
  const { type, version, position, at } = event
  const show = version === EVENT_VERSION ? own(shared, type) : undefined
  const shown = (show as ((event: UnknownEvent | JournalEvent) => Shared) | undefined)?.(event)
  return shown && { type, version, position: position - start + 1, at, ...withoutUndefined(shown) }
}

const toSharedProposal = ({ id, callId, summary }: { id: string; callId: string; summary: string }) => ({
  ...{ id, callId, summary },
})

const toSharedUsage = (usage: Usage | undefined) => {
  if (!usage) return undefined
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens, cost } = usage
  return withoutUndefined({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens, cost })
}

const toSharedAsked = (asked: RecordedModelCall | undefined) =>
  asked && withoutUndefined({ model: asked.model, tries: asked.tries, usage: toSharedUsage(asked.usage) })

const withoutUndefined = (fields: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
