import { LeftOut, Waiting } from "../../core/protocol/conversation/stages.ts"
import type { SummedUp } from "../../core/protocol/notices.ts"
import { count } from "../format.ts"
import type { MessageItem, NoticeItem, ShownMessage, Transcript } from "./transcript.ts"

/** Describes how replies ended, for the page and the terminal, without codes. */

type Ended = Pick<MessageItem["message"], "finish" | "content" | "toolCalls" | "role">

/** Describes how a reply ended, if the end was unusual; undefined for a normal one. */
export function describeEnding({ role, finish = "stop", content, toolCalls }: Ended): string | undefined {
  if (role !== "assistant" || toolCalls !== null) return undefined
  const isEmpty = content.trim() === ""
  switch (finish) {
    case "limit":
      return isEmpty
        ? "The model reached its output limit before it wrote any text. Ask again, or for less."
        : "The reply reached the output limit. Ask the model to continue."
    case "refused":
      return isEmpty ? "The model's provider declined to answer." : "The model's provider declined to continue."
    case "unknown":
      return "The provider ended the reply here without a reason. It may be incomplete."
    case "cancelled":
      return "You stopped it here."
    case "broken":
      return "The reply was interrupted here."
    case "calls":
      return isEmpty ? "The model called a tool instead of answering." : undefined
    case "stop":
      return isEmpty ? "The model sent an empty reply." : undefined
  }
}

/** Returns true if the output limit truncated the reply's text, so that the user can ask for the rest. */
export function isCutShort({ role, finish, content, toolCalls }: Ended): boolean {
  return role === "assistant" && toolCalls === null && finish === "limit" && content.trim() !== ""
}

/** The message that asks for the rest of a truncated reply. */
export const CONTINUE_TEXT = "continue"

/** Describes a notice in a conversation, such as a restart, in one line; undefined if there is nothing to show. */
export function describeNotice({ notice, detail }: Pick<NoticeItem, "notice" | "detail">): string | undefined {
  switch (notice) {
    case "restarted":
      // A tool may have been running instead.
      if (detail === "crash") return "The server restarted here. A reply in progress starts over."
      if (detail === "handover") return "Another server took over here. A reply in progress starts over."
      return `The reply was interrupted, because ${causeOf(detail, "the provider")}. It starts over.`
    case "fallback":
      return (detail ?? "").replace(/^[a-z_]+: /, "")
    case "history_cut":
      return `The conversation is too long for the model. From here on, it sees only the messages after message ${detail}. You still see all of them.`
    case "compacted":
      return "Earlier messages were summarized here for the model. You still see all of them."
    case "not_compacted":
      return noSummaryText(detail)
    case "cancelled":
      return detail === "forked" ? undefined : "Stopped."
    case "failed":
      // The code before the text is for programs.
      return `This run failed. ${(detail ?? "").replace(/^[a-z_]+: /, "")}`.trim()
  }
}

/** Describes which messages a summary replaced and which stay. Older servers did not send the counts. */
export function describeSummary({ messages, tokens = 0 }: SummedUp): string {
  const gone = messages === undefined ? "Earlier messages" : count(messages, "message")
  const room = tokens > 0 ? `, which frees about ${count(tokens, "token")}` : ""
  return `The model sees this summary instead of the earlier conversation: it replaces ${gone}${room}. Your last question and its answer stay as they are.`
}

/** Lists what a summary includes word for word, with a heading for each list. */
export function summaryLists({ kept }: SummedUp): { readonly head: string; readonly lines: readonly string[] }[] {
  const { decisions = [], proposals = [], sources = [] } = kept ?? {}
  const titles = sources.map(({ title, number }) => (number === undefined ? title : `[${number}] ${title}`))
  return [
    { head: "Kept word for word: your decisions", lines: decisions },
    { head: "Kept word for word: open proposals", lines: proposals },
    { head: "Kept word for word: cited sources", lines: titles },
  ].filter(({ lines }) => lines.length > 0)
}

function noSummaryText(problem: string | null): string {
  switch (problem) {
    case "nothing_to_sum_up":
      return "There is nothing to summarize yet."
    case "switched_off":
      return "No summary was written: this server has no model for summaries."
    case "over_budget":
      return "No summary was written, because it would have exceeded the cost limit. The model sees fewer messages."
    default:
      return "The summary failed. If the conversation is too long for the model, it sees fewer messages."
  }
}

/** Describes a `waiting` step, which reports that the run waits for a model provider; undefined for other steps. */
export function describeWaiting(step: string, detail: unknown): string | undefined {
  const waiting = step === "waiting" ? Waiting.safeParse(detail).data : undefined
  if (!waiting) return undefined
  const cause = causeOf(waiting.because, waiting.provider)
  const { seconds, until, attempt, attempts } = waiting
  const wait = `${cause.slice(0, 1).toUpperCase()}${cause.slice(1)}: waiting ${seconds} s before the next attempt.`
  if (until === undefined || attempt === undefined || attempts === undefined) return wait
  return `${wait} Request ${attempt} of ${attempts} at ${timeOfDay(until)}.`
}

/** Describes a `left_out` step, which lists settings that the model does not support; undefined for other steps. */
export function describeLeftOut(step: string, detail: unknown): string | undefined {
  const left = step === "left_out" ? LeftOut.safeParse(detail).data : undefined
  if (!left) return undefined
  const changed = left.settings.map(({ name, because }) => `${name} (${because})`)
  return `${left.model} does not support all settings: ${changed.join("; ")}.`
}

/** Formats the local time. */
function timeOfDay(iso: string): string {
  const at = new Date(iso)
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":")
}

function causeOf(code: string | null, provider: string): string {
  switch (code) {
    case "rate_limited":
      return `${provider} has reached its rate limit`
    case "overloaded":
      return `${provider} is overloaded`
    case "model_silent":
      return `${provider} sent nothing for too long`
    default:
      return `${provider} failed`
  }
}

/** Formats the duration of thinking, such as `Thought for 12 s`; `Thought` if it is unknown. */
export function formatThought(ms: number | undefined): string {
  return ms === undefined ? "Thought" : `Thought for ${seconds(ms)}`
}

/** Formats the duration of thinking in progress, such as `Thinking 12 s`. */
export const formatThinking = (ms: number): string => `Thinking ${seconds(ms)}`

/** Whole seconds, because tenths would flicker. */
function seconds(ms: number): string {
  const whole = Math.max(1, Math.round(ms / 1000))
  if (whole < 60) return `${whole} s`
  return whole % 60 === 0 ? `${whole / 60} min` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** Returns the last line of the thinking, to show progress. */
export function lastThought(text: string): string {
  const end = text.trimEnd()
  // Bounded, because this runs with every delta.
  const tail = end.slice(-TAIL)
  return tail.slice(tail.lastIndexOf("\n") + 1).trim()
}

const TAIL = 400

/** Returns the latest thinking: of the reply in progress, or of the newest message that has some. */
export function lastReasoning({ thinking, items }: Transcript): LastReasoning | undefined {
  if (thinking) return { text: thinking.text, ms: thinking.ms }
  const found = items.findLast((item) => item.type === "message" && item.message.reasoning !== undefined)
  if (found?.type !== "message" || !found.message.reasoning) return undefined
  const { text, ms } = found.message.reasoning
  return { text, ...(ms === undefined ? {} : { ms }), message: found.message }
}

interface LastReasoning {
  readonly text: string
  readonly ms?: number
  /** The message of the thinking; undefined while it is in progress. */
  readonly message?: ShownMessage
}
