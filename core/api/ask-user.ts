import { z } from "zod"
import { parse, type Schema } from "../engine/definition/schema.ts"
import type { CallContext } from "../engine/definition/tool.ts"
import { MAX_FIELDS } from "../protocol/conversation/questions.ts"
import { toServerQuestion } from "../tools/mcp/definition/question.ts"

/** A question of a tool: a text and, if the answer is not a plain text, a schema for it. */
export interface QuestionForUser<Value = string> {
  readonly message: string
  /** A flat object of texts, numbers, booleans and choices. Default: one text. */
  readonly answers?: Schema<Value>
}

/** The user's answer to a question of a tool: a value, or that there is none. */
export type UserReply<Value = string> =
  | { readonly outcome: "accept"; readonly value: Value }
  | { readonly outcome: "decline" | "cancel" | "expired" }

/** Creates the method `ask` of a tool's context. Questions are numbered, so that a restart finds their answers. */
export function createAsk(context: CallContext, tool: string) {
  let number = 0
  let before: Promise<unknown> = Promise.resolve()
  return <Value>(question: QuestionForUser<Value>): Promise<UserReply<Value>> => {
    const asked = { number: number++, tool, question }
    const reply = before.then(() => askOne(context, asked))
    before = reply.catch(() => {}) // handled by the caller
    return reply
  }
}

interface Asked<Value> {
  readonly number: number
  readonly tool: string
  readonly question: QuestionForUser<Value>
}

/** The form of a question without a schema. */
export const oneText = z.object({ answer: z.string().min(1).max(4000).meta({ title: "Answer" }) })

async function askOne<Value>(
  { lasting }: CallContext,
  { number, tool, question: { message, answers } }: Asked<Value>,
): Promise<UserReply<Value>> {
  if (!lasting) throw new TypeError("context.ask works only in `run` of a tool, in a run of a conversation.")
  const schema: Schema<unknown> = answers ?? oneText
  const requestedSchema = schema["~standard"].jsonSchema.input({ target: "draft-07" })
  const question = toServerQuestion({ message, requestedSchema }, { server: "", tool, secrets: [] })
  if (typeof question === "string" || question.fields.length > MAX_FIELDS || message.trim() === "") {
    const problem = typeof question === "string" ? question : `a message, and at most ${MAX_FIELDS} fields, are needed`
    throw new TypeError(`context.ask: ${problem}.`)
  }
  const { outcome, content = {} } = await lasting.askFor(number, question)
  if (outcome !== "accept") return { outcome }
  const parsed = await parse(schema, content)
  if ("problem" in parsed) throw new TypeError(`context.ask: the answer does not fit its schema: ${parsed.problem}`)
  return { outcome, value: (answers ? parsed.value : content.answer) as Value }
}
