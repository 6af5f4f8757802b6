import type { ClientBase } from "pg"
import { partitionName, type PartitionedTable, rangeOf, defaultPartitionName } from "../schema-syntax.ts"
import type { PostgresPool } from "./pool.ts"
import { shortTransaction } from "./short-transaction.ts"

/**
 * PostgreSQL scans the default partition under a lock before it attaches another one. This many bytes take a moment.
 */
const MAX_DEFAULT_BYTES = 64 * 1024 * 1024

/** The partitions of a new table: the first range with everything below it, the next one, and the default. */
export function firstPartitions(table: PartitionedTable): string[] {
  const { name, size } = table
  return [
    `CREATE TABLE ${partitionName(table, 0)} PARTITION OF ${name} FOR VALUES FROM (MINVALUE) TO (${size})`,
    `CREATE TABLE ${partitionName(table, 1)} PARTITION OF ${name} ${toBounds(table, 1)}`,
    `CREATE TABLE ${defaultPartitionName(table)} PARTITION OF ${name} DEFAULT`,
  ]
}

/**
 * Adds a partition for the range after the newest key, if it is missing. Rows that were written before their partition
 * existed stay in the default one. It is empty unless a partition was missing for a whole range; if it is large, this
 * rejects, and rows still go to the default partition. If two nodes do this at once, the second one finds the partition
 * under the lock.
 */
export function addPartition(pool: PostgresPool, table: PartitionedTable, lockMs: number): Promise<void> {
  return pool.use(async (client) => {
    const state = await readTableState(client, table)
    const range = rangeOf(table, state.newest) + 1
    if (await hasPartition(client, table, range)) return
    if (!state.canActAsOwner)
      throw new Error(
        `only ${state.owner}, who owns ${table.name}, can make its partitions: run pawl migrate as that role now and then`,
      )
    await refuseLargeDefault(client, table)
    await shortTransaction(client, { lockMs }, async () => {
      await client.query(`SET LOCAL search_path TO ${state.schema}`)
      await client.query(`SET LOCAL ROLE ${state.owner}`)
      await client.query(`LOCK TABLE ONLY ${table.name} IN SHARE UPDATE EXCLUSIVE MODE`)
      if (!(await hasPartition(client, table, range))) await attachPartition(client, table, range)
    })
  }, "long")
}

interface TableState {
  /** Quoted if necessary. */
  readonly schema: string
  readonly owner: string
  /** The connected role may act as the owner. */
  readonly canActAsOwner: boolean
  /** The largest key that was ever assigned. */
  readonly newest: number
}

async function readTableState(client: ClientBase, { name, key, counted }: PartitionedTable): Promise<TableState> {
  // If this role may not read the sequence, the rows give the newest key.
  const sql = `SELECT quote_ident(n.nspname) AS schema, quote_ident(pg_get_userbyid(c.relowner)) AS owner,
      pg_has_role(c.relowner, 'MEMBER') AS "canActAsOwner",
      greatest(CASE WHEN has_sequence_privilege(s.counter, 'USAGE, SELECT') THEN pg_sequence_last_value(s.counter) END, (SELECT max(${key}) FROM ${name}),
        (SELECT max(${counted.column}) FROM ${counted.table}), 0) AS newest
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN (SELECT pg_get_serial_sequence($2, $3)::regclass AS counter) s WHERE c.oid = to_regclass($1)`
  const { rows } = await client.query<TableState>(sql, [name, counted.table, counted.column])
  const [row] = rows
  if (!row) throw new Error(`there is no table ${name}`)
  return row
}

async function refuseLargeDefault(client: ClientBase, table: PartitionedTable): Promise<void> {
  const rest = defaultPartitionName(table)
  const sql = "SELECT coalesce(pg_relation_size(to_regclass($1)), 0) AS bytes"
  const { rows } = await client.query<{ bytes: number }>(sql, [rest])
  if (Number(rows[0]?.bytes) <= MAX_DEFAULT_BYTES) return
  throw new Error(
    `${rest} has become too large to be read while it is locked. docs/recipes/manage-event-partitions.md says how it is made a partition; until then new rows are added to it`,
  )
}

/** Created separately and then attached, which locks only the default partition for a moment. */
async function attachPartition(client: ClientBase, table: PartitionedTable, range: number): Promise<void> {
  const part = partitionName(table, range)
  const settings = await settingsOfLast(client, table)
  const storage = await storageOf(client, table.name, settings)
  await client.query(`CREATE TABLE ${part} (LIKE ${table.name} INCLUDING ALL EXCLUDING IDENTITY) ${storage}`)
  await client.query(`ALTER TABLE ${table.name} ATTACH PARTITION ${part} ${toBounds(table, range)}`)
  await setReplicaIdentity(client, table, { part, settings })
}

