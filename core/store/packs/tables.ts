import type { CallId, UserId } from "../../protocol/ids.ts"
import type { PackMigration, PackStatement, PackTable, PackTables } from "../../engine/pack-services.ts"
import { toStorableJson } from "../../shared/text/text.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import type { Migration } from "../schema/migrations.ts"
import { migrate } from "../schema/migrate.ts"
import { countPackTables, toRegister } from "./register.ts"

/** The tables of one pack and the steps that make them. */
export interface TablesOfPack {
  readonly pack: string
  readonly tables: readonly PackTable[]
  readonly migrations: readonly PackMigration[]
}

/** Brings the tables of a pack up to date, writes down whose rows they hold, and only then hands them out. */
export async function openPackTables(
  engine: Engine,
  now: () => number,
  { pack, tables, migrations }: TablesOfPack,
): Promise<PackTables> {
  const steps = migrations.map((migration) => toMigration(pack, migration, engine.name))
  const statements = toRegister(tables)
  // With the steps: one of them may copy people's rows, and after a crash in between neither export nor erasure would find them.
  const done = await migrate(engine, { known: steps, along: statements })
  if (done.length === 0 && statements.length > 0) await engine.change({ type: "statements", statements })
  await countPackTables(engine, tables)
  return {
    async query(sql, values = []) {
      if (!/^\s*SELECT\b/i.test(sql)) throw new TypeError("`query` takes a SELECT; what writes goes to `applyOnce`.")
      return engine.query(sql, values)
    },
    async change(given) {
      const { ok } = await engine.change({ type: "statements", statements: toStatements(pack, given) })
      return ok
    },
    applyOnce: (call, given, came) => applyOnce(engine, { ...call, at: now(), came }, toStatements(pack, given)),
  }
}

const DROPS = /^\s*DROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?(\w+)/i

function toMigration(pack: string, { name, statements }: PackMigration, engine: Engine["name"]): Migration {
  const list = "sqlite" in statements ? statements[engine] : statements
  const steps = list.flatMap((sql) => {
    const dropped = DROPS.exec(sql)?.[1]
    // In the same commit: an erasure that looks for a table which is gone would fail for everybody.
    const forgotten = ["table_of_pack WHERE name", "storage_use WHERE source"]
    return dropped ? [sql, ...forgotten.map((rows) => `DELETE FROM ${rows} = '${dropped}'`)] : [sql]
  })
  return { name: `${pack}/${name}`, statements: () => steps }
}

const WRITES = /^\s*(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)/i

/** A slip of a pack must not change what is the server's or another pack's. No wall: its code has the server's rights. */
function toStatements(pack: string, given: readonly PackStatement[]): Statement[] {
  return given.map(({ sql, values = [], mustChange = false }) => {
    if (!WRITES.exec(sql)?.[1]?.startsWith(`pack_${pack}_`))
      throw new TypeError(`The pack "${pack}" may write to its own tables, pack_${pack}_…: ${sql.trim().slice(0, 60)}`)
    return { sql, values, mustChange }
  })
}

interface NotedCall<Came> {
  readonly callId: CallId
  readonly user: UserId
  readonly at: number
  readonly came: Came
}

/** The effect and the note that this call had it are one commit: after a crash either both are there or neither. */
async function applyOnce<Came>(
  engine: Engine,
  { callId, user, at, came }: NotedCall<Came>,
  statements: readonly Statement[],
): Promise<Came | undefined> {
  const sql =
    "INSERT INTO applied_call (call_id, answer, at, person) VALUES (?, ?, ?, ?) ON CONFLICT (call_id) DO NOTHING"
  const note = { sql, values: [callId, toStorableJson(came), at, user], mustChange: true }
  const { ok } = await engine.change({ type: "statements", statements: [note, ...statements] })
  if (ok) return came
  const found = "SELECT answer FROM applied_call WHERE call_id = ? AND person = ?"
  const [noted] = await engine.query<{ answer: string }>(found, [callId, user])
  return noted ? (JSON.parse(noted.answer) as Came) : undefined
}
