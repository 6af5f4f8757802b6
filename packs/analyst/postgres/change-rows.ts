import { createHash } from "node:crypto"
import { failure, type PostgresTarget } from "../../../core/pack.ts"
import { type SideEffect, sideEffectNotes, type DatabaseChange, RESTLESS } from "../database/kind.ts"
import { boundColumns, stampable } from "./bound-columns.ts"
import { canJoin, changesKey, statementFor, touchesRows } from "./change-statement.ts"
import { readServerJson } from "./json.ts"
import type { PostgresPlan } from "./plan.ts"
import type { PostgresSession } from "./session.ts"
import { factsOf, type TableFacts } from "./table.ts"

/** Each column is read twice, before and after the change, and PostgreSQL allows 1664 columns in one result. */
const MAX_COLUMNS = 800

/** Runs a statement in the session's transaction, and returns what it changed. */
export async function changeRows(
  { ask }: PostgresSession,
  plan: PostgresPlan,
  target: PostgresTarget,
): Promise<DatabaseChange> {
  const facts = await factsOf(ask, plan.table)
  if (!facts) throw failure("query_failed", { problem: `there is no table ${plan.table}` })
  if (!"rp".includes(facts.kind)) throw failure("change_refused", { problem: `${plan.table} is not a plain table` })
  if (plan.overwrites && changesKey(plan, facts))
    throw failure("change_refused", { problem: "it changes the key of rows that are there already" })
  // PostgreSQL does not report whether a row of a partitioned table was new.
  if (plan.overwrites && facts.kind === "p" && !canJoin(plan, facts))
    throw failure("change_refused", {
      problem: `${plan.table} has partitions and no key, so that what is overwritten could not be shown`,
    })
  if (facts.columns.length > MAX_COLUMNS)
    throw failure("change_refused", { problem: `${plan.table} has more than ${MAX_COLUMNS} columns` })
  const { rows } = await ask(statementFor(plan, facts))
  // Checks deferred constraints now, because a rehearsal does not commit.
  await ask("SET CONSTRAINTS ALL IMMEDIATE")
  const written = (await ask(writtenRows(plan.table))).rows
  const [[count = "0", updated = "0", beforeHash = "", afterHash = "", moved, differing, kept = null] = []] = rows
  const affected = Number(count)
  const was = readServerJson<Former | undefined>(kept, undefined)
  // Rows that another transaction has locked do not show who changed them.
  if (was && was.count !== Number(updated))
    throw failure("change_refused", { problem: "another transaction has a hand on some of its rows; try it again" })
  const { extra, beside, ownMore } = besideOf(written, affected)
  const width = facts.columns.length
  const shown = rows.filter((row) => row[7] !== null).map((row) => row.slice(8))
  const news = shown.map((row) => row.slice(0, width))
  const olds = shown.map((row) => row.slice(width + 1)).filter((_, index) => shown[index]?.[width] !== null)
  const differs = readServerJson<(boolean | null)[]>(moved, [])
  const { made } = boundColumns(
    plan,
    facts,
    stampable(plan, facts).filter((_, index) => differs[index]),
  )
  const overwritten = plan.verb !== "INSERT" ? affected : plan.overwrites ? Number(updated) : 0
  // Without a key to join old and new rows, compare them all as sets.
  const isSame =
    affected === 0 || (canJoin(plan, facts) ? differing === "0" : touchesRows(plan) && differing === was?.hash)
  const isQuiet = facts.triggers.length === 0 && (affected === 0 || made.length === 0)
  const { host, port, database } = target
  const hashes = [was?.hash ?? beforeHash, afterHash]
  // Includes the generated columns: a column that triggers did not change in the preview must not change in the run.
  const revision = [host, port, database, plan.verb, plan.table, affected, extra, ...hashes, ...made]
  return {
    verb: plan.verb,
    table: plan.table,
    affected,
    added: affected - overwritten,
    overwritten,
    all: plan.verb !== "INSERT" && affected > 0 && (await isEveryRow(ask, plan, affected)),
    nothing: isSame && isQuiet && extra === 0,
    columns: facts.columns.map(({ name, type }) => ({ name, type })),
    before: plan.verb === "DELETE" ? news : was ? (was.rows ?? []) : olds,
    after: plan.verb === "DELETE" ? null : news,
    paired: canJoin(plan, facts),
    made,
    // A trigger that runs before a row is written may change any of its columns.
    kept: facts.stamps ? [] : made.filter((name) => isKept(plan, facts, name)),
    notes: [...sideEffectNotes(beside, ownMore), ...notesOf(plan, facts)],
    revision: createHash("sha256").update(JSON.stringify(revision)).digest("hex"),
  }
}

