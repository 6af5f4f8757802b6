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
import { type Conversation, isOurs, isWaiting, NO_DEATHS, type RunState } from "../conversation.ts"
import type { Input } from "../input.ts"
import { emptyConversation } from "../empty-conversation.ts"
import { isSettled } from "../../protocol/proposals/proposal.ts"
import { duplicateEnds } from "../calls/duplicates.ts"
import { applyCalls } from "./calls.ts"
import { applyChosenModel, applyCompaction, applyFallback, applyTitle, remember } from "./messages.ts"
import { applyStep, beginStages } from "./stages.ts"
import { cutHistory } from "../history/cut.ts"
import { withholdFiles } from "../history/history.ts"
import { withNumbers } from "../history/source-numbers.ts"

/** The state of a conversation after these events. First run, retry, resume and time travel all start here. */
export function replay(id: ConversationId, user: UserId, events: Iterable<JournalEvent | UnknownEvent>): Conversation {
  return replayOn(emptyConversation(id, user), events)
}

/** The same for the events behind those of a fold. */
export function replayOn(conversation: Conversation, events: Iterable<JournalEvent | UnknownEvent>): Conversation {
  for (const event of events) foldIn(conversation, event)
  dropSettled(conversation)
  return conversation
}

/** A proposal that is settled leaves the fold, not before the commit that settles it: until then its row is to be written. */
export function dropSettled({ proposals }: Conversation): void {
  for (const [id, { status }] of proposals) if (isSettled(status)) proposals.delete(id)
}

/** Gives new events their places at the end of the journal and folds them in; they are not durable yet. */
export function stage(conversation: Conversation, events: readonly NewEvent[], now: number): JournalEvent[] {
  const staged: JournalEvent[] = []
  for (const event of events) {
    const beside = duplicateEnds(conversation, event, now) // before it is folded in: then they do not wait any more
    staged.push(place(conversation, withNumbers(conversation, event), now))
    for (const each of beside) staged.push(place(conversation, withNumbers(conversation, each), now))
  }
  return staged
}

/** The same for an event of another journal, which holds all that belongs to it. */
export function stageCopy(conversation: Conversation, event: NewEvent, now: number): JournalEvent {
  return place(conversation, { ...event }, now)
}

/** In the event itself: who stages one has made it for that, and a copy of each would be a fiftieth of a turn. */
function place(conversation: Conversation, event: NewEvent, now: number): JournalEvent {
  const staged = event as { -readonly [Key in keyof JournalEvent]: JournalEvent[Key] }
  staged.version = EVENT_VERSION
  staged.position = conversation.position + 1
  staged.at = Math.max(now, conversation.at) // a clock that steps back must not make the journal run backwards
  foldIn(conversation, staged as JournalEvent)
  return staged as JournalEvent
}

type Apply<Type extends EventType> = (conversation: Conversation, event: EventOf<Type>) => void

/** One line per type of event; the compiler refuses a type without one. */
const table: { [Type in EventType]: Apply<Type> } = {
  // Field by field, here and below: each resume of a conversation does this, and copying objects costs several times as much.
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
    if (moves && conversation.run) conversation.run.reads = [] // the same question may have another answer there
  },
  run_started(conversation, event) {
    const { runId, maxIterations, undoes, again, compacts, credential, asks = false, attended, timeZone, at } = event
    const { run: last } = conversation
    // Whether there is room is another question for another run: the model may be another. One that sums up says so itself.
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
      // One that resumes another answers its words, as they said.
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
      // What was counted before stands until its own reply: a summary has none, and nobody's meter shall jump meanwhile.
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
    beginStages(conversation)
    conversation.calls = []
    // Nobody has spoken in one of our own: what waits for that goes on waiting, also when it is over.
    if (!isOurs(event)) conversation.heldUpTo = 0
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
    const held = status === "completed" ? 0 : heldUpTo
    conversation.heldUpTo = isOurs(run) ? Math.max(conversation.heldUpTo, held) : held
  },
}

const endOf = ({ status, maxIterations, asks }: RunState) => ({ status, maxIterations, asks })

const KNOWN: ReadonlySet<string> = new Set(Object.keys(table))

/** Inputs that came without a type of event: a node that does not know them may not find one in an inbox. */
const INPUTS_ADDED = ["answer"] satisfies Input["type"][]

/** How much of a journal this build understands: types of events are only ever added, so that of a newer one is greater. */
export const EVENTS_KNOWN = EVENT_VERSION * 1000 + KNOWN.size + INPUTS_ADDED.length

/** Shorter ones need not be told apart: no clock that is worth a word is off by less. */
const LONG_GAP_MS = 60_000

/** One more event. Only for whoever has a fold of its own: that of a conversation at work is the journal's. */
export function foldIn(conversation: Conversation, event: JournalEvent | UnknownEvent): void {
  const { run } = conversation
  // Time between two events is work, unless the run waited for a person, for others, or for a dead node to be replaced.
  if (run?.status === "running" && event.type !== "restarted" && !isWaiting(conversation)) {
    const gap = Math.max(0, event.at - conversation.at) // the time of day may be set back
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
