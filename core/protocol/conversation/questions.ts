import { z } from "zod"
import { boundedList, boundedRecord } from "../../shared/text/bounded-list.ts"
import { ids } from "../schema.ts"

/** Questions that a tool or its MCP server asks the user during a call. The text of a server is untrusted. */

/** The most fields in one question of an MCP server. A form with more fields is split into parts. */
export const MAX_FIELDS = 12
/** The most parts that a long form of an MCP server is split into. */
export const MAX_PARTS = 5
/** The most characters in one text of an answer. */
const MAX_TEXT = 4000

/** One field of the form in a question of an MCP server. */
export const QuestionField = z.object({
  name: z.string(),
  label: z.string(),
  about: z.string().optional(),
  /** `choice`: one of the options. `choices`: any number of them. */
  kind: z.enum(["text", "number", "integer", "boolean", "choice", "choices"]),
  /** For a text: its format, as in JSON Schema. It is shown to the user; the server validates it. */
  format: z.string().optional(),
  options: z.array(z.object({ value: z.string(), label: z.string() })).optional(),
  isRequired: z.boolean(),
  /** For a number: its limits. For a text: the limits of its length. */
  least: z.number().optional(),
  most: z.number().optional(),
})
export type QuestionField = z.infer<typeof QuestionField>

/** A question that a tool or its MCP server asks the user during a call. */
export const Question = z.object({
  id: ids.question,
  callId: ids.call,
  /** The server's name in Pawl, whose text is untrusted; empty if the tool itself asks. And the tool. */
  server: z.string(),
  tool: z.string(),
  message: z.string(),
  fields: z.array(QuestionField),
  /** An address for the user to open. Pawl does not open it. */
  url: z.string().optional(),
  /** Set if this is one part of a long form. The server receives all answers together, after the last part. */
  part: z.object({ at: z.int(), of: z.int() }).optional(),
  /** The deadline in milliseconds, until which the call waits. */
  expiresAt: z.number(),
  /**
   * For a question that outlasts its process: its place among those of its call, from 0. After a restart the call runs
   * again, and finds this question or its answer when it asks for the same place.
   */
  number: z.int().optional(),
})
export type Question = z.infer<typeof Question>

/** More than any form has fields. */
const MAX_ANSWERS = 200
const Value = z.union([z.string().max(MAX_TEXT), z.number(), z.boolean(), boundedList(z.string().max(MAX_TEXT), 100)])

/**
 * The user's answer to a question of an MCP server. `accept` sends the content; `decline` refuses; `cancel` closes the
 * question without an answer.
 */
export const QuestionAnswer = z.strictObject({
  action: z.enum(["accept", "decline", "cancel"]),
  content: boundedRecord(z.record(z.string(), Value), MAX_ANSWERS).optional(),
})
export type QuestionAnswer = z.infer<typeof QuestionAnswer>

/** How a question ended. Questions that are open when their call ends, or its process fails, are discarded. */
export const SettledQuestion = z.object({
  questionId: ids.question,
  outcome: z.enum(["accept", "decline", "cancel", "expired"]),
  /** The content that was sent to the server. */
  content: QuestionAnswer.shape.content,
  by: z.string().optional(),
})
export type SettledQuestion = z.infer<typeof SettledQuestion>

/** The name of the step that reports a question of an MCP server. */
export const QUESTION = "question"
/** The name of the step that reports how a question of an MCP server ended. */
export const QUESTION_SETTLED = "question_settled"

/** Returns why an answer to a question cannot be sent; undefined if it can. */
export function answerProblem({ fields }: Pick<Question, "fields">, answer: QuestionAnswer): string | undefined {
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
