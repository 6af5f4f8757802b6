import { CLIENT_HISTORY, type ClientContext, type Part } from "../../protocol/conversation/message.ts"
import { AppError, codeOf } from "../../protocol/errors.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { MessageId } from "../../protocol/ids.ts"
import { showHidden } from "../../shared/text/hidden-words.ts"
import { sourceHead } from "./source-numbers.ts"
import type { Call, Conversation, Mark } from "../conversation.ts"
import type { MessageInput } from "../input.ts"
import type { CallResult, HistoryMessage } from "../model.ts"
import { asOneLine, asOutside } from "../untrusted-text.ts"
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

/** The words of a message, without its calls and its thinking. */
export function messageText(parts: readonly Part[]): string {
  if (parts.length === 1 && parts[0]?.type === "text") return parts[0].text
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("")
}

/**
 * What of it the model does not know yet: what stands in its history unchanged is not told again with each message, and a
 * conversation that goes on remembers by itself what was said in it.
 */
function newlyBrought({ brought, seq }: Conversation, given: readonly ClientContext[] = []): ClientContext[] {
  return given.filter(({ name, text }) => brought.get(name) !== text && (name !== CLIENT_HISTORY || seq === 0))
}

/** What a message says beside its words, as its event keeps it: only what was said, and what is news. */
export function besideWords(conversation: Conversation, input: MessageInput) {
  const { settings, schema, asks, approves, files = [] } = input
  const brought = newlyBrought(conversation, input.brought)
  return {
    ...(settings ? { settings } : {}),
    ...(schema ? { schema } : {}),
    ...(asks ? { asks } : {}),
    ...(approves === undefined ? {} : { approves }),
    ...(brought.length > 0 ? { brought } : {}),
    ...(files.length > 0 ? { files: [...files] } : {}),
  }
}

/** As the model is shown it: words from outside, between marks that name the message. Nobody who wrote them knew its id. */
export function broughtWords(id: MessageId, given: readonly ClientContext[]): string {
  const sections = given.map(({ name, text }) => `${name}:\n${text}`)
  return asOutside(id, showHidden(`Sent along by the person's program.\n\n${sections.join("\n\n")}`))
}

/** What a provider did not take: the request as such, or what stands in it, which its files may be the reason for. */
export type Refuses = NonNullable<EventOf<"run_ended">["refuses"]>

/** Undefined for what passes, as an outage does, and says nothing of files. Of the model asked last, whichever failed before it. */
export function whatIsRefused(error: unknown): Refuses | undefined {
  const code = codeOf(error)
  if (code === "refused" || code === "context_overflow") return "content"
  const details = error instanceof AppError ? (error.details as { readonly refusesRequest?: unknown }) : {}
  return details.refusesRequest === true ? "request" : undefined
}

/**
 * A provider has refused a request, perhaps for a file in it, and would refuse every later one: no model is shown it as it
 * is again. Those of the run that failed; or all where it had none of its own and the request as such was refused.
 */
export function withholdFiles(conversation: Conversation, refuses: Refuses): void {
  const { history, marks, run } = conversation
  const isOf = (index: number) => marks[index]!.seq >= (run?.firstSeq ?? 0)
  const own = history.some((turn, index) => hasFiles(turn) && isOf(index))
  if (!history.some(hasFiles) || (!own && refuses !== "request")) return
  // A new list: a request that is under way may hold the old one.
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

/** What the model is told in the place of all that was said before. */
export function summaryWords({ summary = "", kept, outside }: Summary): string {
  const { decisions = [], proposals = [], sources = [] } = kept ?? {}
  const written = joined(summary, listed("Sources that were cited, and may be cited again:", sources.map(sourceHead)))
  const told = joined(
    // What a model has written after it read words of others, they may have written: none of it passes for what follows.
    outside ? asOutside(outside, written) : written,
    listed("What the person has decided:", decisions.map(asOneLine)),
    listed("What is proposed and not settled:", proposals.map(asOneLine)),
  )
  return `[A summary of the earlier conversation. The person still sees all of it.]\n${told}\n[End of the summary.]`
}

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n\n")

const listed = (head: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : [head, ...lines.map((line) => `- ${line}`)].join("\n")
