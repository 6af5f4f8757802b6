import { describeAsker, describePart, openQuestions } from "../../../client/transcript/open-questions.ts"
import { describeClientWait } from "../../../client/transcript/shown-calls.ts"
import type { Transcript } from "../../../client/transcript/transcript.ts"
import type { QueuedMessage } from "../../../core/protocol/answers.ts"
import type { Question, QuestionField } from "../../../core/protocol/conversation/questions.ts"
import { chatText } from "../../strings/chat.ts"
import { DIM, type Line, line, span } from "../line.ts"
import { toShown, toShownLines } from "../shown.ts"
import { clip, wrap } from "../wrap.ts"

/** What a conversation waits for beside decisions: programs, and answers to what servers of tools ask. */
export function noteLines(transcript: Transcript, now: number, columns: number): Line[] {
  const asked = openQuestions(transcript, now).slice(0, 1) // one after the other: an answer is to the first
  return [...programLines(transcript, now, columns), ...asked.flatMap((question) => questionLines(question, columns))]
}

function questionLines(question: Question, columns: number): Line[] {
  const { message, fields, url, expiresAt } = question
  const part = describePart(question)
  const until = toTimeOfDay(new Date(expiresAt).toISOString())
  const shown = [
    ...wrap(line(toShown(`? ${describeAsker(question)}`), { colour: "yellow" }), columns),
    ...toShownLines(message).flatMap((each) => wrap(line(`  ${each}`), columns)),
    ...(part === undefined ? [] : wrap(line(`  ${part}`, DIM), columns)),
    ...fields.flatMap((field) => wrap(line(toShown(`  ${fieldWords(field)}`)), columns)),
    ...(url === undefined ? [] : wrap(line(toShown(chatText.questionUrl(url))), columns)),
  ]
  return [...shown, ...wrap(line(chatText.questionUntil(until, howTo(fields)), DIM), columns)]
}

function fieldWords({ name, label, kind, about, options = [], isRequired }: QuestionField): string {
  const offered = options.map(({ value, label: title }) => (title === value ? value : `${value} (${title})`)).join(", ")
  const what = [
    kind === "boolean" ? chatText.questionYesNo : kind,
    offered,
    isRequired ? chatText.questionRequired : "",
    about ?? "",
  ].filter(Boolean)
  return `${name}${label === name ? "" : ` – ${label}`}: ${what.join("; ")}`
}

const howTo = (fields: readonly QuestionField[]): string => {
  if (fields.length === 0) return chatText.questionAgree
  return fields.length === 1 ? chatText.questionOne : chatText.questionSeveral
}

/** That it waits for a program and not for the person, and how to go on; there is no card that would say so. */
export function programLines(transcript: Transcript, now: number, columns: number): Line[] {
  const says = describeClientWait(transcript, { now, toTime: toTimeOfDay })
  return says === undefined ? [] : wrap(line(toShown(chatText.programWaits(says)), { colour: "yellow" }), columns)
}

export const toTimeOfDay = (iso: string): string =>
  new Date(iso).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })

const MAX_QUEUED = 3

/** Messages that wait: what for, and how each is sent now or taken back. By how things stand, not by how it was meant. */
export function queueLines(queue: readonly QueuedMessage[], transcript: Transcript, columns: number): Line[] {
  if (queue.length === 0) return []
  const [isHeld, help] = standing(transcript)
  const lines = queue.slice(0, MAX_QUEUED).map(({ text, when }) => {
    const isSteering = when === "steer" && transcript.status === "running"
    const how = isHeld ? chatText.queueHeld : isSteering ? chatText.queueSteers : chatText.queueWaits
    return wordsLine(how, text, columns)
  })
  const more = queue.length - MAX_QUEUED
  const rest = more > 0 ? [line(chatText.queueMore(more), DIM)] : []
  return [...lines, ...rest, clip(line(`  ${help}`, DIM), columns)]
}

function standing({ status, run }: Transcript): [isHeld: boolean, help: string] {
  if (status === "running") return [false, chatText.queueWhileRunning]
  if (status === "awaiting_confirmation") return [false, chatText.queueWhileDeciding]
  if (run?.status === "completed") return [false, chatText.queueNow]
  // Of a conversation that is taken up again nobody knows the run; what still waits then was held.
  const why = run === null && status !== "failed" ? "ended" : status === "failed" ? "failed" : "stopped"
  return [true, chatText.queueHeldBecause(why)]
}

export const wordsLine = (how: string, text: string, columns: number): Line =>
  clip([span(how, DIM), span(toShown(text.slice(0, 1000).replaceAll(/\s+/g, " ")))], columns)

/** The end of what does not fit, under a line that says so. */
export function tailLines(lines: readonly Line[], rows: number): Line[] {
  if (lines.length <= rows) return [...lines]
  if (rows <= 1) return []
  return [line(chatText.linesAbove(lines.length - rows + 1), DIM), ...lines.slice(lines.length - rows + 1)]
}
