import { z } from "zod"
import {
  type Answer,
  answer,
  AppError,
  type CallContext,
  type ConnectionId,
  defineTool,
  failed,
  type QueryAnswer,
  type QueryResults,
  type SqlResultState,
  type StoredResult,
  type Tool,
} from "../../../core/pack.ts"
import { type ReadableDatabases, CONNECTION_DELETED, lastResult, connectionName } from "./grounding.ts"
import { firstRows, oddities, resultMarkdown } from "../markdown/result-markdown.ts"
import { MAX_SCHEMA } from "../markdown/schema-markdown.ts"
import { type FailedStatement, writeSql } from "./write-sql.ts"

export interface AskPorts {
  readonly databases: ReadableDatabases
  readonly results: QueryResults
}

const TRIES = 3
/** The time limit: three statements of ten seconds each, and the time to write them. */
const SECONDS = 150
/**
 * The part of a result that the model receives, that is stored in the state, and that a screen receives immediately.
 */
const SHOWN = { rows: 20, characters: 6000 }
const KEPT = { rows: 50, characters: 16_000 }
const TABLE = { rows: 100, characters: 256_000 }
/** Errors that another statement may avoid. All others are about the connection. */
const MENDABLE = new Set(["query_refused", "query_failed", "query_timeout", "result_too_large"])

const Input = z.object({
  query: z
    .string()
    .min(1)
    .max(4000)
    .describe("The question in plain words, complete in itself: what to find, for what period, in which order."),
})

/**
 * Answers a question about the conversation's database: the model writes a statement from the schema, and gets the
 * database's errors until one works. A read, so it is repeated after a crash.
 */
export function askDatabase({ databases, results }: AskPorts): Tool {
  return defineTool<z.infer<typeof Input>>({
    name: "ask_database",
    description:
      "Answers a question about the database of this conversation. The SQL is written for you, run read-only and shown with the result.",
    input: Input,
    effect: "read",
    afterCrash: "run-again",
    timeoutSeconds: SECONDS,
    taint: "both",
    examples: [
      "how many customers are from Portugal?",
      "how many customers are there?",
      "what is the total revenue in 2025?",
      "top 5 products by revenue",
      "revenue by month in 2025",
      "average order value by country",
      "the 3 most expensive products",
      "customers by country",
      "how many rows are in customer?",
      "show the first 5 rows of product",
    ],
    async run({ query }, context) {
      const { user, connectionId, conversation, signal, timeZone } = context
      if (connectionId === null) return failed(await howToChoose(databases, context))
      const name = await connectionName(databases, user, connectionId)
      if (name === undefined) return failed(CONNECTION_DELETED)
      const request = { user, id: connectionId, signal, timeZone }
      // At most half of the context of a small model, at four characters per token. The rest is for the question and
      // the statement.
      const most = Math.min(MAX_SCHEMA, (await context.model()).contextTokens * 2)
      const { markdown } = await databases.narrow(request, { question: query.slice(0, 2000), most })
      const about = [`# The database: ${name}`, markdown, ...lastResult(context.state, connectionId)].join("\n\n")

      const attempts: FailedStatement[] = []
      while (attempts.length < TRIES) {
        const written = await writeSql(context, { question: query, about }, attempts)
        if ("words" in written) return failed(inWords(written.words, attempts))
        const { sql } = written
        // The same statement again would fail again.
        if (attempts.some((before) => before.sql === sql)) break
        const tried = await attempt(() => databases.query(request, sql))
        if ("problem" in tried) {
          attempts.push({ sql, problem: tried.problem })
          continue
        }
        const stored = await results.keep(user, {
          connectionId,
          conversationId: conversation,
          sql,
          answer: tried.answer,
        })
        return toAnswer(stored, connectionId, tried.answer.timeZone)
      }
      const tries = attempts.length === 1 ? "one try" : `${attempts.length} tries`
      return failed(`No statement worked in ${tries}.\n\n${lastTry(attempts)}`)
    },
  })
}

/** Runs a statement. Throws errors that another statement would not avoid. */
async function attempt(run: () => Promise<QueryAnswer>): Promise<{ answer: QueryAnswer } | { problem: string }> {
  try {
    return { answer: await run() }
  } catch (error) {
    if (error instanceof AppError && MENDABLE.has(error.code)) return { problem: error.message }
    throw error
  }
}

function toAnswer(stored: StoredResult, connectionId: ConnectionId, timeZone: string | undefined): Answer {
  const { id: resultId, sql, columns, rows, truncated, warnings, hash } = stored
  const odd = warnings && warnings.length > 0 ? { warnings } : {}
  const common = { resultId, connectionId, sql, columns, rowCount: rows.length, truncated, ...odd }
  const sqlResult: SqlResultState = { ...common, hash, rows: firstRows(rows, KEPT) }
  const { text, shown } = resultMarkdown(stored, SHOWN)
  const zone = timeZone ? { timeZone } : {}
  const data = { kind: "table", ...common, ...zone, resultHash: hash, rows: firstRows(rows, TABLE) }
  const zoned = timeZone ? `\n\nDays and times are in the time zone ${timeZone}.` : ""
  const reply = `${text}\n\n${countOf(stored, shown)}${oddities(warnings)}${zoned}`
  return answer(`${reply}\n\n\`\`\`sql\n${sql}\n\`\`\``, { data, state: { sqlResult } })
}

function countOf({ id, rows, truncated }: StoredResult, shown: number): string {
  if (rows.length === 0) return "No rows."
  const cut = truncated ? " The database has more: the result was cut at the limit." : ""
  if (shown === rows.length) return `${rows.length} row(s).${cut}`
  return `The first ${shown} of ${rows.length} row(s); the person can see all of them, kept as ${id}.${cut}`
}

const lastTry = (attempts: readonly FailedStatement[]): string =>
  attempts
    .slice(-1)
    .map(({ sql, problem }) => `\`\`\`sql\n${sql}\n\`\`\`\n\n${problem}`)
    .join("")

/** A question without a possible statement gets a normal answer, because asking again would not help. */
function inWords(words: string, attempts: readonly FailedStatement[]): string {
  const reply = words === "" ? "No SQL was written for that." : words
  return attempts.length === 0 ? reply : `${reply}\n\nTried before:\n\n${lastTry(attempts)}`
}

/** The person must choose a database, even if there is only one, because its contents are sent to the model. */
async function howToChoose(databases: ReadableDatabases, { user }: CallContext): Promise<string> {
  const { items } = await databases.list(user, { limit: 10 })
  const names = items.map(({ id, name }) => `${JSON.stringify(name)} (${id})`).join(", ")
  const which =
    names === "" ? "There is none yet: add one, or the sample database, in the settings." : `There are: ${names}.`
  return `No database is chosen for this conversation. ${which} The person chooses one for this conversation with connectionId, or in the page.`
}
