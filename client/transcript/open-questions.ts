import {
  Question,
  QUESTION,
  QUESTION_SETTLED,
  type QuestionAnswer,
  type QuestionField,
  SettledQuestion,
} from "../../core/protocol/conversation/questions.ts"
import { quote } from "../../core/shared/text/quote.ts"
import type { Transcript } from "./transcript.ts"

/** Returns the questions of tools and MCP servers that can still be answered, because their call is running. */
export function openQuestions({ items }: Pick<Transcript, "items">, now: number): readonly Question[] {
  const open = new Map<string, Question>()
  for (const item of items) {
    // After a crash a call starts again, and asks again, unless its question outlasts the process.
    if (item.type === "notice" && item.notice === "restarted")
      for (const { id, number } of open.values()) if (number === undefined) open.delete(id)
    if (item.type !== "step") continue
    const question = item.step === QUESTION ? Question.safeParse(item.detail).data : undefined
    if (question) open.set(question.id, question)
    const settled = item.step === QUESTION_SETTLED ? SettledQuestion.safeParse(item.detail).data : undefined
    if (settled) open.delete(settled.questionId)
  }
  if (open.size === 0) return []
  const over = new Set(
    items.flatMap((item) => (item.type === "call" && (item.isOver || item.state === "in_doubt") ? [item.key] : [])),
  )
  return [...open.values()].filter(({ callId, expiresAt }) => !over.has(callId) && expiresAt > now)
}

/**
 * Returns a sentence that names the tool, or the MCP server and tool, behind a question, so that the user does not take
 * the question for one of Pawl.
 */
export const describeAsker = ({ server, tool }: Pick<Question, "server" | "tool">): string =>
  server === ""
    ? `The tool ${quote(tool)} asks this.`
    : `The MCP server ${quote(server)} asks this for its tool ${quote(tool)}. The text comes from outside: do not enter a password or a key.`

/** Describes which part of a long form a question is; undefined for a form with one part. */
export const describePart = ({ part }: Pick<Question, "part">): string | undefined =>
  part && `Part ${part.at} of ${part.of}. The answers are sent together, after the last part.`

const OUTCOMES = {
  accept: "answered",
  decline: "declined",
  cancel: "dismissed",
  expired: "not answered in time",
} as const

/** Describes a question of an MCP server, or how it ended, in short phrases. */
export function describeQuestionStep(step: string, detail: unknown): string[] {
  const question = step === QUESTION ? Question.safeParse(detail).data : undefined
  const settled = step === QUESTION_SETTLED ? SettledQuestion.safeParse(detail).data : undefined
  return [
    ...(question ? [`${question.server || question.tool}: ${question.message}`] : []),
    ...(settled ? [OUTCOMES[settled.outcome]] : []),
  ]
}

/**
 * Converts the text that a user typed in a question's form to an answer, by the kinds of its fields. Omits blank
 * fields.
 */
export function toContent(
  fields: readonly QuestionField[],
  written: Readonly<Record<string, string>>,
): NonNullable<QuestionAnswer["content"]> {
  const read = fields.flatMap(({ name, kind }) => {
    const text = (Object.hasOwn(written, name) ? written[name] : undefined)?.trim() ?? ""
    return text === "" ? [] : [[name, toValue(kind, text)] as const]
  })
  return Object.fromEntries(read)
}

/** Input that does not fit its kind stays text, and is then rejected by the server. */
function toValue(kind: QuestionField["kind"], text: string): string | number | boolean | string[] {
  switch (kind) {
    case "number":
    case "integer":
      return Number.isNaN(Number(text)) ? text : Number(text)
    case "boolean":
      return /^(?:yes|true|y)$/i.test(text) ? true : /^(?:no|false|n)$/i.test(text) ? false : text
    case "choices":
      return text.split(",").map((each) => each.trim())
    case "text":
    case "choice":
      return text
  }
}
