import type { ClientBase } from "pg"
import { type PartitionedTable, rangeOf } from "../partitioned.ts"
import { shortTransaction } from "./short-transaction.ts"

/** How far a table is on its way to be one of parts. */
export interface TableState {
  readonly isPartitioned: boolean
  /** Quoted where they have to be. */
  readonly schema: string
  readonly owner: string
  /** Whoever is connected may act as the owner. */
  readonly isOurs: boolean
  /** Whom the session acts as, unquoted: not always whoever has logged in. */
  readonly role: string
  /** The first key that the CHECK on it refuses, where it has one. */
  readonly bound: number | undefined
  /** PostgreSQL has read all rows, and they keep to that. */
  readonly isChecked: boolean
  /** The largest key that was ever given. */
  readonly newest: number
}

/** The name of the CHECK that says how far the keys of the first part go. */
export const boundName = ({ name }: PartitionedTable): string => `${name}_bound`

export async function readTableState(client: ClientBase, table: PartitionedTable): Promise<TableState> {
  const { name, key, counted } = table
  // A counter that this role may not look at says nothing: then the rows do.
  const sql = `SELECT c.relkind = 'p' AS "isPartitioned", quote_ident(n.nspname) AS schema,
      quote_ident(pg_get_userbyid(c.relowner)) AS owner, pg_has_role(c.relowner, 'MEMBER') AS "isOurs",
      current_user::text AS role, coalesce(b.convalidated, false) AS "isChecked",
      pg_get_constraintdef(b.oid) AS check,
      greatest(CASE WHEN has_sequence_privilege(s.counter, 'USAGE, SELECT') THEN pg_sequence_last_value(s.counter) END, (SELECT max(${key}) FROM ${name}),
        (SELECT max(${counted.column}) FROM ${counted.table}), 0) AS newest
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN (SELECT pg_get_serial_sequence($2, $3)::regclass AS counter) s
    LEFT JOIN pg_constraint b ON b.conrelid = c.oid AND b.conname = $4 WHERE c.oid = to_regclass($1)`
  const values = [name, counted.table, counted.column, boundName(table)]
  const { rows } = await client.query<TableState & { check: string | null }>(sql, values)
  const [row] = rows
  if (!row) throw new Error(`there is no table ${name}`)
  const { check, ...state } = row
  const bound = /< '?(\d+)/.exec(check ?? "")?.[1]
  return { ...state, bound: bound === undefined ? undefined : Number(bound) }
}

/** What comes near a bound would soon be refused. One that the rows were read for goes in a moment. */
export function isFarEnough({ size }: PartitionedTable, { bound, newest, isChecked }: TableState): boolean {
  return bound !== undefined && (isChecked || bound - newest > size / 2)
}

/** Where there are keys already, a whole range and more is left for those that come while the rows are read. */
export const nextBound = (table: PartitionedTable, { newest }: TableState): number =>
  (rangeOf(table, newest) + (newest > 0 ? 2 : 1)) * table.size

export interface TableLock {
  /** As it was found without the lock. */
  readonly state: TableState
  readonly lockMs: number
  readonly mode: "ACCESS EXCLUSIVE" | "SHARE UPDATE EXCLUSIVE"
  /** Locks what readers lock before the table. The other way round each would wait for the other. */
  before?(): Promise<void>
}

/** A short transaction with the table locked, in its schema and as its owner; `work` is told how far it is by now. */
export async function withTableLocked(
  client: ClientBase,
  table: PartitionedTable,
  { state, lockMs, mode, before }: TableLock,
  work: (now: TableState) => Promise<void>,
): Promise<void> {
  await shortTransaction(client, { lockMs }, async () => {
    await client.query(`SET LOCAL search_path TO ${state.schema}`)
    await before?.()
    await client.query(`SET LOCAL ROLE ${state.owner}`)
    await client.query(`LOCK TABLE ONLY ${table.name} IN ${mode} MODE`)
    await work(await readTableState(client, table))
  })
}
