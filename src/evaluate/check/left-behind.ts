import { readFile } from "node:fs/promises"
import { type Client, ClientError, count } from "../../client/index.ts"
import type { FileCheck, RowCheck } from "../file/expectation.ts"
import type { Unmet } from "../happened.ts"
import { fits } from "./fits.ts"
import { checkText } from "./text.ts"

const MAX_SHOWN = 400

/** What of the rows that a run has left is not as it is expected. */
export async function checkLeftRows(
  checks: readonly RowCheck[],
  client: Client,
  connection: string | undefined,
): Promise<Unmet[]> {
  const found: Unmet[] = []
  for (const [index, check] of checks.entries()) {
    const problem = "table" in check ? await inWorkspace(check, client) : await inDatabase(check, client, connection)
    if (problem !== undefined) found.push({ expectation: `rows[${index}]`, problem })
  }
  return found
}

type OfTable = Extract<RowCheck, { table: string }>
type OfQuery = Extract<RowCheck, { sql: string }>

async function inWorkspace({ table, where = {}, count: wanted }: OfTable, client: Client): Promise<string | undefined> {
  const archived = table === "projects" ? { query: { includeArchived: "true" as const } } : {}
  const { items } = await client.listRows({ params: { table }, ...archived })
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

/** What of the files that a run has left is not as it is expected; `find` says where each is. */
export async function checkLeftFiles(checks: readonly FileCheck[], find: (path: string) => string): Promise<Unmet[]> {
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
