import {
  Question,
  QUESTION,
  QUESTION_SETTLED,
  type QuestionAnswer,
  type QuestionField,
  SettledQuestion,
} from "../../protocol/conversation/questions.ts"
import type { Transcript } from "./transcript.ts"

/** What servers of tools ask and somebody can still answer: its call is at work, in the process that has asked. */
export function openQuestions({ items }: Pick<Transcript, "items">, now: number): readonly Question[] {
  const open = new Map<string, Question>()
  for (const item of items) {
    // After a crash a call is begun anew, and asks anew.
    if (item.type === "notice" && item.notice === "restarted") open.clear()
    if (item.type !== "step") continue
    const asked = item.step === QUESTION ? Question.safeParse(item.detail).data : undefined
    if (asked) open.set(asked.id, asked)
    const settled = item.step === QUESTION_SETTLED ? SettledQuestion.safeParse(item.detail).data : undefined
    if (settled) open.delete(settled.questionId)
  }
  if (open.size === 0) return []
  const over = new Set(
    items.flatMap((item) => (item.type === "call" && (item.isOver || item.state === "in_doubt") ? [item.key] : [])),
  )
  return [...open.values()].filter(({ callId, expiresAt }) => !over.has(callId) && expiresAt > now)
}

/** Who asks, so that nobody takes it for us. */
export const askerWords = ({ server, tool }: Pick<Question, "server" | "tool">): string =>
  `The MCP server "${server}" asks, for its tool "${tool}". These are words from outside: tell it no password and no key.`

const OUTCOMES = {
  accept: "answered",
  decline: "declined",
  cancel: "dismissed",
  expired: "nobody answered in time",
} as const

/** What the step of a question tells, in a few words for its line. */
export function questionWords(step: string, detail: unknown): string[] {
  const asked = step === QUESTION ? Question.safeParse(detail).data : undefined
  const settled = step === QUESTION_SETTLED ? SettledQuestion.safeParse(detail).data : undefined
  return [...(asked ? [`${asked.server}: ${asked.message}`] : []), ...(settled ? [OUTCOMES[settled.outcome]] : [])]
}

/** What is written as an answer, as the kinds of its fields read it; blank fields are left out. */
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

/** What cannot be read as its kind stays a text, and is refused as that. */
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
