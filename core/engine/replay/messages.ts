import { type CallPart, type ClientContext, titleOf } from "../../protocol/conversation/message.ts"
import { withSettings } from "../../protocol/conversation/reply-settings.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { Proposed } from "../../protocol/proposals/proposal.ts"
import { addUsage } from "../add-usage.ts"
import { markDuplicates } from "../calls/duplicates.ts"
import { type Call, type Conversation, madeProgress } from "../conversation.ts"
import { noteBroughtSeen, noteFilesSeen } from "../gate/taint.ts"
import { cutHistory, giveWay } from "../history/cut.ts"
import {
  addToHistory,
  broughtWords,
  messageText,
  putFirst,
  summaryWords,
  takenBack,
  TOLD_TO_GO_ON,
} from "../history/history.ts"
import { goOnFrom } from "../history/request-digest.ts"
import type { CallResult, HistoryMessage } from "../model.ts"

/** Two requests with the same message race for moments, not for so many messages. */
const SAID = 32

/** Folds a message in: words of the person, or a whole reply with the places of its results. */
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
  // Words of anybody else that were let in end it: what they ask for is not the device's to agree to.
  if (run) run.approves = seq === run.firstSeq || run.approves === approves ? approves : undefined
  if (timeZone !== undefined) {
    conversation.timeZone = timeZone
    if (run && run.timeZone !== timeZone) {
      run.timeZone = timeZone
      run.reads = [] // what was due "today" there need not be due here
    }
  }
  const { routing, stages } = conversation
  routing.pending = stages.pending = true
  // The words a run begins with are a new question; what is said later, and what a resumed run does, still serves the old.
  if (run && seq === run.firstSeq) {
    run.question = run.id
    run.settings = {}
    run.schema = undefined
    conversation.clientTools = [] // those of who speaks now follow
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

/** Before the words, under their number, so that a cut takes both or none; no question, because nobody asked it. */
function rememberBrought(
  conversation: Conversation,
  { id, seq }: EventOf<"message">,
  brought: readonly ClientContext[],
): void {
  conversation.brought = new Map([...conversation.brought, ...brought.map(({ name, text }) => [name, text] as const)])
  noteBroughtSeen(conversation, "what was sent along with a message")
  addToHistory(conversation, { role: "user", text: broughtWords(id, brought), isNote: true }, { seq, tokens: 0 })
}

function rememberReply(conversation: Conversation, event: EventOf<"message">): void {
  const { parts, seq, usage, finish, model, request } = event
  if (request !== undefined) goOnFrom(request, conversation.history)
  const calls = parts.filter((part): part is CallPart => part.type === "call")
  const { run } = conversation
  // Words that were answered without a decision (by an older Pawl, by an undo) want none any more.
  conversation.routing.pending = false
  const { stages } = conversation
  stages.pending = false
  stages.judged = seq
  stages.searched = "no"
  const taken = takenBack(parts)
  if (calls.length === 0 && taken.length > 0) conversation.firstAnswer ??= seq
  // A reply that said nothing is a fact in the journal but no message a provider would take back.
  if (taken.length > 0) {
    if (conversation.history.at(-1)?.role === "assistant") addToHistory(conversation, TOLD_TO_GO_ON, { seq, tokens: 0 })
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
  // The turn that will hold the results shares its reply's mark, so that a cut can never part the two.
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

/** Folds in what a conversation is called, by whom, and what asking for it has used. */
export function applyTitle(conversation: Conversation, { title, titledBy }: EventOf<"settings">): void {
  const { run } = conversation
  if (titledBy?.usage && run) run.usage = addUsage(run.usage, titledBy.usage)
  if (title === undefined) return
  conversation.title = title
  // Before anything was said it may be the words that are about to be.
  if (titledBy || conversation.seq > 0) conversation.titled = titledBy ? "model" : "person"
}

/** Names a conversation after its first message, unless a person has chosen a title before. */
function titleFromFirstMessage(conversation: Conversation, text: string): void {
  const firstWords = titleOf(text)
  if (conversation.title === null) conversation.title = firstWords || null
  else if (conversation.title !== firstWords) conversation.titled = "person"
}

/** So many decisions are told again with each summary; older ones are in the journal, where a tool finds them. */
const MAX_DECISIONS = 40

/** Folds in how the history makes room. What it is made of is on record, so that every fold comes to the same. */
export function applyCompaction(conversation: Conversation, event: EventOf<"compaction">): void {
  const { compaction, run } = conversation
  if (run) {
    madeProgress(run)
    if (event.asked?.usage) run.usage = addUsage(run.usage, event.asked.usage)
  }
  if (event.what === "due" && event.problem !== undefined) {
    if (run) run.sumsUpItself = true // it was due before, and is
    return
  }
  if (event.what === "due") {
    compaction.due = event.because ?? "full"
    return
  }
  if (event.what === "references") giveWay(conversation, event.seq ?? 0)
  else Object.assign(compaction, { due: undefined, tried: conversation.seq })
  if (event.what === "summary") {
    cutHistory(conversation, { seq: event.seq ?? 0, summary: "dropped" }) // the one before is part of this one
    // A fork has no decisions of its own on record: those that the summary tells are told again by the next.
    compaction.decisions = [...(event.kept?.decisions ?? compaction.decisions)]
    putFirst(conversation, summaryWords(event))
  }
  if (event.what !== "failed") compaction.hasGivenWay = true
}

/** Keeps what was decided, for the next summary. */
export function noteDecision(
  { compaction: { decisions } }: Conversation,
  { summary }: Proposed,
  { decision, reason }: EventOf<"decision">,
): void {
  const why = reason ? ` (${reason})` : ""
  if (decisions.push(`${DECIDED[decision]}: ${summary}${why}`) > MAX_DECISIONS) decisions.shift()
}

const DECIDED = { commit: "agreed to", reject: "rejected", edit: "changed" }

/** Folds a choice of a person in: from here on that model is asked, also one that failed before. */
export function applyChosenModel(conversation: Conversation, model: string): void {
  conversation.model = model
  conversation.spared = new Map()
  if (conversation.run) conversation.run.fallback = undefined
}

/** Folds in that another model is asked. One that was only spared has not failed in this run, and is the last resort. */
export function applyFallback(conversation: Conversation, event: EventOf<"fallback">): void {
  const { from, to, because, message, earlier, until } = event
  conversation.spared = new Map(conversation.spared).set(from, { because, message, until })
  const { run, compaction } = conversation
  // Whether there is room is another question for another model: it may read more.
  if (compaction.due === "full") compaction.due = undefined
  if (!run) return
  const failed = run.fallback?.failed ?? []
  run.fallback = { model: to, failed: earlier ? failed : [...failed, { model: from, because, message }] }
}
