import { FairQueue } from "../../shared/concurrency/fair-queue.ts"
import type { ValidationResult, Schema } from "../../engine/definition/schema.ts"
import { siblingScript } from "../../shared/processes/thread.ts"
import { JobThread } from "../../shared/processes/thread.ts"
import { failure, hasCode } from "../../protocol/errors.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { TooMuchWork } from "./check.ts"
import { type SchemaVerdict, type SchemaJob, SchemaJobs } from "./schema-job.ts"

/** More than any answer schema needs. */
const MAX_CHARACTERS = 64_000
/** The main thread checks only small values against small schemas without patterns: about a millisecond. */
const FEW_CHARACTERS = 8000
const SMALL_VALUE = 4000
const FEW_STEPS = 10_000
/** The limits of one schema or value. Only a very slow machine reaches the time. */
const TIME_LIMIT_MS = 10_000
const MEMORY_MB = 256

const refuse = (problem: string) => failure("bad_request", { problem: `schema: ${problem}` })

const TOO_LONG = "it takes too long to check; use a simpler schema or a shorter value"

/** Started with the first schema that needs it; does not keep the process alive. */
const thread = new JobThread<SchemaJob, SchemaVerdict>({
  script: siblingScript(import.meta.url, "schema-thread"),
  timeLimitMs: TIME_LIMIT_MS,
  resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
})

/** People take turns, so that a person waits for at most one check of each other person. */
const queue = new FairQueue({
  atOnce: 1,
  perPerson: 1,
  waiting: 50,
  tooMany: (most: number) => failure("too_many", { what: "checks of JSON schemas", most }),
})
const TOO_MANY = "too many checks are waiting; try again when they are done"
const never = new AbortController().signal

const withoutPatterns = (sources: ReadonlySet<string>) => {
  if (sources.size > 0) throw new TooMuchWork()
  return new Map()
}

const fewSteps = new SchemaJobs(withoutPatterns, FEW_STEPS)

/**
 * Validates values against a JSON schema from a client. Throws `bad_request` if the schema is invalid, too large or uses an
 * unsupported keyword, and `too_many` if too many checks of this person wait. Larger checks run in a thread with a time
 * limit.
 */
export async function answerSchema(json: JsonObject, person: string): Promise<Schema<unknown>> {
  const schema = JSON.stringify(json)
  if (schema.length > MAX_CHARACTERS)
    throw refuse(`it has ${schema.length} characters, and at most ${MAX_CHARACTERS} are read.`)
  const read = await perform({ schema }, person)
  if ("problem" in read) throw refuse(read.problem)
  if ("tooMuchWork" in read) throw refuse("it takes too long to read.")
  return {
    "~standard": {
      validate: (value) => validate({ schema, value }, person),
      jsonSchema: { input: () => json },
    },
  }
}

async function validate(job: SchemaJob, person: string): Promise<ValidationResult<unknown>> {
  const checked = await perform(job, person).catch((error: unknown) => {
    if (hasCode(error, "too_many")) return { issues: [{ message: TOO_MANY }] }
    throw error
  })
  if ("tooMuchWork" in checked) return { issues: [{ message: TOO_LONG }] }
  if ("problem" in checked) throw refuse(checked.problem)
  return checked.issues.length > 0 ? { issues: checked.issues } : { value: job.value }
}

async function perform(job: SchemaJob, person: string): Promise<SchemaVerdict> {
  if (job.schema.length <= FEW_CHARACTERS && isSmall(job.value)) {
    const answer = fewSteps.do(job)
    if (!("tooMuchWork" in answer)) return answer
  }
  return queue.run(person, never, () => thread.run(job).catch((): SchemaVerdict => ({ tooMuchWork: true })))
}

/** Whether a value is small. Stops counting when it is not. */
function isSmall(value: unknown): boolean {
  let size = 0
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    size += typeof next === "string" ? next.length + 1 : 1
    if (Array.isArray(next)) {
      if (size + next.length > SMALL_VALUE) return false
      waiting.push(...next)
    } else if (typeof next === "object" && next !== null) {
      const names = Object.keys(next)
      for (const name of names) size += name.length
      if (size + names.length > SMALL_VALUE) return false
      waiting.push(...Object.values(next))
    }
    if (size > SMALL_VALUE) return false
  }
  return true
}
