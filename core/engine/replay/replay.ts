import type { ConversationId, UserId } from "../../protocol/ids.ts"
import {
  EVENT_VERSION,
  type EventOf,
  type EventType,
  type JournalEvent,
  type NewEvent,
  type UnknownEvent,
} from "../../protocol/events.ts"
import { withSettings } from "../../protocol/conversation/reply-settings.ts"
import { type Conversation, isServerRun, isWaiting, NO_DEATHS, type RunState } from "../conversation.ts"
import type { Input } from "../input.ts"
import { emptyConversation } from "../empty-conversation.ts"
import { isSettled } from "../../protocol/proposals/proposal.ts"
import { duplicateEnds } from "../calls/duplicates.ts"
import { applyCalls } from "./calls.ts"
import { applyChosenModel, applyCompaction, applyFallback, applyTitle, remember } from "./messages.ts"
import { applyStep, startStages } from "./stages.ts"
import { cutHistory } from "../history/cut.ts"
import { withholdFiles } from "../history/history.ts"
import { withNumbers } from "../history/source-numbers.ts"

/** Returns the state of a conversation after these events. First run, retry, resume and time travel all start here. */
export function replay(id: ConversationId, user: UserId, events: Iterable<JournalEvent | UnknownEvent>): Conversation {
  return replayOn(emptyConversation(id, user), events)
}

/** The same, continuing from a state. */
export function replayOn(conversation: Conversation, events: Iterable<JournalEvent | UnknownEvent>): Conversation {
  for (const event of events) applyEvent(conversation, event)
  dropSettled(conversation)
  return conversation
}

/** Removes settled proposals, not before the commit that settles them, because it writes their rows. */
export function dropSettled({ proposals }: Conversation): void {
  for (const [id, { status }] of proposals) if (isSettled(status)) proposals.delete(id)
}

/** Appends new events to the state and assigns their positions. They are not durable yet. */
export function stage(conversation: Conversation, events: readonly NewEvent[], now: number): JournalEvent[] {
  const staged: JournalEvent[] = []
  for (const event of events) {
    const beside = duplicateEnds(conversation, event, now) // before it is applied, after which they do not wait any more
    staged.push(place(conversation, withNumbers(conversation, event), now))
    for (const each of beside) staged.push(place(conversation, withNumbers(conversation, each), now))
  }
  return staged
}

/** The same for a copied event, which has its own fields already. */
export function stageCopy(conversation: Conversation, event: NewEvent, now: number): JournalEvent {
  return place(conversation, { ...event }, now)
}

/** Changes the event itself, which was created for this: copying each would take a fiftieth of a turn. */
function place(conversation: Conversation, event: NewEvent, now: number): JournalEvent {
  const staged = event as { -readonly [Key in keyof JournalEvent]: JournalEvent[Key] }
  staged.version = EVENT_VERSION
  staged.position = conversation.position + 1
  staged.at = Math.max(now, conversation.at) // the clock may step back, but times in the journal must not
  applyEvent(conversation, staged as JournalEvent)
  return staged as JournalEvent
}

type Apply<Type extends EventType> = (conversation: Conversation, event: EventOf<Type>) => void