/** The previous rows as a set, if they cannot be joined to the new ones. */
interface Former {
  readonly count: number
  readonly hash: string
  readonly rows: (string | null)[][] | null
}

/**
 * The rows that this transaction wrote in each table, and whether it is the statement's own table, or a partition of
 * it.
 */
const writtenRows = (table: string) => {
  const own = `to_regclass('${table.replaceAll("'", "''")}')`
  return `SELECT CASE WHEN pg_table_is_visible(s.relid) THEN quote_ident(s.relname)
      ELSE quote_ident(s.schemaname) || '.' || quote_ident(s.relname) END,
    (s.relid = ${own} OR EXISTS (SELECT FROM pg_partition_tree(${own}) p WHERE p.relid = s.relid))::text,
    s.n_tup_del::text, s.n_tup_ins::text, s.n_tup_upd::text
  FROM pg_catalog.pg_stat_xact_user_tables s WHERE s.n_tup_ins + s.n_tup_upd + s.n_tup_del > 0 ORDER BY 1`
}

function besideOf(written: readonly (string | null)[][], affected: number) {
  const counts = written.map(([table, own, deleted, added, changed]) => ({
    ...{ table: table ?? "", own: own === "true" },
    ...{ deleted: Number(deleted), added: Number(added), changed: Number(changed) },
  }))
  const sum = (some: readonly SideEffect[]) =>
    some.reduce((all, each) => all + each.deleted + each.added + each.changed, 0)
  const beside = counts.filter(({ own }) => !own)
  const ownMore = Math.max(0, sum(counts.filter(({ own }) => own)) - affected)
  return { extra: Math.max(0, sum(counts) - affected), beside, ownMore }
}

/** True if every row was changed. Reads at most one row more than were changed. */
async function isEveryRow(
  ask: PostgresSession["ask"],
  { verb, table }: PostgresPlan,
  affected: number,
): Promise<boolean> {
  const left = verb === "DELETE" ? 0 : affected
  const { rows } = await ask(`SELECT count(*)::text FROM (SELECT FROM ${table} LIMIT ${left + 1}) x`)
  return Number(rows[0]?.[0]) === left
}

const isKept = (plan: PostgresPlan, facts: TableFacts, name: string) =>
  !plan.sets.some((set) => set.name === name) && !facts.columns.some((each) => each.name === name && each.computed)

const APART = "so old and new rows are listed each by themselves."

function notesOf(plan: PostgresPlan, facts: TableFacts): string[] {
  const { triggers } = facts
  return [
    ...(triggers.length > 0 ? [`Triggers of the table run as well: ${triggers.join(", ")}.`] : []),
    // Also if all rows are new now: some may exist when it runs.
    ...(plan.overwrites ? ["Rows that are there already are overwritten."] : []),
    ...(touchesRows(plan) && !canJoin(plan, facts)
      ? [`${changesKey(plan, facts) ? "The key of rows changes" : "The table has no key"}, ${APART}`]
      : []),
    ...(plan.open && !plan.fills && facts.columns.some(({ given }) => given) ? [UNNAMED] : []),
    ...(plan.restless ? [RESTLESS] : []),
  ]
}

const UNNAMED =
  "A `*` leaves open which columns it fills, so that all are compared, also those that the database may fill: where it may be stale each time, name the columns."
