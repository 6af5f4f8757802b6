import { z } from "zod"
import { boundedList } from "../bounded-list.ts"
import { ids } from "../schema.ts"
import { lazily } from "../lazily.ts"

/** What a tool's server asks the person in the middle of a call. All of its words are from outside. */

/** Of one question; and of all that a person answers, in characters. */
export const MAX_FIELDS = 12
const MAX_TEXT = 4000

export const QuestionField = lazily(() =>
  z.object({
    name: z.string(),
    label: z.string(),
    about: z.string().optional(),
    /** `choice`: one of the options. `choices`: any of them. */
    kind: z.enum(["text", "number", "integer", "boolean", "choice", "choices"]),
    /** Of a text: what it has to look like, as JSON Schema calls it. It is shown, and for the server to judge. */
    format: z.string().optional(),
    options: z.array(z.object({ value: z.string(), label: z.string() })).optional(),
    isRequired: z.boolean(),
    /** Of a number: its bounds. Of a text: those of its length. */
    least: z.number().optional(),
    most: z.number().optional(),
  }),
)
export type QuestionField = z.infer<typeof QuestionField>

export const Question = lazily(() =>
  z.object({
    id: ids.question,
    callId: ids.call,
    /** Who asks: the server's name here, and its tool. */
    server: z.string(),
    tool: z.string(),
    message: z.string(),
    fields: z.array(QuestionField),
    /** An address that the person is to open themselves; nothing of ours opens it. */
    url: z.string().optional(),
    /** Until when the server is kept waiting, in milliseconds. */
    expiresAt: z.number(),
  }),
)
export type Question = z.infer<typeof Question>

const Value = lazily(() =>
  z.union([z.string().max(MAX_TEXT), z.number(), z.boolean(), boundedList(z.string().max(MAX_TEXT), 100)]),
)

/** `accept` sends the content away; `decline` says no; `cancel` says nothing. */
export const QuestionAnswer = lazily(() =>
  z.strictObject({
    action: z.enum(["accept", "decline", "cancel"]),
    content: z.record(z.string(), Value).optional(),
  }),
)
export type QuestionAnswer = z.infer<typeof QuestionAnswer>

/** How a question ended that somebody could answer. One that is not settled when its call ends, or its process dies, is gone. */
export const SettledQuestion = lazily(() =>
  z.object({
    questionId: ids.question,
    outcome: z.enum(["accept", "decline", "cancel", "expired"]),
    /** What was sent to the server. */
    content: QuestionAnswer.shape.content,
    by: z.string().optional(),
  }),
)
export type SettledQuestion = z.infer<typeof SettledQuestion>

/** The steps that tell of them. */
export const QUESTION = "question"
export const QUESTION_SETTLED = "question_settled"

/** Why an answer cannot be sent; undefined where it can. */
export function whyNoAnswer({ fields }: Pick<Question, "fields">, answer: QuestionAnswer): string | undefined {
  const { action, content = {} } = answer
  if (action !== "accept") return Object.keys(content).length > 0 ? "content: only with accept" : undefined
  const unknown = Object.keys(content).find((name) => !fields.some((field) => field.name === name))
  if (unknown !== undefined) return `content.${unknown.slice(0, 64)}: was not asked for`
  for (const field of fields) {
    const value = Object.hasOwn(content, field.name) ? content[field.name] : undefined
    if (value === undefined && !field.isRequired) continue
    const problem = value === undefined ? "is needed" : whyNotValue(field, value)
    if (problem) return `content.${field.name}: ${problem}`
  }
  return undefined
}

function whyNotValue({ kind, options = [], least, most }: QuestionField, value: unknown): string | undefined {
  const isOption = (each: unknown) => options.some((option) => option.value === each)
  switch (kind) {
    case "text":
      if (typeof value !== "string") return "must be a text"
      return isWithin(value.length, least, most) ? undefined : `must have ${between(least, most)} characters`
    case "number":
    case "integer":
      if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number"
      if (kind === "integer" && !Number.isInteger(value)) return "must be a whole number"
      return isWithin(value, least, most) ? undefined : `must be ${between(least, most)}`
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false"
    case "choice":
      return isOption(value) ? undefined : `must be one of ${options.map((option) => option.value).join(", ")}`
    case "choices":
      if (!Array.isArray(value) || !value.every(isOption)) return "must be some of what was offered"
      return isWithin(value.length, least, most) ? undefined : `must be ${between(least, most)} of them`
  }
}

const isWithin = (value: number, least = -Infinity, most = Infinity): boolean => value >= least && value <= most

const between = (least?: number, most?: number): string =>
  [least === undefined ? "" : `at least ${least}`, most === undefined ? "" : `at most ${most}`]
    .filter(Boolean)
    .join(", ")
