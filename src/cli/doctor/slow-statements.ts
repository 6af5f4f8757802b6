import type { Store } from "../../store/store.ts"
import type { Finding } from "./finding.ts"

/** On average: nothing that a turn does takes so long where its index is used. */
const SLOW_MS = 50
const MAX_TOLD = 3

type Asking = Pick<Store, "engine" | "journal">

/** What takes long: as PostgreSQL has counted, or, where nobody counts, how long a few statements of a turn take now. */
export async function* examineStatements(
  store: Asking,
  now: () => number = () => performance.now(),
): AsyncGenerator<Finding> {
  const counted = store.engine.name === "postgres" ? await readCounted(store) : undefined
  const told = counted ?? (await measure(store, now))
  const slow = told.filter(({ ms }) => ms > SLOW_MS)
  const by = counted ? "on average, by pg_stat_statements" : "measured now"
  if (slow.length === 0) yield ["ok", `statements: none takes more than ${SLOW_MS} ms (${by})`]
  const cure =
    store.engine.name === "sqlite" ? "move PAWL_DATA to a faster disk" : "run ANALYZE, and look at it with EXPLAIN"
  for (const { what, ms, times } of slow.slice(0, MAX_TOLD))
    yield ["note", `statements: ${ms.toFixed(0)} ms ${by}${times ? `, ${times} times` : ""}: ${what}; ${cure}`]
}

interface TimedStatement {
  readonly what: string
  readonly ms: number
  readonly times?: number
}

/** Undefined where the extension is not there, or may not be read. */
async function readCounted({ engine }: Asking): Promise<TimedStatement[] | undefined> {
  const sql = `SELECT query, calls, mean_exec_time AS ms FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
    WHERE d.datname = current_database() AND calls >= 10 ORDER BY mean_exec_time DESC LIMIT 20`
  try {
    const rows = await engine.query<{ query: string; calls: number; ms: number }>(sql, [])
    return rows.map(({ query, calls, ms }) => ({ what: oneLine(query), ms: Number(ms), times: Number(calls) }))
  } catch {
    return undefined
  }
}

const oneLine = (sql: string): string => sql.replaceAll(/\s+/g, " ").slice(0, 120)

async function measure({ engine, journal }: Asking, now: () => number): Promise<TimedStatement[]> {
  const longest = "SELECT conversation AS key FROM event GROUP BY conversation ORDER BY max(position) DESC LIMIT 1"
  const [row] = await engine.query<{ key: number }>(longest, [])
  const measured: (readonly [what: string, ask: () => Promise<unknown>])[] = [
    ["what dead writers have left", () => journal.abandoned(100)],
    ["writes in doubt", () => journal.doubtful(100)],
    ...(row ? ([["the fold of the longest conversation", () => engine.eventsToFold(row.key)]] as const) : []),
  ]
  const told: TimedStatement[] = []
  for (const [what, ask] of measured) {
    await ask() // the first time it is prepared, and read from the disk
    const began = now()
    await ask()
    told.push({ what, ms: now() - began })
  }
  return told.sort((one, other) => other.ms - one.ms)
}
