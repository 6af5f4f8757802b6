import type { EventOf } from "../../protocol/events.ts"
import type { Conversation, Mark } from "../conversation.ts"
import type { HistoryMessage } from "../model.ts"

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
