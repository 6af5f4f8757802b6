import { boundColumns, stampable } from "./bound-columns.ts"
import { SHOWN_ROWS } from "../database/kind.ts"
import { type PostgresPlan, quoted } from "./plan.ts"
import { shownValue } from "./shown-value.ts"
import type { TableFacts } from "./table.ts"

export const touchesRows = ({ verb, overwrites }: PostgresPlan) => verb === "UPDATE" || overwrites

export const changesKey = ({ sets }: PostgresPlan, { key }: TableFacts) => sets.some(({ name }) => key.includes(name))

/** True if old and new rows can be joined, because they have the same key. */
export const canJoin = (plan: PostgresPlan, facts: TableFacts) =>
  plan.verb !== "DELETE" && facts.key.length > 0 && !changesKey(plan, facts)

/**
 * Wraps the statement in a query that describes its changes. All parts of one statement see the rows before it, so the
 * table still has the old rows. They are joined by the key or, without one, recognized by the id of the transaction
 * that changed them, which is this one.
 */
export function statementFor(plan: PostgresPlan, facts: TableFacts): string {
  const { verb, text, table, alias, overwrites } = plan
  const { columns, key } = facts
  const joined = canJoin(plan, facts)
  const apart = touchesRows(plan) && !joined
  const same = key.map((name) => `o.${quoted(name)} = c.${quoted(name)}`).join(" AND ")
  const from = `pawl_changed c ${joined ? `LEFT JOIN ${table} o ON ${same}` : ""}`
  const before = verb === "DELETE" ? "c.*::text" : joined ? "coalesce(o.*::text, '')" : "''"
  // Includes the old row, because two rows that swap their values are a change, too.
  const after = `${joined ? `${before} || ` : ""}ROW(${comparedColumns(plan, facts)
    .map((name) => `c.${quoted(name)}`)
    .join(", ")})::text`
  const changed = new Set(plan.sets.map(({ name }) => name))
  const cut = (row: string, other: string) =>
    columns.map(({ name }) => {
      const isChanged = joined && changed.has(name)
      return shownValue(`${row}.${quoted(name)}`, isChanged ? `${other}.${quoted(name)}` : undefined)
    })
  const old = joined
    ? [`CASE WHEN o.* IS NULL THEN NULL ELSE 'x' END`, ...cut("o", "c")]
    : ["NULL", ...columns.map(() => "NULL")]
  // Overwritten rows come first, because the user must see them, however many rows are new.
  const first = overwrites && joined ? key.map((name) => `o.${quoted(name)} IS NULL`) : []
  const orderOf = (row: string) =>
    key.length > 0 ? key.map((name) => `${row}.${quoted(name)}`).join(", ") : `${row}.*::text`
  const named = (parts: readonly string[]) => parts.map((part, index) => `${part} AS x${index}`).join(", ")
  const written = (row: string) => `ROW(${columns.map(({ name }) => `${row}.${quoted(name)}`).join(", ")})::text`
  // Counts existing rows: of those with a key the join found an old row.
  const counted =
    overwrites && joined ? key.map((name) => `o.${quoted(name)} IS NOT NULL`).join(" AND ") : "c.pawl_updated"
  const differing = joined
    ? `(count(*) FILTER (WHERE ${written("o")} IS DISTINCT FROM ${written("c")}))::text`
    : hash(written("c"))
  // An existing row was locked before it was overwritten; a new one was not.
  const updated = overwrites && apart ? `${alias}.xmax::text <> '0'` : "true"
  return `WITH pawl_changed AS (${text}\nRETURNING ${alias}.*, ${updated} AS pawl_updated),
    pawl_all AS (SELECT count(*)::text AS n, (count(*) FILTER (WHERE ${counted}))::text AS u,
      ${hash(before)} AS b, ${hash(after)} AS a, ${stampedOf(stampable(plan, facts), joined)} AS m,
      ${differing} AS d FROM ${from}),
    pawl_shown AS (SELECT 'x' AS x, ${named([...cut("c", "o"), ...old])} FROM ${from}
      ORDER BY ${[...first, orderOf("c")].join(", ")} LIMIT ${SHOWN_ROWS})
    SELECT pawl_all.n, pawl_all.u, pawl_all.b, pawl_all.a, pawl_all.m, pawl_all.d, pawl_was.w, pawl_shown.* FROM pawl_all
      LEFT JOIN LATERAL (${apart ? formerRows(table, cut("o", "c"), orderOf("o")) : "SELECT NULL::text AS w"}) pawl_was ON true
      LEFT JOIN pawl_shown ON true`
}

const hash = (what: string) => `coalesce(sum(hashtextextended(${what}, 0)::numeric), 0)::text`

/** Must run after the changes: it needs their count, which is known last. */
function formerRows(table: string, cut: readonly string[], order: string): string {
  return `SELECT json_build_object('count', count(*), 'hash', ${hash("f.t")},
      'rows', json_agg(f.r ORDER BY f.place) FILTER (WHERE f.place <= ${SHOWN_ROWS}))::text AS w
    FROM (SELECT o.*::text AS t, to_json(ARRAY[${cut.join(", ")}]) AS r, row_number() OVER (ORDER BY ${order}) AS place
      FROM ${table} o WHERE o.xmax::text::bigint = (txid_current() & 4294967295) AND pawl_all.n IS NOT NULL) f`
}

/** Which of these columns have changed; all of them if that is unknown. */
function stampedOf(names: readonly string[], joined: boolean): string {
  const differs = (name: string) => `bool_or(c.${name}::text IS DISTINCT FROM o.${name}::text)`
  const each = names.map((name) => `${joined ? differs(quoted(name)) : "true"}`)
  return `to_json(ARRAY[${each.join(", ")}]::boolean[])::text`
}

/**
 * The columns that identify a row if old and new rows cannot be joined: those that the statement does not set. Triggers
 * may change other columns.
 */
function comparedColumns(plan: PostgresPlan, facts: TableFacts): readonly string[] {
  const { bound, made } = boundColumns(plan, facts)
  if (plan.verb !== "UPDATE" || canJoin(plan, facts) || facts.stamps) return bound
  return facts.columns.map(({ name }) => name).filter((name) => !made.includes(name))
}
