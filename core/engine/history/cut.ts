import type { EventOf } from "../../protocol/events.ts"
import type { Conversation, Mark } from "../conversation.ts"
import { READ_EARLIER } from "../definition/joined-tools.ts"
import type { CallResult, HistoryMessage } from "../model.ts"
import { resultTokens } from "./tokens.ts"

/** Removes everything before `seq` from the history, except the current question, and the summary unless stated. */
export function cutHistory(conversation: Conversation, { seq, summary }: Pick<HistoryCut, "seq" | "summary">): void {
  const { history, marks } = conversation
  conversation.brought = new Map() // what was removed with it must be sent again
  conversation.compaction.hasGivenWay = true
  const stays = (mark: Mark) =>
    mark.isSummary ? summary !== "dropped" : mark.seq >= seq || isQuestion(conversation, mark)
  const retained = marks.flatMap((mark, index) => (stays(mark) ? [index] : []))
  conversation.history = retained.map((index) => history[index] as HistoryMessage)
  conversation.marks = retained.map((index) => marks[index] as Mark)
  conversation.tokens = conversation.marks.reduce((sum, mark) => sum + mark.tokens, 0)
}

const isQuestion = ({ run }: Conversation, mark: Mark) => mark.question !== undefined && mark.question === run?.question

/**
 * Returns the cut for a history that exceeds its budget: down to half, so that the next cut is far away and the provider's
 * prompt cache stays valid until then. Undefined if it fits, or if nothing more can be removed.
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
    // Messages with one number stay together: a reply with its results, and notes with their message.
    const first = marks[index - 1]?.seq !== mark.seq
    // A history starts with a user message: an older run is cut at its question, and only the open run inside.
    if (dropped > 0 && first && (role === "user" || (insideRun && role === "assistant"))) {
      best = { seq: mark.seq, tokens: dropped }
      if (conversation.tokens - dropped <= budget / 2) break
    }
    if (isQuestion(conversation, mark)) insideRun = true
    else if (!stays(mark)) dropped += mark.tokens
  }
  const [first] = marks
  if (!first || !stays(first) || (best && conversation.tokens - best.tokens <= budget)) return best
  // It was written for a model with a larger context, and is part of the excess.
  return { seq: best?.seq ?? 0, tokens: (best?.tokens ?? 0) + first.tokens, summary: "dropped" }
}

type HistoryCut = EventOf<"history_cut">
type CutPoint = Pick<HistoryCut, "seq" | "tokens" | "summary">

/** Shorter results stay, because a reference would be hardly shorter. */
const LONG_CHARACTERS = 600
/** The results of this many replies stay whole, because the model is working with them. */
const NEWEST_WHOLE = 3
/** The least share of the budget: less is not worth invalidating the prompt cache. A summary would cost more than that. */
const WORTH = 0.125

/** Up to where results can be replaced by references, and what that saves; undefined if it is too little. */
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

/** Replaces long results before `seq` with references. */
export function replaceWithReferences(conversation: Conversation, seq: number): void {
  const { history, marks } = conversation
  // A new list of new messages, because a request in progress may hold the old ones.
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

/** Without its files, which would take more space than its text. */
const toReference = ({ files: _, ...result }: CallResult, position: number): CallResult => ({
  ...result,
  text: `[This result, ${result.text.length} characters, has given way to newer ones. ${READ_EARLIER} {"position": ${position}} reads it again.]`,
})

const tokensOf = (message: HistoryMessage): number =>
  message.role === "tool" ? message.results.reduce((sum, result) => sum + resultTokens(result), 0) : 0
