import type { ClientBase } from "pg"
import { partName, type PartitionedTable, rangeOf, restName } from "../partitioned.ts"
import { demandOwner } from "./can-partition.ts"
import { giveIdentity, type PartSettings, readPartSettings, storageOf } from "./part-settings.ts"
import { type TableState, withTableLocked } from "./table-state.ts"

/** PostgreSQL reads the rest before it lets a part in, and has it locked meanwhile: so much takes a moment. */
const MAX_REST_BYTES = 64 * 1024 * 1024

/**
 * A part for the range behind that of the newest key, where there is none. A range whose first rows have come before its
 * part lies in the rest, and stays there. The rest is empty, unless parts have been missing for a whole range; where it has
 * become large this rejects, and rows go on into it.
 */
export async function addPartAhead(
  client: ClientBase,
  table: PartitionedTable,
  { state, lockMs }: { readonly state: TableState; readonly lockMs: number },
): Promise<void> {
  const range = rangeOf(table, state.newest) + 1
  if (await isTaken(client, table, range)) return
  demandOwner(table, state)
  await demandSmallRest(client, table)
  await withTableLocked(client, table, { state, lockMs, mode: "SHARE UPDATE EXCLUSIVE" }, async () => {
    if (await isTaken(client, table, range)) return
    const part = partName(table, range)
    // Made beside the table and then put in: that locks the rest alone, for a moment.
    const settings = await settingsOfLast(client, table)
    const storage = await storageOf(client, table.name, settings)
    await client.query(`CREATE TABLE ${part} (LIKE ${table.name} INCLUDING ALL EXCLUDING IDENTITY) ${storage}`)
    await client.query(`ALTER TABLE ${table.name} ATTACH PARTITION ${part} ${toBounds(table, range)}`)
    await giveIdentity(client, table, { part, settings })
  })
}

async function demandSmallRest(client: ClientBase, table: PartitionedTable): Promise<void> {
  const rest = restName(table)
  const sql = "SELECT coalesce(pg_relation_size(to_regclass($1)), 0) AS bytes"
  const { rows } = await client.query<{ bytes: number }>(sql, [rest])
  if (Number(rows[0]?.bytes) <= MAX_REST_BYTES) return
  throw new Error(
    `${rest} has become too large to be read while it is locked. docs/scale.md says how it is made a partition; until then rows go on into it`,
  )
}

export function toBounds({ size }: PartitionedTable, range: number): string {
  return `FOR VALUES FROM (${range * size}) TO (${(range + 1) * size})`
}

/** A part holds some of the range: its own, or one of another size that an operator has made. */
async function isTaken(client: ClientBase, table: PartitionedTable, range: number): Promise<boolean> {
  const [from, to] = [range * table.size, (range + 1) * table.size]
  return (await readParts(client, table)).some(({ begin, end }) => begin < to && end > from)
}

/** What an operator has said about the last part holds for the next; where they have put all away, about the rest. */
async function settingsOfLast(client: ClientBase, table: PartitionedTable): Promise<PartSettings | undefined> {
  const parts = await readParts(client, table)
  const last = parts.toSorted((one, other) => one.end - other.end).at(-1)
  return readPartSettings(client, last?.name ?? restName(table))
}

interface Part {
  /** Quoted where it has to be. */
  readonly name: string
  readonly begin: number
  readonly end: number
}

/** Without the rest. */
async function readParts(client: ClientBase, { name }: PartitionedTable): Promise<Part[]> {
  const sql = `SELECT pg_get_expr(c.relpartbound, c.oid) AS bounds, c.oid::regclass::text AS name
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass($1)`
  const { rows } = await client.query<{ bounds: string; name: string }>(sql, [name])
  return rows.flatMap(({ bounds, name }) => {
    const [, begin, end] = /^FOR VALUES FROM \(([^()]*)\) TO \(([^()]*)\)$/.exec(bounds) ?? []
    return begin === undefined || end === undefined ? [] : [{ begin: toNumber(begin), end: toNumber(end), name }]
  })
}

/** Numbers are quoted there. */
function toNumber(bound: string): number {
  if (bound === "MINVALUE") return -Infinity
  return bound === "MAXVALUE" ? Infinity : Number(bound.replaceAll("'", ""))
}
