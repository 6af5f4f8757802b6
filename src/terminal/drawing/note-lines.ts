import { askerWords, openQuestions } from "../../client/transcript/open-questions.ts"
import type { Transcript } from "../../client/transcript/transcript.ts"
import type { Question, QuestionField } from "../../protocol/conversation/questions.ts"
import { DIM, type Line, line } from "../line.ts"
import { toShown, toShownLines } from "../shown.ts"
import { wrap } from "../wrap.ts"
import { programLines, toTimeOfDay } from "./program-lines.ts"

/** What a conversation waits for beside decisions: programs, and answers to what servers of tools ask. */
export function noteLines(transcript: Transcript, now: number, columns: number): Line[] {
  const asked = openQuestions(transcript, now).slice(0, 1) // one after the other: an answer is to the first
  return [...programLines(transcript, now, columns), ...asked.flatMap((question) => questionLines(question, columns))]
}

function questionLines(question: Question, columns: number): Line[] {
  const { message, fields, url, expiresAt } = question
  const until = toTimeOfDay(new Date(expiresAt).toISOString())
  const shown = [
    ...wrap(line(toShown(`? ${askerWords(question)}`), { colour: "yellow" }), columns),
    ...toShownLines(message).flatMap((each) => wrap(line(`  ${each}`), columns)),
    ...fields.flatMap((field) => wrap(line(toShown(`  ${fieldWords(field)}`)), columns)),
    ...(url === undefined ? [] : wrap(line(toShown(`  It wants you to open: ${url}`)), columns)),
  ]
  return [...shown, ...wrap(line(`  Until ${until}: ${howTo(fields)}`, DIM), columns)]
}

function fieldWords({ name, label, kind, about, options = [], isRequired }: QuestionField): string {
  const offered = options.map(({ value, label: title }) => (title === value ? value : `${value} (${title})`)).join(", ")
  const what = [kind === "boolean" ? "yes or no" : kind, offered, isRequired ? "needed" : "", about ?? ""].filter(
    Boolean,
  )
  return `${name}${label === name ? "" : ` – ${label}`}: ${what.join("; ")}`
}

const howTo = (fields: readonly QuestionField[]): string => {
  if (fields.length === 0) return "/answer agrees, /decline says no."
  const how = fields.length === 1 ? "/answer and what you say" : "/answer name=value; name=value"
  return `${how}; /decline says no.`
}
