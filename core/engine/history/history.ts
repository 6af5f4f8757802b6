import { CLIENT_HISTORY, type ClientContext, type Part } from "../../protocol/conversation/message.ts"
import { AppError, codeOf } from "../../protocol/errors.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { MessageId } from "../../protocol/ids.ts"
import { showHidden } from "../../shared/text/show-hidden.ts"
import { sourceHead } from "./source-numbers.ts"
import type { Call, Conversation, Mark } from "../conversation.ts"
import type { MessageInput } from "../input.ts"
import type { CallResult, HistoryMessage } from "../model.ts"
import { asOneLine, markUntrusted } from "../untrusted-text.ts"
import { messageTokens, resultTokens } from "./tokens.ts"

/**
 * Adds a note for the model between its replies. It has the mark of the message it is about, so that a cut never
 * separates the two.
 */
export function tell(conversation: Conversation, text: string): void {
  addToHistory(
    conversation,
    { role: "user", text, isNote: true },
    { seq: conversation.marks.at(-1)?.seq ?? conversation.seq, tokens: 0 },
  )
}

/** Puts a result into the slot that its call has reserved. */
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
export function prependSummary(conversation: Conversation, text: string): void {
  const message: HistoryMessage = { role: "user", text, isNote: true }
  const tokens = messageTokens(message)
  // New lists, because a request in progress may hold the old ones.
  conversation.history = [message, ...conversation.history]
  conversation.marks = [{ seq: 0, tokens, isSummary: true }, ...conversation.marks]
  conversation.tokens += tokens
}

/** Between two replies if a run was resumed after a cancelled one, because providers require a user message there. */
export const CONTINUE_TURN: HistoryMessage = { role: "user", text: "Go on." }

/**
 * For a model that has called tools although it was asked for text. The same request again would get the same reply.
 */
const IN_WORDS: HistoryMessage = {
  role: "user",
  text: "[You called a tool, but no more calls can be made in this run: nothing was run. Answer now, in words, from what there is.]",
  isNote: true,
}

