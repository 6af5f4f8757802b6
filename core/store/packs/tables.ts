import type { CallId, UserId } from "../../protocol/ids.ts"
import type { PackMigration, PackStatement, PackTable, PackTables } from "../../engine/pack-services.ts"
import { toStorableJson } from "../../shared/text/text.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import type { Migration } from "../schema/migrations.ts"
import { migrate } from "../schema/migrate.ts"
import { countPackTables, registerTables } from "./register.ts"

/** The tables of a pack and its migrations. */
export interface TablesOfPack {
  readonly pack: string
  readonly tables: readonly PackTable[]
  readonly migrations: readonly PackMigration[]
}

/** Migrates the tables of a pack, records their person columns, and returns access to them. */
export async function openPackTables(
  engine: Engine,
  now: () => number,
  { pack, tables, migrations }: TablesOfPack,
): Promise<PackTables> {
  const steps = migrations.map((migration) => toMigration(pack, migration, engine.name))
  const statements = registerTables(tables)
  // With the migrations: one of them may copy personal rows, and after a crash in between neither an export nor an
  // erasure would find them.
  const done = await migrate(engine, { known: steps, along: statements })
  if (done.length === 0 && statements.length > 0) await engine.change({ type: "statements", statements })
  await countPackTables(engine, tables)
  return {
    async query(sql, values = []) {
      if (!/^\s*SELECT\b/i.test(sql)) throw new TypeError("`query` takes a SELECT; what writes goes to `applyOnce`.")
      return engine.query(sql, values)
    },
    async change(packStatements) {
      const { ok } = await engine.change({ type: "statements", statements: toStatements(pack, packStatements) })
      return ok
    },
    // Not `...call`: the fields of a tool's context may be inherited.
    applyOnce: ({ callId, user }, packStatements, outcome) =>
      applyOnce(engine, { callId, user, at: now(), outcome }, toStatements(pack, packStatements)),
  }
}

const DROPS = /^\s*DROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?(\w+)/i

function toMigration(pack: string, { name, statements }: PackMigration, engine: Engine["name"]): Migration {
  const list = "sqlite" in statements ? statements[engine] : statements
  const steps = list.flatMap((sql) => {
    const dropped = DROPS.exec(sql)?.[1]
    // In the same commit: an erasure would fail on a table that no longer exists.
    const deletions = ["table_of_pack WHERE name", "storage_use WHERE source"]
    return dropped ? [sql, ...deletions.map((rows) => `DELETE FROM ${rows} = '${dropped}'`)] : [sql]
  })
  return { name: `${pack}/${name}`, statements: () => steps }
}

const WRITES = /^\s*(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)/i

/** Catches mistakes of a pack. Not a security boundary: a pack's code has the rights of the server. */
function toStatements(pack: string, packStatements: readonly PackStatement[]): Statement[] {
  return packStatements.map(({ sql, values = [], mustChange = false }) => {
    if (!WRITES.exec(sql)?.[1]?.startsWith(`pack_${pack}_`))
      throw new TypeError(`The pack "${pack}" may write to its own tables, pack_${pack}_…: ${sql.trim().slice(0, 60)}`)
    return { sql, values, mustChange }
  })
}

interface RecordedCall<Outcome> {
  readonly callId: CallId
  readonly user: UserId
  readonly at: number
  readonly outcome: Outcome
}

/** The write and the record of its call are one commit: after a crash there are both or neither. */
async function applyOnce<Outcome>(
  engine: Engine,
  { callId, user, at, outcome }: RecordedCall<Outcome>,
  statements: readonly Statement[],
): Promise<Outcome | undefined> {
  const sql =
    "INSERT INTO applied_call (call_id, answer, at, person) VALUES (?, ?, ?, ?) ON CONFLICT (call_id) DO NOTHING"
  const record = { sql, values: [callId, toStorableJson(outcome), at, user], mustChange: true }
  const { ok } = await engine.change({ type: "statements", statements: [record, ...statements] })
  if (ok) return outcome
  const found = "SELECT answer FROM applied_call WHERE call_id = ? AND person = ?"
  const [recorded] = await engine.query<{ answer: string }>(found, [callId, user])
  return recorded ? (JSON.parse(recorded.answer) as Outcome) : undefined
}
