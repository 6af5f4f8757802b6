import { LeftOut, Waiting } from "../../protocol/conversation/stages.ts"
import type { SummedUp } from "../../protocol/notices.ts"
import { count } from "../words.ts"
import type { MessageItem, NoticeItem } from "./transcript.ts"

/** What becomes of replies, in sentences for people: the same in the page and in the terminal, and never in codes. */

type Ended = Pick<MessageItem["message"], "finish" | "content" | "toolCalls" | "role">

/** How a reply ended, where that is not plain. */
export function endingWords({ role, finish = "stop", content, toolCalls }: Ended): string | undefined {
  if (role !== "assistant" || toolCalls !== null) return undefined
  const isEmpty = content.trim() === ""
  switch (finish) {
    case "limit":
      return isEmpty
        ? "The model reached its limit before it said a word; ask again, or for less."
        : "The model reached its limit here; ask it to go on."
    case "refused":
      return isEmpty ? "The model's provider declined to answer." : "The model's provider declined to go on."
    case "unknown":
      return "The provider ended the reply here and did not say why; it may not be all of it."
    case "cancelled":
      return "You stopped it here."
    case "broken":
      return "The reply broke off here."
    case "calls":
      return isEmpty ? "The model called a tool where it had to answer, and said nothing." : undefined
    case "stop":
      return isEmpty ? "The model ended its reply without a word." : undefined
  }
}

/** Whether its limit cut the reply in the middle of its words, so that asking for the rest makes sense. */
export function isCutShort({ role, finish, content, toolCalls }: Ended): boolean {
  return role === "assistant" && toolCalls === null && finish === "limit" && content.trim() !== ""
}

/** What a person says, at a click or a word, to a reply that was cut: the half of it stays, and the next one goes on. */
export const GO_ON = "continue"

/** A line of small print; undefined where there is nothing to say. */
export function noticeWords({ notice, detail }: Pick<NoticeItem, "notice" | "detail">): string | undefined {
  switch (notice) {
    case "restarted":
      // It may have been a tool that was at work.
      if (detail === "crash") return "The server stopped here and has gone on; a reply that was begun is begun anew."
      if (detail === "handover") return "Another server has taken over here; a reply that was begun is begun anew."
      return `The reply broke off, because ${causeOf(detail, "the provider")}; it is begun anew.`
    case "fallback":
      return (detail ?? "").replace(/^[a-z_]+: /, "")
    case "history_cut":
      return `The conversation has grown too long for the model: from here on it sees only what came after message ${detail}. You still see all of it.`
    case "compacted":
      return "What was said before was summed up here for the model. You still see all of it."
    case "not_compacted":
      return noSummaryWords(detail)
    case "cancelled":
      return detail === "forked" ? undefined : "Stopped."
    case "failed":
      // The code before the sentence is for programs.
      return `This run failed. ${(detail ?? "").replace(/^[a-z_]+: /, "")}`.trim()
  }
}

/** What a summary took the place of, and what it did not touch; the same for every summary where an older server has not counted. */
export function gaveWayWords({ messages, tokens = 0 }: SummedUp): string {
  const gone = messages === undefined ? "What was said first" : count(messages, "message")
  const room = tokens > 0 ? `, which frees about ${count(tokens, "token")}` : ""
  return `The model is shown this in place of what was said before: ${gone} gave way to it${room}. Your last question and its answer stay as they are.`
}

/** What stands beside a summary word for word, in lists with a heading each. */
export function keptLists({ kept }: SummedUp): { readonly head: string; readonly lines: readonly string[] }[] {
  const { decisions = [], proposals = [], sources = [] } = kept ?? {}
  const titles = sources.map(({ title, number }) => (number === undefined ? title : `[${number}] ${title}`))
  return [
    { head: "Kept word for word: what you decided", lines: decisions },
    { head: "Kept word for word: what is proposed and not settled", lines: proposals },
    { head: "Kept word for word: sources that were cited", lines: titles },
  ].filter(({ lines }) => lines.length > 0)
}

function noSummaryWords(problem: string | null): string {
  switch (problem) {
    case "nothing_to_sum_up":
      return "There is nothing to sum up yet: the last words and their answer stay as they are."
    case "switched_off":
      return "Nothing was summed up: this server has no model for it."
    case "over_budget":
      return "Nothing was summed up: it would have cost more than is allowed. The model sees less of what was said."
    default:
      return "A summary could not be made. Where the model cannot read all of it, it sees less of what was said."
  }
}

/** What is waited for, and how long; undefined for another step. */
export function waitingWords(step: string, detail: unknown): string | undefined {
  const waiting = step === "waiting" ? Waiting.safeParse(detail).data : undefined
  if (!waiting) return undefined
  const cause = causeOf(waiting.because, waiting.provider)
  const { seconds, until, attempt, attempts } = waiting
  const wait = `${cause.slice(0, 1).toUpperCase()}${cause.slice(1)}: waiting ${seconds} s, then asking again.`
  if (until === undefined || attempt === undefined || attempts === undefined) return wait
  return `${wait} Request ${attempt} of ${attempts} at ${timeOfDay(until)}.`
}

/** What was set and does not count, and why; undefined for another step. */
export function leftOutWords(step: string, detail: unknown): string | undefined {
  const left = step === "left_out" ? LeftOut.safeParse(detail).data : undefined
  if (!left) return undefined
  const told = left.settings.map(({ name, because }) => `${name} (${because})`)
  return `${left.model} does not take a setting as it is: ${told.join("; ")}.`
}

/** By the clock on the wall of whoever reads it. */
function timeOfDay(iso: string): string {
  const at = new Date(iso)
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":")
}

function causeOf(code: string | null, provider: string): string {
  switch (code) {
    case "rate_limited":
      return `${provider} limits our rate`
    case "overloaded":
      return `${provider} is overloaded`
    case "model_silent":
      return `${provider} fell silent`
    default:
      return `${provider} failed`
  }
}
