import type { Engine } from "./engine.ts"
import { migrations, type Words } from "./migrations.ts"

/**
 * Brings the schema up to date. Each migration and the row that says it was done are one transaction, so a kill at any
 * point leaves it done or not done; of two nodes that start at once, one does it and the other finds it done.
 */
export async function migrate(engine: Engine, words: Words, known: readonly (typeof migrations)[number][] = migrations): Promise<string[]> {
  const done = await readDone(engine)
  const applied: string[] = []
  for (const { name, statements } of known) {
    if (done.has(name)) continue
    const mark = { sql: "INSERT INTO migration (name) VALUES (?) ON CONFLICT (name) DO NOTHING", values: [name], mustChange: true }
    const outcome = await engine.change({
      type: "statements",
      statements: [mark, ...statements(words).map((sql) => ({ sql, values: [] }))],
    })
    if (outcome.ok) applied.push(name)
  }
  return applied
}

async function readDone(engine: Engine): Promise<Set<string>> {
  const read = () => engine.query<{ name: string }>("SELECT name FROM migration", [])
  try {
    return new Set((await read()).map((row) => row.name))
  } catch {
    const sql = "CREATE TABLE IF NOT EXISTS migration (name TEXT NOT NULL PRIMARY KEY)"
    // Two nodes creating it at once may collide on PostgreSQL in spite of IF NOT EXISTS; then the other one has made it.
    await engine.change({ type: "statements", statements: [{ sql, values: [] }] }).catch(() => {})
    return new Set((await read()).map((row) => row.name))
  }
}