function toBounds({ size }: PartitionedTable, range: number): string {
  return `FOR VALUES FROM (${range * size}) TO (${(range + 1) * size})`
}

/** Whether a partition contains part of the range, also one of another size that an operator created. */
async function hasPartition(client: ClientBase, table: PartitionedTable, range: number): Promise<boolean> {
  const [from, to] = [range * table.size, (range + 1) * table.size]
  return (await readPartitions(client, table)).some(({ start, end }) => start < to && end > from)
}

interface Partition {
  /** Quoted if necessary. */
  readonly name: string
  readonly start: number
  readonly end: number
}

/** Without the default partition. */
async function readPartitions(client: ClientBase, { name }: PartitionedTable): Promise<Partition[]> {
  const sql = `SELECT pg_get_expr(c.relpartbound, c.oid) AS bounds, c.oid::regclass::text AS name
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass($1)`
  const { rows } = await client.query<{ bounds: string; name: string }>(sql, [name])
  return rows.flatMap(({ bounds, name }) => {
    const [, start, end] = /^FOR VALUES FROM \(([^()]*)\) TO \(([^()]*)\)$/.exec(bounds) ?? []
    return start === undefined || end === undefined ? [] : [{ start: toNumber(start), end: toNumber(end), name }]
  })
}

function toNumber(bound: string): number {
  if (bound === "MINVALUE") return -Infinity
  return bound === "MAXVALUE" ? Infinity : Number(bound.replaceAll("'", ""))
}

/** Settings of the last partition, which the next one copies. */
interface PartitionSettings {
  /** Such as `fillfactor=90`. */
  readonly options: readonly string[]
  /** How a publication identifies deleted rows: by all columns, by an index, not at all, or by the default. */
  readonly identity: "f" | "i" | "n" | "d"
}

/** From the last partition, or from the default one if an operator detached all others. */
async function settingsOfLast(client: ClientBase, table: PartitionedTable): Promise<PartitionSettings | undefined> {
  const partitions = await readPartitions(client, table)
  const last = partitions.toSorted((one, other) => one.end - other.end).at(-1)
  const sql = `SELECT c.relreplident AS identity, coalesce(c.reloptions, '{}')
      || ARRAY(SELECT 'toast.' || o FROM pg_class t, unnest(t.reloptions) AS o WHERE t.oid = c.reltoastrelid) AS options
    FROM pg_class c WHERE c.oid = to_regclass($1)`
  return (await client.query<PartitionSettings>(sql, [last?.name ?? defaultPartitionName(table)])).rows[0]
}

/** The SQL after CREATE TABLE: the options of a partition, and the tablespace of the table. */
async function storageOf(client: ClientBase, table: string, settings?: PartitionSettings): Promise<string> {
  // If the owner may not write to the tablespace, the partition goes to the default one.
  const sql = `SELECT format('TABLESPACE %I', s.spcname) AS place FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
    WHERE c.oid = $1::regclass AND has_tablespace_privilege(s.oid, 'CREATE')`
  const { rows } = await client.query<{ place: string }>(sql, [table])
  const options = settings?.options.map((each) => `${each.replace("=", "='")}'`) ?? []
  return `${options.length === 0 ? "" : `WITH (${options.join(", ")})`} ${rows[0]?.place ?? ""}`
}

/**
 * A new partition does not inherit its replica identity, and PostgreSQL refuses to delete from a published table
 * without one.
 */
async function setReplicaIdentity(
  client: ClientBase,
  { unique }: PartitionedTable,
  { part, settings }: { readonly part: string; readonly settings: PartitionSettings | undefined },
): Promise<void> {
  const { identity = "d" } = settings ?? {}
  if (identity === "d") return
  const index = identity === "i" ? await findUnique(client, part, unique) : undefined
  await client.query(
    `ALTER TABLE ${part} REPLICA IDENTITY ${index ? `USING INDEX ${index}` : identity === "n" ? "NOTHING" : "FULL"}`,
  )
}

/** The valid unique index of a table over these columns. */
async function findUnique(
  client: ClientBase,
  table: string,
  { columns }: PartitionedTable["unique"],
): Promise<string | undefined> {
  const sql = `SELECT i.indexrelid::regclass::text AS index FROM pg_index i
    WHERE i.indrelid = $1::regclass AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place) = $2 LIMIT 1`
  const { rows } = await client.query<{ index: string }>(sql, [table, columns])
  return rows[0]?.index
}
