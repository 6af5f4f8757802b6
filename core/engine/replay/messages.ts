import { type CallPart, type ClientContext, titleOf } from "../../protocol/conversation/message.ts"
import { withSettings } from "../../protocol/conversation/reply-settings.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { Proposed } from "../../protocol/proposals/proposal.ts"
import { addUsage } from "../add-usage.ts"
import { markDuplicates } from "../calls/duplicates.ts"
import { type Call, type Conversation, madeProgress } from "../conversation.ts"
import { noteContextSeen, noteFilesSeen } from "../gate/taint.ts"
import { cutHistory, replaceWithReferences } from "../history/cut.ts"
import {
  addToHistory,
  contextText,
  messageText,
  prependSummary,
  summaryWords,
  resendableParts,
  CONTINUE_TURN,
} from "../history/history.ts"
import { continueDigest } from "../history/request-digest.ts"
import type { CallResult, HistoryMessage } from "../model.ts"

/** Two requests with the same message arrive within moments, not this many messages apart. */
const SAID = 32

/** Applies a message: of the user, or a whole reply with slots for its results. */
export function remember(conversation: Conversation, event: EventOf<"message">): void {
  conversation.seq = event.seq
  if (event.role === "user") rememberWords(conversation, event)
  else rememberReply(conversation, event)
}

function rememberWords(conversation: Conversation, event: EventOf<"message">): void {
  const { id, parts, seq, timeZone, asks, approves, brought, files } = event
  if (conversation.said.push(id) > SAID) conversation.said.shift()
  if (seq === 1) titleFromFirstMessage(conversation, messageText(parts))
  const text = [...conversation.notes, messageText(parts)].join("\n\n")
  conversation.notes = []
  const { run } = conversation
  if (asks && run) run.asks = true
  // A message of another sender ends it: the device must not approve what that message requests.
  if (run) run.approves = seq === run.firstSeq || run.approves === approves ? approves : undefined
  if (timeZone !== undefined) {
    conversation.timeZone = timeZone
    if (run && run.timeZone !== timeZone) {
      run.timeZone = timeZone
      run.reads = [] // what is due "today" depends on the zone
    }
  }
  const { routing, stages } = conversation
  routing.pending = stages.pending = true
  // The message that starts a run is a new question. Later messages of the run, and resumed runs, belong to the same
  // question.
  if (run && seq === run.firstSeq) {
    run.question = run.id
    run.settings = {}
    run.schema = undefined
    conversation.clientTools = [] // the settings of the new sender apply
    routing.decision = undefined
  }
  if (run) run.settings = withSettings(run.settings, event.settings)
  if (run && event.schema) run.schema = event.schema
  if (brought) rememberBrought(conversation, event, brought)
  if (files) {
    conversation.hasFiles = true
    noteFilesSeen(conversation, files)
  }
  const words: HistoryMessage = { role: "user", text, ...(files ? { files: { message: id, items: files } } : {}) }
  addToHistory(conversation, words, run ? { seq, tokens: 0, question: run.question } : { seq, tokens: 0 })
}

/** Before the message, with its number, so that a cut removes both or none. It is not a question. */
function rememberBrought(
  conversation: Conversation,
  { id, seq }: EventOf<"message">,
  brought: readonly ClientContext[],
): void {
  conversation.brought = new Map([...conversation.brought, ...brought.map(({ name, text }) => [name, text] as const)])
  noteContextSeen(conversation, "what was sent along with a message")
  addToHistory(conversation, { role: "user", text: contextText(id, brought), isNote: true }, { seq, tokens: 0 })
}

function rememberReply(conversation: Conversation, event: EventOf<"message">): void {
  const { parts, seq, usage, finish, model, request } = event
  if (request !== undefined) continueDigest(request, conversation.history)
  const calls = parts.filter((part): part is CallPart => part.type === "call")
  const { run } = conversation
  // A message that was answered without a decision (by an older version, by an undo) needs none any more.
  conversation.routing.pending = false
  const { stages } = conversation
  stages.pending = false
  stages.judged = seq
  stages.searched = "no"
  const taken = resendableParts(parts)
  if (calls.length === 0 && taken.length > 0) conversation.firstAnswer ??= seq
  // An empty reply is an event of the journal, but providers reject it as a message.
  if (taken.length > 0) {
    if (conversation.history.at(-1)?.role === "assistant") addToHistory(conversation, CONTINUE_TURN, { seq, tokens: 0 })
    addToHistory(conversation, { role: "assistant", parts: taken }, { seq, tokens: 0 })
  }
  for (const part of taken) if (part.type === "reasoning") rememberReasoner(conversation, part.model)
  if (run) {
    if (finish !== "cancelled" && finish !== "broken") madeProgress(run)
    run.shown = undefined
    if (model !== undefined) run.model = model
    run.wordless = finish === "calls" && calls.length === 0 && taken.length === 0 ? run.wordless + 1 : 0
    if (usage) run.usage = addUsage(run.usage, usage)
    if (typeof usage?.inputTokens === "number")
      run.counted = { tokens: usage.inputTokens + (usage.outputTokens ?? 0), estimated: conversation.tokens }
  }
  conversation.calls = []
  if (calls.length === 0) return
  if (run) run.iteration++
  conversation.calls = calls.map((part, index): Call => toCall(part, seq + 1 + index, conversation.at))
  markDuplicates(conversation.calls)
  conversation.seq = seq + calls.length
  // The turn for the results has its reply's mark, so that a cut never separates the two.
  const results = new Array<CallResult>(calls.length)
  addToHistory(conversation, { role: "tool", results }, { seq, tokens: 0, positions: [] })
}