/** One line per type of event; a missing type does not compile. */
const table: { [Type in EventType]: Apply<Type> } = {
  // Field by field, here and below: each resume does this, and copying objects takes several times as long.
  conversation_started(conversation, event) {
    conversation.agent = event.agent
    conversation.model = event.model
    conversation.provider = event.provider
    conversation.mode = event.mode
    conversation.title = event.title
    conversation.site = event.site ?? "server"
    conversation.deviceId = event.deviceId ?? null
    conversation.connectionId = event.connectionId ?? null
    conversation.fallback = event.fallback ?? null
    conversation.settings = event.settings ?? {}
  },
  settings(conversation, event) {
    const { model, provider, mode, site, deviceId, connectionId, fallback, settings } = event
    conversation.settings = withSettings(conversation.settings, settings)
    if (model !== undefined) applyChosenModel(conversation, model)
    if (fallback !== undefined) conversation.fallback = fallback
    if (provider !== undefined) conversation.provider = provider
    if (mode !== undefined) conversation.mode = mode
    applyTitle(conversation, event)
    if (site !== undefined) conversation.site = site
    if (deviceId !== undefined) conversation.deviceId = deviceId
    if (connectionId !== undefined) conversation.connectionId = connectionId
    const moves = site !== undefined || deviceId !== undefined || connectionId !== undefined
    if (moves && conversation.run) conversation.run.reads = [] // reads may have other results there
  },
  run_started(conversation, event) {
    const {
      runId,
      maxIterations,
      undoes,
      again,
      compacts,
      credential,
      asks = false,
      attended,
      timeZone,
      rootRun,
      at,
    } = event
    const { run: last } = conversation
    // Another run may have a model with a larger context. A run that summarizes sets this itself.
    if (compacts || conversation.compaction.due === "full") conversation.compaction.due = undefined
    conversation.run = {
      id: runId,
      maxIterations,
      undoes,
      again,
      compacts,
      before: compacts && (last?.compacts ? last.before : last && endOf(last)),
      startedAt: at,
      firstSeq: conversation.seq + 1,
      credential,
      asks,
      approves: undefined,
      timeZone,
      question: last?.question ?? runId,
      // A run that resumes another has the settings of its message.
      settings: last?.settings ?? {},
      schema: last?.schema,
      mends: 0,
      status: "running",
      iteration: 0,
      endedAt: undefined,
      reason: undefined,
      error: undefined,
      usage: undefined,
      fallback: undefined,
      model: undefined,
      // The last count stays until the run's own reply: a summary has none, and a client's meter must not jump
      // meanwhile.
      counted: last?.counted,
      workedMs: 0,
      longGapsMs: [],
      ...NO_DEATHS,
      shown: undefined,
      wordless: 0,
      sumsUpItself: false,
      reads: [],
      toolHistory: [],
    }
    if (attended) conversation.run.attended = attended
    if (rootRun) conversation.run.rootRun = rootRun
    startStages(conversation)
    conversation.calls = []
    // In a run that the server started no user has sent a message. Held messages stay held, also after it.
    if (!isServerRun(event)) conversation.heldUpTo = 0
  },
  message: remember,
  step: applyStep,
  ...applyCalls,
  restarted({ run }, { because, blame, shown }) {
    if (run && shown !== undefined) run.shown = shown
    if (!run || because === "handover") return
    if (because === "provider") return void run.restarts++
    run.deaths++
    run.blamed = blame === undefined
    if (blame !== "none") run.blames++
  },
  fallback: applyFallback,
  history_cut: cutHistory,
  compaction: applyCompaction,
  run_ended(conversation, { status, reason, error, refuses, heldUpTo = Number.MAX_SAFE_INTEGER, at }) {
    const { run } = conversation
    if (!run) return
    run.status = status
    run.reason = reason
    run.error = error
    run.endedAt = at
    run.shown = undefined
    if (refuses) withholdFiles(conversation, refuses)
    conversation.calls = []
    const position = status === "completed" ? 0 : heldUpTo
    conversation.heldUpTo = isServerRun(run) ? Math.max(conversation.heldUpTo, position) : position
  },
}

const endOf = ({ status, maxIterations, asks }: RunState) => ({ status, maxIterations, asks })

const KNOWN: ReadonlySet<string> = new Set(Object.keys(table))

/** Inputs without an event type of their own. A node that does not know them must not find them in an inbox. */
const INPUTS_ADDED = ["answer"] satisfies Input["type"][]

/**
 * How much of a journal this version understands. Event types are only ever added, so a newer version has a greater
 * number.
 */
export const EVENTS_KNOWN = EVENT_VERSION * 1000 + KNOWN.size + INPUTS_ADDED.length

/** Shorter gaps are ignored, because clocks differ by less. */
const LONG_GAP_MS = 60_000

/** Applies one event. Only for the owner of a state: that of a conversation at work belongs to the journal. */
export function applyEvent(conversation: Conversation, event: JournalEvent | UnknownEvent): void {
  const { run } = conversation
  // Time between two events counts as work, unless the run waited for a person, for another party, or for a new writer.
  if (run?.status === "running" && event.type !== "restarted" && !isWaiting(conversation)) {
    const gap = Math.max(0, event.at - conversation.at) // the clock may be set back
    run.workedMs += gap
    if (gap > LONG_GAP_MS) run.longGapsMs.push(gap)
  }
  conversation.position = event.position
  conversation.at = event.at
  if (isKnown(event)) (table[event.type] as Apply<EventType>)(conversation, event)
  else conversation.hasUnknownEvents = true
}

export function isKnown(event: JournalEvent | UnknownEvent): event is JournalEvent {
  return event.version === EVENT_VERSION && KNOWN.has(event.type)
}
