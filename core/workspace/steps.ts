import type { Row } from "./known-tables.ts"
import type { TableQuery } from "./layout.ts"

/**
 * Work on a workspace as a generator: it yields queries and receives their rows. On a device `runSteps` executes it
 * synchronously inside a SQLite transaction; on a server `followSteps` awaits each query.
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