/** The history for this model, without other models' reasoning. */
export function historyFor(conversation: Conversation, model: string): readonly HistoryMessage[] {
  const { reasoners, run } = conversation
  const isReply = conversation.history.at(-1)?.role === "assistant"
  const last = run?.wordless ? IN_WORDS : isReply ? CONTINUE_TURN : undefined
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

/** Adds a message at the end, with its size. */
export function addToHistory(conversation: Conversation, message: HistoryMessage, mark: Mark): void {
  mark.tokens = messageTokens(message)
  conversation.history.push(message)
  conversation.marks.push(mark)
  conversation.tokens += mark.tokens
}

/**
 * The parts of a reply that providers accept in a later request: no blank text and no thinking without a result.
 * Anthropic rejects a turn that ends with thinking, OpenAI thinking without what it led to, and then every later
 * request.
 */
export function resendableParts(parts: readonly Part[]): readonly Part[] {
  const filled = parts.some(isBlank) ? parts.filter((part) => !isBlank(part)) : parts
  const last = filled.findLastIndex((part) => part.type !== "reasoning")
  return last === filled.length - 1 ? filled : filled.slice(0, last + 1)
}

/** A reply without its calls and without the thinking that led to them, which is useless alone. */
export function withoutCalls(parts: readonly Part[]): Part[] {
  let led: Part["type"] | undefined
  const retained = parts.toReversed().filter((part) => {
    if (part.type !== "reasoning") led = part.type
    return led !== "call"
  })
  return retained.reverse()
}

const isBlank = (part: Part): boolean => part.type === "text" && /^[\s\p{Cc}]*$/u.test(part.text)

/** The text of a message, without its calls and its thinking. */
export function messageText(parts: readonly Part[]): string {
  if (parts.length === 1 && parts[0]?.type === "text") return parts[0].text
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("")
}

/**
 * The client context that is new to the model. What is unchanged in its history is not sent again with each message.
 */
function changedContext({ brought, seq }: Conversation, given: readonly ClientContext[] = []): ClientContext[] {
  return given.filter(({ name, text }) => brought.get(name) !== text && (name !== CLIENT_HISTORY || seq === 0))
}

/** The optional fields of a message's event: those that are set, and only changed context. */
export function messageExtras(conversation: Conversation, input: MessageInput) {
  const { settings, schema, asks, approves, files = [] } = input
  const brought = changedContext(conversation, input.brought)
  return {
    ...(settings ? { settings } : {}),
    ...(schema ? { schema } : {}),
    ...(asks ? { asks } : {}),
    ...(approves === undefined ? {} : { approves }),
    ...(brought.length > 0 ? { brought } : {}),
    ...(files.length > 0 ? { files: [...files] } : {}),
  }
}

/** The context for the model: untrusted text between marks with the message's id, which its authors could not know. */
export function contextText(id: MessageId, given: readonly ClientContext[]): string {
  const sections = given.map(({ name, text }) => `${name}:\n${text}`)
  return markUntrusted(id, showHidden(`Sent along by the person's program.\n\n${sections.join("\n\n")}`))
}

/** The part that a provider rejected: the request, or its content, which may be caused by files. */
export type Refuses = NonNullable<EventOf<"run_ended">["refuses"]>

/** Undefined for errors that pass, such as an outage, which are not caused by files. */
export function rejectionOf(error: unknown): Refuses | undefined {
  const code = codeOf(error)
  if (code === "refused" || code === "context_overflow") return "content"
  const details = error instanceof AppError ? (error.details as { readonly refusesRequest?: unknown }) : {}
  return details.refusesRequest === true ? "request" : undefined
}

/**
 * A provider rejected a request, perhaps because of a file, and would reject every later one. So the files are no
 * longer sent: those of the failed run, or all if it had none of its own and the request itself was rejected.
 */
export function withholdFiles(conversation: Conversation, refuses: Refuses): void {
  const { history, marks, run } = conversation
  const isOf = (index: number) => marks[index]!.seq >= (run?.firstSeq ?? 0)
  const own = history.some((turn, index) => hasFiles(turn) && isOf(index))
  if (!history.some(hasFiles) || (!own && refuses !== "request")) return
  // A new list, because a request in progress may hold the old one.
  conversation.history = history.map((turn, index) => (!own || isOf(index) ? withheld(turn) : turn))
}

function hasFiles(turn: HistoryMessage): boolean {
  if (turn.role === "user") return turn.files !== undefined
  return turn.role === "tool" && turn.results.some(({ files }) => files !== undefined)
}

function withheld(turn: HistoryMessage): HistoryMessage {
  if (!hasFiles(turn)) return turn
  if (turn.role === "user" && turn.files) return { ...turn, files: { ...turn.files, withheld: true } }
  if (turn.role !== "tool") return turn
  const results = turn.results.map((result) =>
    result.files ? { ...result, files: { ...result.files, withheld: true as const } } : result,
  )
  return { ...turn, results }
}

type Summary = Pick<EventOf<"compaction">, "summary" | "kept" | "outside">

/** The text that replaces everything before it. */
export function summaryWords({ summary = "", kept, outside }: Summary): string {
  const { decisions = [], proposals = [], sources = [] } = kept ?? {}
  const written = joined(summary, listed("Sources that were cited, and may be cited again:", sources.map(sourceHead)))
  const text = joined(
    // A summary by a model that has read untrusted text is untrusted, too. It cannot imitate what follows.
    outside ? markUntrusted(outside, written) : written,
    listed("What the person has decided:", decisions.map(asOneLine)),
    listed("What is proposed and not settled:", proposals.map(asOneLine)),
  )
  return `[A summary of the earlier conversation. The person still sees all of it.]\n${text}\n[End of the summary.]`
}

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n\n")

const listed = (head: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : [head, ...lines.map((line) => `- ${line}`)].join("\n")
