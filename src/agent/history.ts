import { withSettings } from "../protocol/conversation/with-settings.ts"
import type { EventOf } from "../protocol/events.ts"
import type { Brought } from "../protocol/conversation/brought.ts"
import type { CallPart, Part } from "../protocol/conversation/message.ts"
import { type Call, type Conversation, madeProgress, type Mark } from "./conversation.ts"
import { addUsage } from "./add-usage.ts"
import { broughtWords } from "./sent-along.ts"
import { markDuplicates } from "./calls/duplicates.ts"
import type { CallResult, HistoryMessage } from "./model.ts"
import { filesTokens } from "./file-tokens.ts"
import { judgeTitle } from "./replay/title.ts"
import { noteBroughtSeen } from "./gate/outside-and-private.ts"

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
  if (seq === 1) judgeTitle(conversation, messageText(parts))
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
  // What is in a file somebody else may have written, or it is the person's own: like what a client sends along.
  if (files) {
    conversation.hasFiles = true
    noteBroughtSeen(conversation)
  }
  const words: HistoryMessage = { role: "user", text, ...(files ? { files: { message: id, items: files } } : {}) }
  push(conversation, words, run ? { seq, tokens: 0, question: run.question } : { seq, tokens: 0 })
}

/** Before the words, under their number, so that a cut takes both or none; no question, because nobody asked it. */
function rememberBrought(
  conversation: Conversation,
  { id, seq }: EventOf<"message">,
  brought: readonly Brought[],
): void {
  conversation.brought = new Map([...conversation.brought, ...brought.map(({ name, text }) => [name, text] as const)])
  noteBroughtSeen(conversation)
  push(conversation, { role: "user", text: broughtWords(id, brought), isNote: true }, { seq, tokens: 0 })
}

