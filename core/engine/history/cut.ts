import type { EventOf } from "../../protocol/events.ts"
import type { Conversation, Mark } from "../conversation.ts"
import { READ_EARLIER } from "../definition/joined-tools.ts"
import type { CallResult, HistoryMessage } from "../model.ts"
import { resultTokens } from "./tokens.ts"

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

/** Shorter results stay: a reference would be hardly shorter. */
const LONG_CHARACTERS = 600
/** The results of so many replies stay whole: they are what the model is at work with. */
const NEWEST_WHOLE = 3
/** Of the budget: less is not worth a prompt cache that has to be filled anew. A summary would cost more than that. */
const WORTH = 0.125

/** Up to where results may give way to references, and what that saves; undefined where it is too little. */
export function referencePoint(
  conversation: Conversation,
  budget: number,
): { seq: number; tokens: number } | undefined {
  const { history, marks } = conversation
  const turns = history.flatMap(({ role }, index) => (role === "tool" ? [index] : []))
  const first = turns.at(-NEWEST_WHOLE)
  const seq = first === undefined ? undefined : marks[first]?.seq
  if (seq === undefined || turns.length <= NEWEST_WHOLE) return undefined
  const tokens = turns.reduce((sum, index) => {
    const [message, mark] = [history[index] as HistoryMessage, marks[index] as Mark]
    return mark.seq < seq ? sum + mark.tokens - tokensOf(referred(message, mark)) : sum
  }, 0)
  return tokens >= budget * WORTH ? { seq, tokens } : undefined
}

/** Folds it in: long results before `seq` are told as references. */
export function giveWay(conversation: Conversation, seq: number): void {
  const { history, marks } = conversation
  // A new list of new messages: a request that is under way may hold the old ones.
  conversation.history = history.map((message, index) => {
    const mark = marks[index] as Mark
    if (message.role !== "tool" || mark.seq >= seq) return message
    const shorter = referred(message, mark)
    mark.tokens = tokensOf(shorter)
    return shorter
  })
  conversation.tokens = marks.reduce((sum, mark) => sum + mark.tokens, 0)
}

function referred(message: HistoryMessage, { positions = [] }: Mark): HistoryMessage {
  if (message.role !== "tool") return message
  const results = message.results.map((result, index) => {
    const position = positions[index]
    return position === undefined || result.text.length <= LONG_CHARACTERS ? result : toReference(result, position)
  })
  return { role: "tool", results }
}

/** Without its files: they would take more room than its words. */
const toReference = ({ files: _, ...result }: CallResult, position: number): CallResult => ({
  ...result,
  text: `[This result, ${result.text.length} characters, has given way to newer ones. ${READ_EARLIER} {"position": ${position}} reads it again.]`,
})

const tokensOf = (message: HistoryMessage): number =>
  message.role === "tool" ? message.results.reduce((sum, result) => sum + resultTokens(result), 0) : 0
