import { type Clock, monotonicOf, sleep, systemClock } from "../../shared/time/clock.ts"
import type { Log } from "../../shared/log.ts"
import type { Engine } from "../engine/engine.ts"
import { toIndexStatement } from "../engine/schema-syntax.ts"
import type { Statement } from "../engine/operations.ts"
import { isLockTimeout } from "../engine/store-failure.ts"
import { type IndexStep, type Migration, migrations } from "./migrations.ts"
import { readMigrations, refuseOtherSchema, unknownMigrations } from "./recorded-migrations.ts"

export interface MigrateOptions {
  /** The migrations of a pack. Without them, the migrations of Pawl. */
  readonly known?: readonly Migration[]
  /** Statements in the transaction of the last migration: neither is ever visible without the other. */
  readonly along?: readonly Statement[]
  readonly clock?: Clock
  readonly log?: Log | undefined
  /** Gets the names of migrations that a newer version has applied. */
  readonly newer?: string[]
}

/** A statement that waits for a lock on a table blocks all statements after it, also those of nodes that serve. */
export const LOCK_MS = 2000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 5000
/** A supervisor notices a start that fails, but not one that waits forever. */
const GIVE_UP_MS = 10 * 60_000

/**
 * Applies the migrations that a database has not recorded, and returns their names. The migrations and their records are
 * one transaction, so a crash at any point leaves all of it or nothing. Of two nodes that start at once, one applies them
 * and the other finds them applied. Only an index on a table in use is a step of its own, which a crash may interrupt.
 * Throws before anything is changed if this version cannot serve the schema.
 */
export async function migrate(engine: Engine, options: MigrateOptions = {}): Promise<string[]> {
  const { known = migrations, along = [], clock = systemClock, log } = options
  const started = monotonicOf(clock)
  const applied: string[] = []
  for (let waits = 0; ;) {
    const recorded = await readMigrations(engine)
    const ours = [...migrations, ...known]
    if (recorded) refuseOtherSchema(recorded, ours)
    const missing = known.filter(({ name }) => !recorded?.has(name))
    if (missing.length === 0) {
      if (recorded) options.newer?.push(...unknownMigrations(recorded, ours))
      return applied
    }
    // In an empty database no client writes, so its indexes are created with its tables.
    const portion = recorded ? nextPortion(missing) : missing
    const statements = [
      ...(recorded ? [] : [LIST]),
      ...portion.flatMap((step) => [toRecord(step), ...toStatements(engine, step, recorded !== undefined)]),
      ...(portion.length === missing.length ? along : []),
    ]
    try {
      for (const step of portion) if (recorded && isIndex(step)) await engine.buildIndex(step.index, LOCK_MS)
      const outcome = await engine.change({ type: "statements", statements, patience: "long", lockMs: LOCK_MS })
      if (outcome.ok) applied.push(...portion.map(({ name }) => name))
    } catch (error) {
      // On PostgreSQL, two nodes that create the list at once may collide despite IF NOT EXISTS. Then it exists now.
      if (!recorded && (await readMigrations(engine))) continue
      if (!isLockTimeout(error) || monotonicOf(clock) - started > GIVE_UP_MS) throw error
      log?.warn("migration_waits", { migrations: portion.map(({ name }) => name), problem: HELD })
      await sleep(clock, Math.min(FIRST_PAUSE_MS * 2 ** waits++, LONGEST_PAUSE_MS))
    }
  }
}

const HELD =
  "another session has locked a table that this changes: another node with the same migration, or a long transaction (see pg_stat_activity). Pawl retries"

const LIST: Statement = {
  sql: "CREATE TABLE IF NOT EXISTS migration (name TEXT NOT NULL PRIMARY KEY, needs TEXT)",
  values: [],
}

const isIndex = (step: Migration): step is IndexStep => "index" in step

/** The migrations before the next index, or that index alone. */
function nextPortion(missing: readonly Migration[]): readonly Migration[] {
  const next = missing.findIndex(isIndex)
  return next < 0 ? missing : missing.slice(0, Math.max(next, 1))
}

/** If another node has recorded it meanwhile, nothing of the transaction happens. */
function toRecord({ name, needs }: Migration): Statement {
  const sql = "INSERT INTO migration (name, needs) VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
  return { sql, values: [name, needs ?? null], mustChange: true }
}

function toStatements(engine: Engine, step: Migration, inUse: boolean): Statement[] {
  if (!isIndex(step)) return step.statements(engine.syntax).map(toStatement)
  return inUse ? [] : [toStatement(toIndexStatement(step.index))]
}

const toStatement = (sql: string): Statement => ({ sql, values: [] })