function rememberReasoner(conversation: Conversation, model: string): void {
  if (!conversation.reasoners.has(model)) conversation.reasoners = new Set([...conversation.reasoners, model])
}

const toCall = (part: CallPart, seq: number, at: number): Call => ({
  id: part.id,
  name: part.name,
  at,
  seq,
  input: part.input,
  isChanged: false,
  invalidInput: part.invalidInput,
  state: "new",
  attempts: 0,
  startedAt: 0,
  proposal: undefined,
  duplicateOf: undefined,
})

/** Applies a title, who wrote it, and the usage of generating it. */
export function applyTitle(conversation: Conversation, { title, titledBy }: EventOf<"settings">): void {
  const { run } = conversation
  if (titledBy?.usage && run) run.usage = addUsage(run.usage, titledBy.usage)
  if (title === undefined) return
  conversation.title = title
  // A title before the first message may be the beginning of that message.
  if (titledBy || conversation.seq > 0) conversation.titled = titledBy ? "model" : "person"
}

/** Uses the first message as the title, unless a user chose one before. */
function titleFromFirstMessage(conversation: Conversation, text: string): void {
  const firstWords = titleOf(text)
  if (conversation.title === null) conversation.title = firstWords || null
  else if (conversation.title !== firstWords) conversation.titled = "person"
}

/** The number of decisions in each summary. Older ones are in the journal, where a tool finds them. */
const MAX_DECISIONS = 40

/** Applies a compaction. Everything it uses is recorded, so that every node gets the same state. */
export function applyCompaction(conversation: Conversation, event: EventOf<"compaction">): void {
  const { compaction, run } = conversation
  if (run) {
    madeProgress(run)
    if (event.asked?.usage) run.usage = addUsage(run.usage, event.asked.usage)
  }
  if (event.what === "due" && event.problem !== undefined) {
    if (run) run.sumsUpItself = true // it was due before
    return
  }
  if (event.what === "due") {
    compaction.due = event.because ?? "full"
    return
  }
  if (event.what === "references") replaceWithReferences(conversation, event.seq ?? 0)
  else Object.assign(compaction, { due: undefined, tried: conversation.seq })
  if (event.what === "summary") {
    cutHistory(conversation, { seq: event.seq ?? 0, summary: "dropped" }) // The previous one is included in this one. A fork has no recorded decisions of its own; the next summary repeats those of this one.
    compaction.decisions = [...(event.kept?.decisions ?? compaction.decisions)]
    prependSummary(conversation, summaryWords(event))
  }
  if (event.what !== "failed") compaction.hasGivenWay = true
}

/** Remembers a decision for the next summary. */
export function noteDecision(
  { compaction: { decisions } }: Conversation,
  { summary }: Proposed,
  { decision, reason }: EventOf<"decision">,
): void {
  const why = reason ? ` (${reason})` : ""
  if (decisions.push(`${DECIDED[decision]}: ${summary}${why}`) > MAX_DECISIONS) decisions.shift()
}

const DECIDED = { commit: "agreed to", reject: "rejected", edit: "changed" }

/** Applies a person's choice of a model, also of one that failed before. */
export function applyChosenModel(conversation: Conversation, model: string): void {
  conversation.model = model
  conversation.spared = new Map()
  if (conversation.run) conversation.run.fallback = undefined
}

/**
 * Applies a change to another model. A model that was only skipped has not failed in this run and is the last resort.
 */
export function applyFallback(conversation: Conversation, event: EventOf<"fallback">): void {
  const { from, to, because, message, earlier, until } = event
  conversation.spared = new Map(conversation.spared).set(from, { because, message, until })
  const { run, compaction } = conversation
  // Another model may have a larger context.
  if (compaction.due === "full") compaction.due = undefined
  if (!run) return
  const failed = run.fallback?.failed ?? []
  run.fallback = { model: to, failed: earlier ? failed : [...failed, { model: from, because, message }] }
}