function rememberReply(conversation: Conversation, { parts, seq, usage, finish, model }: EventOf<"message">): void {
  const calls = parts.filter((part): part is CallPart => part.type === "call")
  const { run } = conversation
  // Words that were answered without a decision (by an older Pawl, by an undo) want none any more.
  conversation.routing.pending = false
  Object.assign(conversation.stages, { pending: false, judged: seq, searched: "no" })
  const taken = takenBack(parts)
  if (calls.length === 0 && taken.length > 0) conversation.firstAnswer ??= seq
  // A reply that said nothing is a fact in the journal but no message a provider would take back.
  if (taken.length > 0) {
    if (conversation.history.at(-1)?.role === "assistant") push(conversation, GO_ON, { seq, tokens: 0 })
    push(conversation, { role: "assistant", parts: taken }, { seq, tokens: 0 })
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
  push(conversation, { role: "tool", results }, { seq, tokens: 0, positions: [] })
}

function rememberReasoner(conversation: Conversation, model: string): void {
  if (!conversation.reasoners.has(model)) conversation.reasoners = new Set([...conversation.reasoners, model])
}

/**
 * What providers take back of a reply: no blank text, and no thinking that led to nothing. Anthropic refuses a turn whose
 * last block is thinking, and OpenAI thinking without what it was about: from then on every request would be refused.
 */
export function takenBack(parts: readonly Part[]): readonly Part[] {
  const said = parts.some(isBlank) ? parts.filter((part) => !isBlank(part)) : parts
  const last = said.findLastIndex((part) => part.type !== "reasoning")
  return last === said.length - 1 ? said : said.slice(0, last + 1)
}

/** A reply without its calls and the thinking that led to them, which is worth nothing alone. */
export function withoutCalls(parts: readonly Part[]): Part[] {
  let led: Part["type"] | undefined
  const kept = parts.toReversed().filter((part) => {
    if (part.type !== "reasoning") led = part.type
    return led !== "call"
  })
  return kept.reverse()
}

const isBlank = (part: Part): boolean => part.type === "text" && /^[\s\p{Cc}]*$/u.test(part.text)

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

/** Tells the model something between its replies. It shares the mark of what it is about, so that a cut never parts the two. */
export function tell(conversation: Conversation, text: string): void {
  push(
    conversation,
    { role: "user", text, isNote: true },
    { seq: conversation.marks.at(-1)?.seq ?? conversation.seq, tokens: 0 },
  )
}

/** Puts a result into the place its call has reserved. */
export function rememberResult(conversation: Conversation, call: Call, result: CallResult): void {
  const turn = conversation.history.at(-1)
  if (turn?.role !== "tool")
    throw new Error(`${conversation.id}: a result for ${call.id} without the turn of its reply`)
  const index = conversation.calls.indexOf(call)
  ;(turn.results as CallResult[])[index] = result
  const tokens = resultTokens(result)
  const mark = conversation.marks.at(-1) as Mark
  mark.tokens += tokens
  if (mark.positions) mark.positions[index] = conversation.position
  conversation.tokens += tokens
}

/** Forgets what stands before `seq`, except the question being answered, and the summary unless that is said. */
export function cutHistory(conversation: Conversation, { seq, summary }: Pick<HistoryCut, "seq" | "summary">): void {
  const { history, marks } = conversation
  conversation.brought = new Map() // what was cut off with it has to be told again
  conversation.compaction.hasGivenWay = true
  const stays = (mark: Mark) =>
    mark.isSummary ? summary !== "dropped" : mark.seq >= seq || isQuestion(conversation, mark)
  const kept = marks.flatMap((mark, index) => (stays(mark) ? [index] : []))
  conversation.history = kept.map((index) => history[index] as HistoryMessage)
  conversation.marks = kept.map((index) => marks[index] as Mark)
  conversation.tokens = conversation.marks.reduce((sum, mark) => sum + mark.tokens, 0)
}

/** Puts a summary before everything else. */
export function putFirst(conversation: Conversation, text: string): void {
  const message: HistoryMessage = { role: "user", text, isNote: true }
  const tokens = messageTokens(message)
  // New lists: a request that is under way may hold the old ones.
  conversation.history = [message, ...conversation.history]
  conversation.marks = [{ seq: 0, tokens, isSummary: true }, ...conversation.marks]
  conversation.tokens += tokens
}

const isQuestion = ({ run }: Conversation, mark: Mark) => mark.question !== undefined && mark.question === run?.question

/**
 * Where to cut a history that has outgrown its budget: down to half of it, so that the next cut is far away and the
 * provider's prompt cache stays warm until then. Undefined while it fits, and when nothing more can be dropped.
 */
export function cutPoint(
  conversation: Conversation,
  budget: number,
  summary: "kept" | "replaced" = "kept",
): CutPoint | undefined {
  if (conversation.tokens <= budget) return undefined
  const { history, marks } = conversation
  const stays = (mark: Mark | undefined) => mark?.isSummary === true && summary === "kept"
  const lastReply = history.findLastIndex((message) => message.role === "assistant")
  const newest = Math.max(
    lastReply,
    marks.findLastIndex((mark) => mark.question !== undefined),
  )
  let dropped = 0
  let best: CutPoint | undefined
  let insideRun = false
  for (let index = 0; index <= newest; index++) {
    const mark = marks[index] as Mark
    const { role } = history[index] as HistoryMessage
    // What has one number stays together: a reply with its results, and with the words put before it.
    const first = marks[index - 1]?.seq !== mark.seq
    // A history opens with words of the person: an older run is cut at its question, only the open one inside.
    if (dropped > 0 && first && (role === "user" || (insideRun && role === "assistant"))) {
      best = { seq: mark.seq, tokens: dropped }
      if (conversation.tokens - dropped <= budget / 2) break
    }
    if (isQuestion(conversation, mark)) insideRun = true
    else if (!stays(mark)) dropped += mark.tokens
  }
  const [first] = marks
  if (!first || !stays(first) || (best && conversation.tokens - best.tokens <= budget)) return best
  // Made for a model that reads more than this one: it is part of what is too much.
  return { seq: best?.seq ?? 0, tokens: (best?.tokens ?? 0) + first.tokens, summary: "dropped" }
}

type HistoryCut = EventOf<"history_cut">
type CutPoint = Pick<HistoryCut, "seq" | "tokens" | "summary">

/** Stands between two replies where a run was resumed after a cancelled one: providers want words of a person there. */
const GO_ON: HistoryMessage = { role: "user", text: "Go on." }

/** For a model that has called where it was asked for words: the same request again would get the same reply. */
const IN_WORDS: HistoryMessage = {
  role: "user",
  text: "[You called a tool, but no more calls can be made in this run: nothing was run. Answer now, in words, from what there is.]",
  isNote: true,
}

/** What this model is shown: the history without other models' private reasoning. */
export function historyFor(conversation: Conversation, model: string): readonly HistoryMessage[] {
  const { reasoners, run } = conversation
  const isReply = conversation.history.at(-1)?.role === "assistant"
  const last = run?.wordless ? IN_WORDS : isReply ? GO_ON : undefined
  const history = last ? [...conversation.history, last] : conversation.history
  if (reasoners.size === 0 || (reasoners.size === 1 && reasoners.has(model))) return history
  return history.map((message): HistoryMessage => {
    if (message.role !== "assistant") return message
    return {
      role: "assistant",
      parts: message.parts.filter((part) => part.type !== "reasoning" || part.model === model),
    }
  })
}

export function messageText(parts: readonly Part[]): string {
  if (parts.length === 1 && parts[0]?.type === "text") return parts[0].text
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("")
}

function push(conversation: Conversation, message: HistoryMessage, mark: Mark): void {
  mark.tokens = messageTokens(message)
  conversation.history.push(message)
  conversation.marks.push(mark)
  conversation.tokens += mark.tokens
}

function messageTokens(message: HistoryMessage): number {
  if (message.role === "user") return estimateTokens(message.text) + filesTokens(message.files?.items)
  if (message.role === "tool") return 0
  return message.parts.reduce((sum, part) => {
    return sum + estimateTokens(part.type === "call" ? part.name + JSON.stringify(part.input) : part.text)
  }, 0)
}

/** What a result takes, with its files. */
export const resultTokens = ({ text, files }: CallResult): number => estimateTokens(text) + filesTokens(files?.items)

/** About four bytes of UTF-8 a token, which holds for English, code and (three bytes a sign) Chinese alike. */
export const estimateTokens = (text: string): number => 4 + Math.ceil(Buffer.byteLength(text) / 4)

/** As much of a text as has so many tokens by this count. */
export function withinTokens(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text
  // Whole characters only: what does not fit any more is not begun.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, Math.floor(tokens) - 4) * 4))
  return text.slice(0, read)
}
