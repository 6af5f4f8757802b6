import { describeQuestionStep } from "../../../client/transcript/open-questions.ts"
import { citationLegend } from "../../../client/transcript/citation-text.ts"
import {
  describeEnding,
  isCutShort,
  describeLeftOut,
  describeNotice,
  describeWaiting,
} from "../../../client/transcript/reply-text.ts"
import type { Item, MessageItem, NoticeItem, StepItem } from "../../../client/transcript/transcript.ts"
import { RouterDecision } from "../../../core/protocol/conversation/stages.ts"
import { isSettled } from "../../../core/protocol/proposals/proposal.ts"
import { type CallDrawing, callLines } from "./call-lines.ts"
import { BOLD, DIM, type Line, line, span, type Style } from "../line.ts"
import { markdownLines } from "./markdown-lines.ts"
import { printable, printableLines } from "../printable.ts"
import { reasoningHeadLines } from "./reasoning-lines.ts"
import { duration, humanName } from "../../../client/format.ts"
import { wrap } from "../wrap.ts"
import { chatText } from "../../strings/chat.ts"

/** Whether the item will not change any more: then it is printed once, above everything that is still redrawn. */
export function isFinal(item: Item): boolean {
  if (item.type === "call") return item.isOver
  return item.type !== "proposal" || isSettled(item.proposal.status)
}

/** Draws an item. A tool call and its proposal are drawn as one. */
export function itemLines(item: Item, width: number, context: CallDrawing = {}): Line[] {
  switch (item.type) {
    case "message":
      return item.message.role === "user"
        ? [...userLines(item.message.content, width), ...truncatedLines(item.message, width)]
        : [
            ...reasoningSummaryLines(item.message, width),
            ...replyLines(item.message.content, width),
            ...endingLines(item.message, width),
          ]
    case "call":
      return callLines(item, width, context)
    case "proposal":
      // It is drawn with its call. While it waits, the change card shows it.
      return []
    case "step":
      return stepLines(item, width)
    case "notice":
      return noticeLines(item, width)
    case "unknown":
      return wrap(line(chatText.unknownEvent(printable(item.frame.type)), DIM), width)
  }
}

/** A long pasted message is shortened, because its author knows it. */
const MAX_MESSAGE_LINES = 40

export const isLongMessage = (text: string): boolean =>
  text.trimEnd().split("\n", MAX_MESSAGE_LINES + 1).length > MAX_MESSAGE_LINES

export function userLines(text: string, width: number, isWhole = false): Line[] {
  const all = printableLines(text.trimEnd())
  const shown = isWhole || !isLongMessage(text) ? all : all.slice(0, MAX_MESSAGE_LINES / 2)
  const lines = shown.flatMap((each) => wrap(line(each, BOLD), width - 2))
  const left = all.length - shown.length
  if (left > 0) lines.push(line(chatText.moreLinesOfMessage(left), DIM))
  return [[], ...lines.map((each, index): Line => [span(index === 0 ? "> " : "  ", { colour: "cyan" }), ...each])]
}

/** Empty if a reply consists of tool calls only. */
export function replyLines(text: string, width: number): Line[] {
  return text.trim() === "" ? [] : [[], ...markdownLines(text, width)]
}

export const reasoningSummaryLines = ({ reasoning }: MessageItem["message"], width: number): Line[] =>
  reasoning ? reasoningHeadLines(reasoning.ms, width) : []

/** Why the reply ended, if that is not obvious. A cancelled run has its own notice. */
export function endingLines(message: MessageItem["message"], width: number): Line[] {
  const ended = message.finish === "cancelled" ? undefined : describeEnding(message)
  const words = ended !== undefined && isCutShort(message) ? chatText.continueCut(ended) : ended
  return [
    ...truncatedLines(message, width),
    ...legendLines(message, width),
    ...(words === undefined ? [] : warnLines(words, width, DIM)),
  ]
}

const MAX_OF_LEGEND = 50

/** The sources that the markers of an answer refer to, and which of them are unreliable. */
function legendLines({ data }: MessageItem["message"], width: number): Line[] {
  const { sources, problems } = citationLegend(data)
  const shown = sources.slice(0, MAX_OF_LEGEND).flatMap((each) => wrap(line(printable(each), DIM), width, [span("  ")]))
  const flagged = problems.slice(0, MAX_OF_LEGEND).flatMap((each) => warnLines(each, width, { colour: "yellow" }))
  return shown.length + flagged.length === 0 ? [] : [[], ...shown, ...flagged]
}

/** How much of a truncated message is not shown. */
function truncatedLines({ truncated, length = 0, content }: MessageItem["message"], width: number): Line[] {
  if (!truncated) return []
  return wrap(line(chatText.moreCharacters(length - content.length), DIM), width)
}

const warnLines = (words: string, width: number, style: Style): Line[] =>
  wrap(line(`! ${printable(words)}`, style), width, [span("  ")])

function stepLines({ step, detail }: StepItem, width: number): Line[] {
  const told = describeWaiting(step, detail) ?? describeLeftOut(step, detail)
  if (told !== undefined) return warnLines(told, width, DIM)
  const { data } = RouterDecision.safeParse(detail)
  const ms = typeof detail === "object" && detail !== null ? (detail as { ms?: unknown }).ms : undefined
  const beside = [...describeQuestionStep(step, detail), ...(typeof ms === "number" ? [duration(ms)] : [])]
  const words = [humanName(step), ...(data?.profiles ?? []), ...beside]
  return wrap(line(`· ${words.map(printable).join(" · ")}`, DIM), width)
}

function noticeLines(item: NoticeItem, width: number): Line[] {
  const says = describeNotice(item)
  const more = item.notice === "compacted" ? chatText.summaryHint : ""
  return says === undefined ? [] : warnLines(says + more, width, item.notice === "failed" ? { colour: "red" } : DIM)
}
