import { describeAsker, describePart, openQuestions } from "../../../client/transcript/open-questions.ts"
import { describeClientWait } from "../../../client/transcript/shown-calls.ts"
import type { Transcript } from "../../../client/transcript/transcript.ts"
import type { QueuedMessage } from "../../../core/protocol/answers.ts"
import type { Question, QuestionField } from "../../../core/protocol/conversation/questions.ts"
import { chatText } from "../../strings/chat.ts"
import { DIM, type Line, line, span } from "../line.ts"
import { printable, printableLines } from "../printable.ts"
import { clip, wrap } from "../wrap.ts"

/** Lines about what a conversation waits for besides decisions: programs, and answers to questions of tools. */
export function waitingLines(transcript: Transcript, now: number, columns: number): Line[] {
  const asked = openQuestions(transcript, now).slice(0, 1) // one after the other: an answer is for the first question
  return [...programLines(transcript, now, columns), ...asked.flatMap((question) => questionLines(question, columns))]
}

function questionLines(question: Question, columns: number): Line[] {
  const { message, fields, url, expiresAt } = question
  const part = describePart(question)
  const until = toTimeOfDay(new Date(expiresAt).toISOString())
  const lines = [
    ...wrap(line(printable(`? ${describeAsker(question)}`), { colour: "yellow" }), columns),
    ...printableLines(message).flatMap((each) => wrap(line(`  ${each}`), columns)),
    ...(part === undefined ? [] : wrap(line(`  ${part}`, DIM), columns)),
    ...fields.flatMap((field) => wrap(line(printable(`  ${describeField(field)}`)), columns)),
    ...(url === undefined ? [] : wrap(line(printable(chatText.questionUrl(url))), columns)),
  ]
  return [...lines, ...wrap(line(chatText.questionUntil(until, howTo(fields)), DIM), columns)]
}

function describeField({ name, label, kind, about, options = [], isRequired }: QuestionField): string {
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

/** Says that the conversation waits for a program and how to continue. */
export function programLines(transcript: Transcript, now: number, columns: number): Line[] {
  const says = describeClientWait(transcript, { now, toTime: toTimeOfDay })
  return says === undefined ? [] : wrap(line(printable(chatText.programWaits(says)), { colour: "yellow" }), columns)
}

export const toTimeOfDay = (iso: string): string =>
  new Date(iso).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })

const MAX_QUEUED = 3

/**
 * Queued messages: what each waits for, and how to send or withdraw it. Described by the current state, not by how they
 * were sent.
 */
export function queueLines(queue: readonly QueuedMessage[], transcript: Transcript, columns: number): Line[] {
  if (queue.length === 0) return []
  const [isHeld, help] = queueState(transcript)
  const lines = queue.slice(0, MAX_QUEUED).map(({ text, when }) => {
    const isSteering = when === "steer" && transcript.status === "running"
    const how = isHeld ? chatText.queueHeld : isSteering ? chatText.queueSteers : chatText.queueWaits
    return queuedLine(how, text, columns)
  })
  const more = queue.length - MAX_QUEUED
  const rest = more > 0 ? [line(chatText.queueMore(more), DIM)] : []
  return [...lines, ...rest, clip(line(`  ${help}`, DIM), columns)]
}

function queueState({ status, run }: Transcript): [isHeld: boolean, help: string] {
  if (status === "running") return [false, chatText.queueWhileRunning]
  if (status === "awaiting_confirmation") return [false, chatText.queueWhileDeciding]
  if (run?.status === "completed") return [false, chatText.queueNow]
  // A conversation that was just opened has no known run; a message that still waits was held.
  const why = run === null && status !== "failed" ? "ended" : status === "failed" ? "failed" : "stopped"
  return [true, chatText.queueHeldBecause(why)]
}

export const queuedLine = (how: string, text: string, columns: number): Line =>
  clip([span(how, DIM), span(printable(text.slice(0, 1000).replaceAll(/\s+/g, " ")))], columns)

/** The last lines that fit, below a line that counts the others. */
export function tailLines(lines: readonly Line[], rows: number): Line[] {
  if (lines.length <= rows) return [...lines]
  if (rows <= 1) return []
  return [line(chatText.linesAbove(lines.length - rows + 1), DIM), ...lines.slice(lines.length - rows + 1)]
}
