import { createHash } from "node:crypto"
import type { PostgresTarget } from "../../protocol/connections.ts"
import { failure } from "../../protocol/errors.ts"
import type { Change } from "./database-kind.ts"
import { schemaLimits } from "./database-schema.ts"
import { namesMovingValue } from "./moving-value.ts"
import { type PostgresPlan, quoted } from "./postgres-plan.ts"
import type { PostgresSession } from "./postgres-session.ts"

/** So many rows are shown, with values cut at so many characters. */
export const SHOWN_ROWS = 20
export const SHOWN_CHARACTERS = 200

interface TableFacts {
  readonly kind: string
  /** `given`: by the database, where a statement does not fill it. */
  readonly columns: readonly { readonly name: string; readonly type: string; readonly given: boolean }[]
  readonly key: readonly string[]
  readonly triggers: readonly string[]
}

/** Runs a statement inside the transaction that the session is in, and tells what it has changed. */
export async function changeRows(
  { ask }: PostgresSession,
  plan: PostgresPlan,
  target: PostgresTarget,
): Promise<Change> {
  const facts = await factsOf(ask, plan.table)
  if (!facts) throw failure("query_failed", { problem: `there is no table ${plan.table}` })
  if (!"rp".includes(facts.kind)) throw failure("change_refused", { problem: `${plan.table} is not a plain table` })
  if (plan.overwrites && changesKey(plan, facts))
    throw failure("change_refused", { problem: "it changes the key of rows that are there already" })
  const { rows } = await ask(statementFor(plan, facts))
  // What would be checked at the end is checked now: a rehearsal has no end of that kind.
  await ask("SET CONSTRAINTS ALL IMMEDIATE")
  const more = await ask(CHANGED)
  const [[count = "0", beforeHash = "", afterHash = ""] = []] = rows
  const affected = Number(count)
  const extra = Math.max(0, Number(more.rows[0]?.[0] ?? 0) - affected)
  const width = facts.columns.length
  const shown = rows.filter((row) => row[3] !== null).map((row) => row.slice(4))
  const news = shown.map((row) => row.slice(0, width))
  const olds = shown.map((row) => row.slice(width + 1)).filter((_, index) => shown[index]?.[width] !== null)
  const { host, port, database } = target
  const revision = [host, port, database, plan.verb, plan.table, affected, extra, beforeHash, afterHash]
  return {
    verb: plan.verb,
    table: plan.table,
    affected,
    columns: facts.columns.map(({ name, type }) => ({ name, type })),
    before: plan.verb === "DELETE" ? news : touchesRows(plan) && !canJoin(plan, facts) ? null : olds,
    after: plan.verb === "DELETE" ? null : news,
    notes: notesOf(plan, facts, extra),
    revision: createHash("sha256").update(JSON.stringify(revision)).digest("hex"),
  }
}

/** How many rows this transaction has written, wherever. */
const CHANGED = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::text FROM pg_catalog.pg_stat_xact_user_tables"

const touchesRows = ({ verb, overwrites }: PostgresPlan) => verb === "UPDATE" || overwrites

const changesKey = ({ sets }: PostgresPlan, { key }: TableFacts) => key.some((name) => sets.includes(name))

/** Whether a changed row can be put beside what it was: they have the same key. */
const canJoin = (plan: PostgresPlan, facts: TableFacts) =>
  plan.verb !== "DELETE" && facts.key.length > 0 && !changesKey(plan, facts)

function notesOf(plan: PostgresPlan, facts: TableFacts, extra: number): string[] {
  const { key, triggers } = facts
  return [
    ...(extra > 0 ? [`${extra} more row(s) change with it, by triggers or foreign keys.`] : []),
    ...(triggers.length > 0 ? [`Triggers of the table run as well: ${triggers.join(", ")}.`] : []),
    // Also where all rows are new today: by the time it runs, one may be there.
    ...(plan.overwrites ? ["Rows that are there already are overwritten."] : []),
    ...(touchesRows(plan) && key.length === 0
      ? ["The table has no primary key, so rows cannot be shown as they were."]
      : []),
    ...(changesKey(plan, facts) ? ["The key of rows changes, so they cannot be shown as they were."] : []),
  ]
}

