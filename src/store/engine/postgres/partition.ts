import type { ClientBase } from "pg"
import { partName, type PartitionedTable } from "../partitioned.ts"
import { isLockTimeout } from "../store-failure.ts"
import { addPartAhead } from "./add-part.ts"
import { demandPossible } from "./can-partition.ts"
import { makeFirstPart } from "./first-part.ts"
import type { PostgresPool } from "./pool.ts"
import { longStatement } from "./short-transaction.ts"
import { boundName, isFarEnough, nextBound, readTableState, type TableState, withTableLocked } from "./table-state.ts"
import { lockViews, viewsLeft } from "./views-over.ts"

/**
 * Makes a table one of parts, and a part for the range behind that of the newest key. What is so already is left alone, so
 * that a kill at any point is made good by whoever comes next; of two at once each finds, under the lock, what the other
 * has done.
 *
 * The rows of a table that had no parts stay where they are: it becomes the first part. For that PostgreSQL has to know
 * that they are all in its range, so they get a CHECK, which is held against them while others write. Those wait only for
 * the renaming at the end, and find the new table under the old name. Where that fails the CHECK goes again.
 *
 * Resolves to the views that read the first part alone: those of others, and what cannot be replaced.
 */
export function partition(pool: PostgresPool, table: PartitionedTable, lockMs: number): Promise<string[]> {
  return pool.use(async (client) => {
    try {
      for (;;) {
        const state = await readTableState(client, table)
        if (state.isPartitioned) {
          await addPartAhead(client, table, { state, lockMs })
          return await viewsLeft(client, table.name, partName(table, 0))
        }
        await demandPossible(client, table, state)
        if (!isFarEnough(table, state)) await addBound(client, table, { state, lockMs })
        else if (!state.isChecked) await checkBound(client, table, lockMs)
        else await switchOver(client, table, { state, lockMs })
      }
    } catch (error) {
      // Somebody else who has the lock may be at this very work, and needs the bound.
      if (!isLockTimeout(error)) await dropBound(client, table, lockMs).catch(() => {})
      throw error
    }
  }, "long")
}

interface Found {
  readonly state: TableState
  readonly lockMs: number
}

/**
 * From here to the switch, keys at the bound are refused. It is a whole range ahead: some million conversations have to be
 * begun before anybody notices, and every start of this version goes on from here.
 */
async function addBound(client: ClientBase, table: PartitionedTable, found: Found): Promise<void> {
  await withTableLocked(client, table, { ...found, mode: "ACCESS EXCLUSIVE" }, async (now) => {
    if (now.isPartitioned || isFarEnough(table, now)) return
    const bound = boundName(table)
    const check = `CHECK (${table.key} < ${nextBound(table, now)}) NOT VALID`
    const sql = `ALTER TABLE ${table.name} DROP CONSTRAINT IF EXISTS ${bound}, ADD CONSTRAINT ${bound} ${check}`
    await client.query(sql)
  })
}

/** Nobody knows when this is tried again, and until then it would come nearer. */
async function dropBound(client: ClientBase, table: PartitionedTable, lockMs: number): Promise<void> {
  const state = await readTableState(client, table)
  if (state.isPartitioned || state.bound === undefined) return
  await withTableLocked(client, table, { state, lockMs, mode: "ACCESS EXCLUSIVE" }, async (now) => {
    if (!now.isPartitioned)
      await client.query(`ALTER TABLE ${table.name} DROP CONSTRAINT IF EXISTS ${boundName(table)}`)
  })
}

const UNKNOWN_CONSTRAINT = "42704"

async function checkBound(client: ClientBase, table: PartitionedTable, lockMs: number): Promise<void> {
  try {
    await longStatement(client, lockMs, `ALTER TABLE ${table.name} VALIDATE CONSTRAINT ${boundName(table)}`)
  } catch (error) {
    // Another node was faster: the table has parts by now, and no bound.
    if ((error as { code?: unknown }).code !== UNKNOWN_CONSTRAINT) throw error
  }
}

async function switchOver(client: ClientBase, table: PartitionedTable, found: Found): Promise<void> {
  const { role } = found.state
  const before = () => lockViews(client, table.name, role)
  await withTableLocked(client, table, { ...found, mode: "ACCESS EXCLUSIVE", before }, async (now) => {
    if (now.isPartitioned || !now.isChecked || now.bound === undefined) return
    await demandPossible(client, table, now)
    await makeFirstPart(client, table, { role, bound: now.bound })
  })
}
