import type { Engine } from "../../store/engine/engine.ts"
import type { Finding } from "./finding.ts"

/** What is really in force, asked of the database itself: what it is set to may be overruled for a role, or by a file system. */
export async function* examineDurability(
  engine: Pick<Engine, "name" | "query">,
  durability: "full" | "normal",
): AsyncGenerator<Finding> {
  const { isKept, said } = engine.name === "sqlite" ? await askSqlite(engine, durability) : await askPostgres(engine)
  yield isKept ? ["ok", `durability: ${durability}, ${said}`] : ["wrong", `durability: ${said}`]
  if (durability === "normal")
    yield [
      "note",
      "durability: what was acknowledged in the last moment is lost with a power cut; PAWL_DURABILITY=full keeps it",
    ]
}

async function askSqlite({ query }: Pick<Engine, "query">, durability: "full" | "normal") {
  const [mode] = await query<{ journal_mode: string }>("PRAGMA journal_mode", [])
  const [sync] = await query<{ synchronous: number }>("PRAGMA synchronous", [])
  const isLogged = mode?.journal_mode === "wal" || mode?.journal_mode === "memory"
  if (!isLogged)
    return {
      isKept: false,
      said: `SQLite keeps no write-ahead log here (journal_mode is ${mode?.journal_mode}); put PAWL_DATA on a local disk`,
    }
  // With `full` a thread of ours syncs the log after each commit, once the first one was SQLite's own.
  const level = ["OFF", "NORMAL", "FULL", "EXTRA"][sync?.synchronous ?? 0] ?? "unknown"
  if (level === "OFF") return { isKept: false, said: "SQLite syncs nothing (synchronous is OFF); start Pawl anew" }
  const who =
    durability === "full" ? "each commit is synced before it is acknowledged" : "the log is synced now and then"
  return { isKept: true, said: `SQLite with a write-ahead log, synchronous ${level}: ${who}` }
}

/** What is off is told with its cure by the store's own readiness. */
async function askPostgres({ query }: Pick<Engine, "query">) {
  const names = ["fsync", "full_page_writes", "synchronous_commit"]
  const sql = `SELECT name, setting FROM pg_settings WHERE name IN (${names.map(() => "?").join(", ")}) ORDER BY name`
  const rows = await query<{ name: string; setting: string }>(sql, names)
  return { isKept: true, said: `PostgreSQL with ${rows.map(({ name, setting }) => `${name} ${setting}`).join(", ")}` }
}
