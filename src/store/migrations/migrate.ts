import { type Clock, monotonicOf, sleep, systemClock } from "../../agent/clock.ts"
import type { Log } from "../../agent/ports.ts"
import type { Engine } from "../engine/engine.ts"
import { toIndexStatement } from "../engine/new-index.ts"
import type { Statement } from "../engine/operations.ts"
import type { Words } from "../engine/schema-words.ts"
import { isLockTimeout } from "../engine/store-failure.ts"
import type { IndexStep, Migration, PartitionStep } from "./migration.ts"
import { type DoneSteps, readDone, refuseNewerSchema } from "./newer-schema.ts"

export interface MigrateOptions {
  /** Without, all of ours. They are loaded where one of them is missing, not for every start. */
  readonly known?: readonly Migration[]
  /** What our steps come to, for a database in which there is nothing yet. */
  readonly whole?: WholeSchema
  /** What must never be seen without the steps, or they without it: in the transaction of the last of them. */
  readonly along?: readonly Statement[]
  readonly clock?: Clock
  readonly log?: Log | undefined
  /** Gets each step that could not be done and that nobody needs in order to serve. The next start tries it again. */
  readonly left?: LeftStep[]
}

/** The schema as its steps leave it: a new database is made by these statements in a third of the time. */
export interface WholeSchema {
  readonly steps: readonly string[]
  readonly statements: readonly string[]
}

/** A step that was left, and why. */
export interface LeftStep {
  readonly name: string
  readonly error: unknown
}

/** Servers of the version before go on meanwhile, and whoever waits for a lock on a table has them all waiting behind it. */
export const LOCK_MS = 2000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 5000
/** A supervisor sees a start that fails; one that waits for ever looks like one that works. */
const GIVE_UP_MS = 10 * 60_000
/** What no node needs in order to serve is left to another that is at it, or to the next start. */
const LEAVE_MS = 60_000

/**
 * Brings the schema up to date. What is missing and the rows that say it was done are one transaction, so a kill at any
 * point leaves all of it done or nothing; of two nodes that start at once, one does it and the other finds it done. Only
 * an index on a table in use, and the parts of a table, are steps by themselves, which are gone on with after a kill; parts
 * are left where they cannot be made, whatever the reason.
 */
export async function migrate(engine: Engine, words: Words, options: MigrateOptions = {}): Promise<string[]> {
  const { whole, along = [], clock = systemClock, log, left = [] } = options
  const begun = monotonicOf(clock)
  const did: string[] = []
  for (let waits = 0; ;) {
    const done = await readDone(engine)
    const known = options.known ?? (await stepsOf(whole, done))
    if (done) refuseNewerSchema(done, options.known ? [...(await ownSteps()), ...known] : known)
    const missing = known.filter(({ name }) => !done?.has(name) && !left.some((step) => step.name === name))
    if (missing.length === 0) return did
    // Where there is nothing yet nobody is kept from writing, and an index is made with its table.
    const made = done ? undefined : whole
    const portion = made
      ? missing.filter(({ name }) => made.steps.includes(name))
      : toPortion(missing, done ? isAlone : isPartition)
    const statements = [
      ...(made ? made.statements.map(toStatement) : done ? [] : [LIST]),
      ...portion.flatMap((step) => [toRow(step), ...(made ? [] : toStatements(step, words, done !== undefined))]),
      ...(portion.length === missing.length ? along : []),
    ]
    try {
      for (const step of portion) {
        if (done && isIndex(step)) await engine.buildIndex(step.index, LOCK_MS)
        if (!made && isPartition(step)) await engine.partition(step.partition, LOCK_MS)
      }
      const outcome = await engine.change({ type: "statements", statements, patience: "long", lockMs: LOCK_MS })
      if (outcome.ok) did.push(...portion.map(({ name }) => name))
    } catch (error) {
      // Two nodes that make the list at once may collide on PostgreSQL in spite of IF NOT EXISTS: then it is there now.
      if (!done && (await readDone(engine))) continue
      const waited = monotonicOf(clock) - begun
      const canWait = isLockTimeout(error)
      if (portion.every(isPartition) && (!canWait || waited > LEAVE_MS)) {
        left.push(...portion.map(({ name }) => ({ name, error })))
        continue
      }
      if (!canWait || waited > GIVE_UP_MS) throw error
      log?.warn("migration_waits", { migrations: portion.map(({ name }) => name), problem: HELD })
      await sleep(clock, Math.min(FIRST_PAUSE_MS * 2 ** waits++, LONGEST_PAUSE_MS))
    }
  }
}

const ownSteps = async (): Promise<readonly Migration[]> => (await import("./list.ts")).migrations

/**
 * Most starts find an empty database, or one that is up to date. For these the names suffice that were printed with the
 * schema, and what stands behind them need not be compiled.
 */
async function stepsOf(printed: WholeSchema | undefined, done: DoneSteps | undefined): Promise<readonly Migration[]> {
  if (!printed || (done && !printed.steps.every((name) => done.has(name)))) return ownSteps()
  return printed.steps.map((name) => ({ name, statements: () => [] })) // none is missing, or the schema is made as a whole
}

const HELD =
  "another session holds a lock on a table that this changes: another node that does the same, or a long transaction, see pg_stat_activity. It is tried again"

const LIST: Statement = { sql: "CREATE TABLE IF NOT EXISTS migration (name TEXT NOT NULL PRIMARY KEY)", values: [] }

const isIndex = (step: Migration): step is IndexStep => "index" in step
const isPartition = (step: Migration): step is PartitionStep => "partition" in step
const isAlone = (step: Migration): boolean => isIndex(step) || isPartition(step)

/** Up to the next that is not done in a transaction, or that one alone: what stands before it is done first. */
function toPortion(missing: readonly Migration[], isAlone: (step: Migration) => boolean): readonly Migration[] {
  const next = missing.findIndex(isAlone)
  return next < 0 ? missing : missing.slice(0, Math.max(next, 1))
}

/** That it needs a newer version is written only by the steps that do: the column is younger than the list. */
function toRow({ name, needs }: Migration): Statement {
  const [columns, values] = needs === undefined ? ["name", [name]] : ["name, needs", [name, needs]]
  const marks = values.map(() => "?").join(", ")
  const sql = `INSERT INTO migration (${columns}) VALUES (${marks}) ON CONFLICT (name) DO NOTHING`
  return { sql, values, mustChange: true }
}

function toStatements(step: Migration, words: Words, inUse: boolean): Statement[] {
  if (isPartition(step)) return []
  if (!isIndex(step)) return step.statements(words).map(toStatement)
  return inUse ? [] : [toStatement(toIndexStatement(step.index))]
}

const toStatement = (sql: string): Statement => ({ sql, values: [] })
