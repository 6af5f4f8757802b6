import type { Row } from "./known-tables.ts"
import type { TableQuery } from "./layout.ts"

/**
 * Work on a workspace that asks for rows and goes on with them. Who drives it has the database: at once on a device, whose
 * SQLite answers at once and inside a transaction; with a wait for each answer on a server. The work is the same.
 */
export type Steps<T> = Generator<TableQuery, T, readonly Row[]>

export function* askTable(query: TableQuery): Steps<readonly Row[]> {
  return yield query
}

export function runSteps<T>(steps: Steps<T>, answer: (query: TableQuery) => readonly Row[]): T {
  let step = steps.next()
  while (!step.done) step = steps.next(answer(step.value))
  return step.value
}

export async function followSteps<T>(
  steps: Steps<T>,
  answer: (query: TableQuery) => Promise<readonly Row[]>,
): Promise<T> {
  let step = steps.next()
  while (!step.done) step = steps.next(await answer(step.value))
  return step.value
}
