import { AppError, failure } from "../../protocol/errors.ts"
import type { NewEvent } from "../../protocol/events.ts"
import { readJsonAnswer } from "../../shared/text/read-json.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { parse, type Schema } from "../definition/schema.ts"
import { ANSWER } from "../definition/stages.ts"
import { failedEnd, type Work } from "../record.ts"

/**
 * How often the model is asked to correct an answer that does not fit. The state counts, so that a crash does not
 * repeat it.
 */
const MENDS = 2
const MAX_PROBLEM = 500

/** The schema of this run's answer: as its message or its agent requires. */
async function promiseOf({ conversation, agent, ports }: Work): Promise<Schema<unknown> | undefined> {
  const { schema } = conversation.run ?? {}
  if (schema === undefined) return agent.answers
  if (!ports.answerSchema) throw new Error("nothing reads schemas here")
  return ports.answerSchema(schema, conversation.user)
}

/** The schema for the model; undefined if none is required. */
export function answerSchemaOf({ conversation, agent }: Pick<Work, "conversation" | "agent">): JsonObject | undefined {
  if (conversation.run?.schema) return conversation.run.schema
  const { $schema: _, ...json } = agent.answers?.["~standard"].jsonSchema.input({ target: "draft-07" }) ?? {}
  return agent.answers && json
}

/** The text about the schema, after the instructions. */
export const schemaInstructions = (schema: JsonObject): string =>
  `When you have all you need, answer with JSON that fits this schema, and nothing else:\n${JSON.stringify(schema)}`

/** Returns the events after a reply that ends its run: the answer fits, must be corrected, or has failed. */
export async function checkAnswerSchema(work: Work, text: string): Promise<readonly NewEvent[] | undefined> {
  let schema: Schema<unknown> | undefined
  try {
    schema = await promiseOf(work)
  } catch (error) {
    // The reply is paid for and recorded. Only its check is refused.
    if (!(error instanceof AppError) || error.code !== "too_many") throw error
    return [failedEnd(work.conversation, error)]
  }
  if (!schema) return undefined
  const read = readJsonAnswer(text)
  const judged = "problem" in read ? read : await parse(schema, read.value)
  if (!("problem" in judged)) {
    // The value as written, without the schema's transforms: a program that reads it parses it again.
    const value = "value" in read ? read.value : null
    return [
      { type: "step", step: ANSWER, detail: { fits: true, value } },
      { type: "run_ended", status: "completed" },
    ]
  }
  const problem = judged.problem.slice(0, MAX_PROBLEM).toWellFormed()
  const step: NewEvent = { type: "step", step: ANSWER, detail: { fits: false, problem } }
  const mends = work.conversation.run?.mends ?? 0
  if (mends < MENDS) return [step]
  return [step, failedEnd(work.conversation, failure("answer_unfit", { problem, times: mends }))]
}
