import type { Call, Conversation, Mark } from "../conversation.ts"
import type { CallResult, HistoryMessage } from "../model.ts"
import { messageTokens, resultTokens } from "./tokens.ts"

/** Tells the model something between its replies. It shares the mark of what it is about, so that a cut never parts the two. */
export function tell(conversation: Conversation, text: string): void {
  addToHistory(
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

/** Puts a summary before everything else. */
export function putFirst(conversation: Conversation, text: string): void {
  const message: HistoryMessage = { role: "user", text, isNote: true }
  const tokens = messageTokens(message)
  // New lists: a request that is under way may hold the old ones.
  conversation.history = [message, ...conversation.history]
  conversation.marks = [{ seq: 0, tokens, isSummary: true }, ...conversation.marks]
  conversation.tokens += tokens
}

/** Stands between two replies where a run was resumed after a cancelled one: providers want words of a person there. */
export const TOLD_TO_GO_ON: HistoryMessage = { role: "user", text: "Go on." }

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
  const last = run?.wordless ? IN_WORDS : isReply ? TOLD_TO_GO_ON : undefined
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

/** Adds a message at the end, with what it takes. */
export function addToHistory(conversation: Conversation, message: HistoryMessage, mark: Mark): void {
  mark.tokens = messageTokens(message)
  conversation.history.push(message)
  conversation.marks.push(mark)
  conversation.tokens += mark.tokens
}
