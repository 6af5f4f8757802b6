import type { Engine } from "../engine/engine.ts"
import { migrations } from "./list.ts"
import type { Words } from "../engine/schema-words.ts"
import type { Statement } from "../engine/operations.ts"

type Known = readonly (typeof migrations)[number][]

/**
 * Brings the schema up to date. What is missing and the rows that say it was done are one transaction, so a kill at any
 * point leaves all of it done or nothing; of two nodes that start at once, one does it and the other finds it done. What
 * must never be seen without the steps, or they without it, comes `along` in their transaction.
 */
export async function migrate(
  engine: Engine,
  words: Words,
  known: Known = migrations,
  along: readonly Statement[] = [],
): Promise<string[]> {
  for (;;) {
    const done = await readDone(engine)
    const missing = known.filter(({ name }) => !done?.has(name))
    if (missing.length === 0) return []
    const table = done
      ? []
      : [{ sql: "CREATE TABLE IF NOT EXISTS migration (name TEXT NOT NULL PRIMARY KEY)", values: [] }]
    const statements = [...table, ...missing.flatMap(toStatements(words)), ...along]
    try {
      const outcome = await engine.change({ type: "statements", statements, patience: "long" })
      if (outcome.ok) return missing.map(({ name }) => name)
    } catch (error) {
      // Two nodes that make the list at once may collide on PostgreSQL in spite of IF NOT EXISTS: then it is there now.
      if (done || !(await readDone(engine))) throw error
    }
  }
}

const toStatements =
  (words: Words) =>
  ({ name, statements }: Known[number]): Statement[] => [
    { sql: "INSERT INTO migration (name) VALUES (?) ON CONFLICT (name) DO NOTHING", values: [name], mustChange: true },
    ...statements(words).map((sql) => ({ sql, values: [] })),
  ]

/** Names of what was done; undefined where even the list of it is missing. */
async function readDone(engine: Engine): Promise<Set<string> | undefined> {
  try {
    const rows = await engine.query<{ name: string }>("SELECT name FROM migration", [])
    return new Set(rows.map((row) => row.name))
  } catch {
    return undefined
  }
}
