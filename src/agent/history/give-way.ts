import { type Conversation, type Mark } from "../conversation.ts"
import { resultTokens } from "./tokens.ts"
import type { CallResult, HistoryMessage } from "../model.ts"
import { READ_EARLIER } from "../definition/earlier-names.ts"

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