/** The columns whose values have to be those that were shown: what the statement decides, not what the database gives. */
function boundColumns(plan: PostgresPlan, facts: TableFacts): string[] {
  const { verb, text, fills, sets } = plan
  const moving = namesMovingValue(text)
  const named = (names: readonly string[]) => facts.columns.filter(({ name }) => names.includes(name))
  const own = ({ given }: TableFacts["columns"][number]) => !given
  const bound = () => {
    if (verb === "DELETE") return []
    if (verb === "INSERT") return moving ? [] : [...(fills ? named(fills) : facts.columns.filter(own)), ...named(sets)]
    // What a row was is not seen here, so that what it keeps of it has to be the same; triggers may stamp rows.
    if (!canJoin(plan, facts) && facts.triggers.length === 0)
      return facts.columns.filter((column) => !moving || (own(column) && !sets.includes(column.name)))
    return moving ? [] : named(sets)
  }
  return [...new Set(bound().map(({ name }) => name))]
}

/**
 * The statement, and around it what tells about it. All parts of one statement see the rows as they were before it, so
 * that the table itself, joined by its key, still has the old ones.
 */
function statementFor(plan: PostgresPlan, facts: TableFacts): string {
  const { verb, text, table, alias, overwrites } = plan
  const { columns, key } = facts
  const joined = canJoin(plan, facts)
  const same = key.map((name) => `o.${quoted(name)} = c.${quoted(name)}`).join(" AND ")
  const from = `pawl_changed c ${joined ? `LEFT JOIN ${table} o ON ${same}` : ""}`
  const bound = boundColumns(plan, facts)
  const before = verb === "DELETE" ? "c.*::text" : joined ? "coalesce(o.*::text, '')" : "''"
  const after = bound.length > 0 ? `ROW(${bound.map((name) => `c.${quoted(name)}`).join(", ")})::text` : "''"
  const hash = (what: string) => `coalesce(sum(hashtextextended(${what}, 0)::numeric), 0)::text`
  const cut = (row: string) => columns.map(({ name }) => `left(${row}.${quoted(name)}::text, ${SHOWN_CHARACTERS})`)
  const old = joined
    ? [`CASE WHEN o.* IS NULL THEN NULL ELSE 'x' END`, ...cut("o")]
    : ["NULL", ...columns.map(() => "NULL")]
  // What is overwritten comes first: it has to be seen, however many are new.
  const first = overwrites && joined ? key.map((name) => `o.${quoted(name)} IS NULL`) : []
  const order = key.length > 0 ? [...first, ...key.map((name) => `c.${quoted(name)}`)].join(", ") : "c.*::text"
  const named = (parts: readonly string[]) => parts.map((part, index) => `${part} AS x${index}`).join(", ")
  return `WITH pawl_changed AS (${text}\nRETURNING ${alias}.*),
    pawl_all AS (SELECT count(*)::text AS n, ${hash(before)} AS b, ${hash(after)} AS a FROM ${from}),
    pawl_shown AS (SELECT 'x' AS x, ${named([...cut("c"), ...old])} FROM ${from} ORDER BY ${order} LIMIT ${SHOWN_ROWS})
    SELECT pawl_all.n, pawl_all.b, pawl_all.a, pawl_shown.* FROM pawl_all LEFT JOIN pawl_shown ON true`
}

async function factsOf(ask: PostgresSession["ask"], table: string): Promise<TableFacts | undefined> {
  const { rows } = await ask(`SELECT c.relkind::text,
    (SELECT json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'identity',
      attidentity <> '', 'default', pg_get_expr(adbin, adrelid)) ORDER BY attnum)::text FROM pg_catalog.pg_attribute
      LEFT JOIN pg_catalog.pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attrelid = c.oid AND attnum BETWEEN 1 AND ${schemaLimits.columns} AND NOT attisdropped),
    (SELECT json_agg(a.attname ORDER BY k.place)::text FROM pg_catalog.pg_constraint x
      CROSS JOIN unnest(x.conkey) WITH ORDINALITY k (number, place)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
      WHERE x.conrelid = c.oid AND x.contype = 'p'),
    (SELECT json_agg(tgname ORDER BY tgname)::text FROM pg_catalog.pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal)
    FROM pg_catalog.pg_class c WHERE c.oid = to_regclass('${table.replaceAll("'", "''")}')`)
  const [kind, columns, key, triggers] = rows[0] ?? []
  if (!kind) return undefined
  const told = list<{ name: string; type: string; identity: boolean; default: string | null }>(columns)
  return {
    kind,
    columns: told.map(({ name, type, identity, default: text }) => ({ name, type, given: identity || isGiven(text) })),
    key: list(key),
    triggers: list(triggers),
  }
}

/** A constant is the same each time; what a function makes may be another. */
const isGiven = (text: string | null) => text !== null && (text.includes("(") || namesMovingValue(text))

const list = <T>(json: string | null | undefined): T[] => JSON.parse(json ?? "[]") as T[]
