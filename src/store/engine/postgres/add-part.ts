import type { ClientBase } from "pg"
import { partName, type PartitionedTable, rangeOf } from "../partitioned.ts"
import { withOptions } from "./relation-options.ts"
import { type TableState, withTableLocked } from "./table-state.ts"

/**
 * A part for the range behind that of the newest key, where there is none. A range whose first rows have come before its
 * part lies in the rest, and stays there. PostgreSQL reads the rest before it lets a part in; it is empty, unless parts have
 * been missing for a whole range. Where that takes too long it is undone and rejects, and rows go on into the rest.
 */
export async function addPartAhead(
  client: ClientBase,
  table: PartitionedTable,
  { state, lockMs }: { readonly state: TableState; readonly lockMs: number },
): Promise<void> {
  const range = rangeOf(table, state.newest) + 1
  if (await isTaken(client, table, range)) return
  await withTableLocked(client, table, { state, lockMs, mode: "SHARE UPDATE EXCLUSIVE" }, async () => {
    if (await isTaken(client, table, range)) return
    const part = partName(table, range)
    // Made beside the table and then put in: nobody is kept from the other parts.
    await client.query(`CREATE TABLE ${part} (LIKE ${table.name} INCLUDING ALL) ${await settingsOfLast(client, table)}`)
    await client.query(`ALTER TABLE ${table.name} ATTACH PARTITION ${part} ${toBounds(table, range)}`)
  })
}

export function toBounds({ size }: PartitionedTable, range: number): string {
  return `FOR VALUES FROM (${range * size}) TO (${(range + 1) * size})`
}

/** A part holds some of the range: its own, or one of another size that an operator has made. */
async function isTaken(client: ClientBase, table: PartitionedTable, range: number): Promise<boolean> {
  const [from, to] = [range * table.size, (range + 1) * table.size]
  return (await readParts(client, table)).some(({ begin, end }) => begin < to && end > from)
}

/** What an operator has said about vacuuming the last part holds for the next. */
async function settingsOfLast(client: ClientBase, table: PartitionedTable): Promise<string> {
  const parts = await readParts(client, table)
  return withOptions(parts.toSorted((one, other) => one.end - other.end).at(-1)?.settings)
}

interface Part {
  readonly begin: number
  readonly end: number
  readonly settings: readonly string[] | null
}

/** Without the rest. */
async function readParts(client: ClientBase, { name }: PartitionedTable): Promise<Part[]> {
  const sql = `SELECT pg_get_expr(c.relpartbound, c.oid) AS bounds, c.reloptions AS settings
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass($1)`
  const { rows } = await client.query<{ bounds: string; settings: string[] | null }>(sql, [name])
  return rows.flatMap(({ bounds, settings }) => {
    const [, begin, end] = /^FOR VALUES FROM \(([^()]*)\) TO \(([^()]*)\)$/.exec(bounds) ?? []
    return begin === undefined || end === undefined ? [] : [{ begin: toNumber(begin), end: toNumber(end), settings }]
  })
}

/** Numbers are quoted there. */
function toNumber(bound: string): number {
  if (bound === "MINVALUE") return -Infinity
  return bound === "MAXVALUE" ? Infinity : Number(bound.replaceAll("'", ""))
}
