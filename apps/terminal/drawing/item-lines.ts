import { describeQuestionStep } from "../../../client/transcript/open-questions.ts"
import { citationLegend } from "../../../client/transcript/citation-words.ts"
import {
  describeEnding,
  isCutShort,
  describeLeftOut,
  describeNotice,
  describeWaiting,
} from "../../../client/transcript/reply-words.ts"
import type { Item, MessageItem, NoticeItem, StepItem } from "../../../client/transcript/transcript.ts"
import { RouterDecision } from "../../../core/protocol/conversation/stages.ts"
import { isSettled } from "../../../core/protocol/proposals/proposal.ts"
import { type CallDrawing, callLines } from "./call-lines.ts"
import { BOLD, DIM, type Line, line, span, type Style } from "../line.ts"
import { markdownLines } from "./markdown-lines.ts"
import { toShown, toShownLines } from "../shown.ts"
import { thoughtLines } from "./thought-lines.ts"
import { duration, humanName } from "../../../client/words.ts"
import { wrap } from "../wrap.ts"
import { chatText } from "../../strings/chat.ts"

/** Whether nothing will change about it any more: then it is printed once, above everything that still moves. */
export function isFinal(item: Item): boolean {
  if (item.type === "call") return item.isOver
  return item.type !== "proposal" || isSettled(item.proposal.status)
}

/** How an item looks. A call and what was asked about it are one. */
export function itemLines(item: Item, width: number, context: CallDrawing = {}): Line[] {
  switch (item.type) {
    case "message":
      return item.message.role === "user"
        ? [...userLines(item.message.content, width), ...moreLines(item.message, width)]
        : [
            ...reasonedLines(item.message, width),
            ...replyLines(item.message.content, width),
            ...endingLines(item.message, width),
          ]
    case "call":
      return callLines(item, width, context)
    case "proposal":
      // Its call tells of it; while it waits it is shown where it is decided.
      return []
    case "step":
      return stepLines(item, width)
    case "notice":
      return noticeLines(item, width)
    case "unknown":
      return wrap(line(chatText.unknownEvent(toShown(item.frame.type)), DIM), width)
  }
}

/** A long pasted message is shown shortened: its author knows it. */
const MAX_OWN = 40

export const isLongOwn = (text: string): boolean => text.trimEnd().split("\n", MAX_OWN + 1).length > MAX_OWN

export function userLines(text: string, width: number, isWhole = false): Line[] {
  const all = toShownLines(text.trimEnd())
  const shown = isWhole || !isLongOwn(text) ? all : all.slice(0, MAX_OWN / 2)
  const lines = shown.flatMap((each) => wrap(line(each, BOLD), width - 2))
  const left = all.length - shown.length
  if (left > 0) lines.push(line(chatText.moreLinesOfMessage(left), DIM))
  return [[], ...lines.map((each, index): Line => [span(index === 0 ? "> " : "  ", { colour: "cyan" }), ...each])]
}

/** Empty where a reply has only called tools. */
export function replyLines(text: string, width: number): Line[] {
  return text.trim() === "" ? [] : [[], ...markdownLines(text, width)]
}

/** That it was thought about, where there is something to be read of that. */
export const reasonedLines = ({ reasoning }: MessageItem["message"], width: number): Line[] =>
  reasoning ? thoughtLines(reasoning.ms, width) : []

/** Why it ended, where that is not plain; that somebody stopped it is told by the notice below. */
export function endingLines(message: MessageItem["message"], width: number): Line[] {
  const ended = message.finish === "cancelled" ? undefined : describeEnding(message)
  const words = ended !== undefined && isCutShort(message) ? chatText.continueCut(ended) : ended
  return [
    ...moreLines(message, width),
    ...legendLines(message, width),
    ...(words === undefined ? [] : warnLines(words, width, DIM)),
  ]
}

/** More than anybody follows up. */
const MAX_OF_LEGEND = 50

/** What the markers of an answer stand for, and which of them not to rely on: here nothing can be clicked. */
function legendLines({ data }: MessageItem["message"], width: number): Line[] {
  const { sources, problems } = citationLegend(data)
  const shown = sources.slice(0, MAX_OF_LEGEND).flatMap((each) => wrap(line(toShown(each), DIM), width, [span("  ")]))
  const flagged = problems.slice(0, MAX_OF_LEGEND).flatMap((each) => warnLines(each, width, { colour: "yellow" }))
  return shown.length + flagged.length === 0 ? [] : [[], ...shown, ...flagged]
}

/** What a message that was told with its beginning has beyond it. */
function moreLines({ truncated, length = 0, content }: MessageItem["message"], width: number): Line[] {
  if (!truncated) return []
  return wrap(line(chatText.moreCharacters(length - content.length), DIM), width)
}

const warnLines = (words: string, width: number, style: Style): Line[] =>
  wrap(line(`! ${toShown(words)}`, style), width, [span("  ")])

function stepLines({ step, detail }: StepItem, width: number): Line[] {
  const told = describeWaiting(step, detail) ?? describeLeftOut(step, detail)
  if (told !== undefined) return warnLines(told, width, DIM)
  const { data } = RouterDecision.safeParse(detail)
  const ms = typeof detail === "object" && detail !== null ? (detail as { ms?: unknown }).ms : undefined
  const beside = [...describeQuestionStep(step, detail), ...(typeof ms === "number" ? [duration(ms)] : [])]
  const words = [humanName(step), ...(data?.profiles ?? []), ...beside]
  return wrap(line(`· ${words.map(toShown).join(" · ")}`, DIM), width)
}

function noticeLines(item: NoticeItem, width: number): Line[] {
  const says = describeNotice(item)
  const more = item.notice === "compacted" ? chatText.summaryHint : ""
  return says === undefined ? [] : warnLines(says + more, width, item.notice === "failed" ? { colour: "red" } : DIM)
}
