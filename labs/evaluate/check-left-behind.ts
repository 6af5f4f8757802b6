import { readFile } from "node:fs/promises"
import { type Client, ClientError, count, duration, readPages } from "../../client/index.ts"
import { checkText, fits } from "./check-answer.ts"
import type { EvalLimits, FileCheck, RowCheck } from "./file/expectation.ts"
import type { EvalSpent, FailedCheck } from "./happened.ts"

const MAX_SHOWN = 400

/** Returns the unmet expectations about rows after a run. */
export async function checkWorkspaceRows(
  checks: readonly RowCheck[],
  client: Client,
  connection: string | undefined,
): Promise<FailedCheck[]> {
  const found: FailedCheck[] = []
  for (const [index, check] of checks.entries()) {
    const problem = "table" in check ? await inWorkspace(check, client) : await inDatabase(check, client, connection)
    if (problem !== undefined) found.push({ expectation: `rows[${index}]`, problem })
  }
  return found
}

type OfTable = Extract<RowCheck, { table: string }>
type OfQuery = Extract<RowCheck, { sql: string }>

async function inWorkspace({ table, where = {}, count: wanted }: OfTable, client: Client): Promise<string | undefined> {
  const archived = table === "projects" ? { includeArchived: "true" as const } : {}
  const listed = await readPages((page) => client.listRows({ params: { table }, query: { ...archived, ...page } }))
  const items: unknown[] = []
  for (const row of listed) items.push(row.truncated ? await client.readRow({ params: { table, id: row.id } }) : row)
  const fitting = items.filter((row) => fits(where, row)).length
  if (wanted === undefined ? fitting > 0 : fitting === wanted) return undefined
  const has = `${count(fitting, "row")} of ${table} ${fitting === 1 ? "has" : "have"} ${JSON.stringify(where)}`
  return `${has}, and ${wanted ?? "at least 1"} should; there are ${shown(items)}`
}

async function inDatabase(
  { sql, rows, count: wanted }: OfQuery,
  client: Client,
  id?: string,
): Promise<string | undefined> {
  if (id === undefined) return "the case has no database: start.database makes one"
  const answer = await client.queryConnection({ params: { id }, body: { sql } }).catch((error: unknown) => {
    if (error instanceof ClientError) return error.message
    throw error
  })
  if (typeof answer === "string") return answer
  const found = answer.rows.map((row) => Object.fromEntries(answer.columns.map(({ name }, at) => [name, row[at]])))
  if (wanted !== undefined && found.length !== wanted)
    return `${count(found.length, "row")} came back, and ${wanted} should: ${shown(found)}`
  return rows === undefined || fits(rows, found) ? undefined : `the database answers ${shown(found)}`
}

const shown = (rows: readonly unknown[]): string => {
  const text = JSON.stringify(rows)
  return rows.length === 0 ? "none" : text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text
}

/** Returns the unmet expectations about files after a run; `find` returns their paths. */
export async function checkFiles(checks: readonly FileCheck[], find: (path: string) => string): Promise<FailedCheck[]> {
  const found = await Promise.all(
    checks.map(async ({ path, exists = true, ...check }) => {
      const text = await readFile(find(path), "utf8").catch(() => undefined)
      if (text === undefined) return exists ? ["it is not there"] : []
      return exists ? checkText(check, text) : ["it is there, and should not be"]
    }),
  )
  return found.flatMap((problems, index) =>
    problems.map((problem) => ({ expectation: `files ${checks[index]?.path}`, problem })),
  )
}

type Told = (value: number) => string

/** Returns the exceeded limits. An unknown cost exceeds its limit, because it would otherwise never be noticed. */
export function checkLimits(limits: EvalLimits, spent: EvalSpent): FailedCheck[] {
  const { costUsd, ms, modelMs, inputTokens, outputTokens, modelCalls, toolCalls } = spent
  const seconds: Told = (value) => duration(value * 1000)
  const usd: Told = (value) => `$${Number(value.toPrecision(4))}`
  const plain: Told = (value) => value.toLocaleString("en")
  const taken: Readonly<Record<keyof EvalLimits, readonly [value: number | null, told: Told]>> = {
    costUsd: [costUsd, usd],
    seconds: [ms / 1000, seconds],
    secondsWithoutModel: [(ms - modelMs) / 1000, seconds],
    modelCalls: [modelCalls, plain],
    toolCalls: [toolCalls, plain],
    tokens: [inputTokens + outputTokens, plain],
    inputTokens: [inputTokens, plain],
    outputTokens: [outputTokens, plain],
  }
  return Object.entries(limits).flatMap(([name, most]) => {
    const [value, told] = taken[name as keyof EvalLimits]
    if (most === undefined || (value !== null && value <= most)) return []
    const problem =
      value === null
        ? "what it cost is not known, because a model on the way has no known price"
        : `it took ${told(value)}, and at most ${told(most)} is allowed`
    return [{ expectation: `limits.${name}`, problem }]
  })
}
