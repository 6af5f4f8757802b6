import type { ClientBase } from "pg"
import type { PartitionedTable } from "../partitioned.ts"
import { addPartAhead } from "./add-part.ts"
import { makeFirstPart } from "./first-part.ts"
import type { PostgresPool } from "./pool.ts"
import { longStatement } from "./short-transaction.ts"
import { boundName, isFarEnough, nextBound, readTableState, type TableState, withTableLocked } from "./table-state.ts"
import { lockViews } from "./views-over.ts"

/**
 * Makes a table one of parts, and a part for the range behind that of the newest key. What is so already is left alone, so
 * that a kill at any point is made good by whoever comes next; of two at once each finds, under the lock, what the other
 * has done.
 *
 * The rows of a table that had no parts stay where they are: it becomes the first part. For that PostgreSQL has to know
 * that they are all in its range, so they get a CHECK, which is held against them while others write. Those wait only for
 * the renaming at the end, and find the new table under the old name.
 *
 * Resolves to the views that go on reading the first part alone: those of others, and what cannot be replaced.
 */
export function partition(pool: PostgresPool, table: PartitionedTable, lockMs: number): Promise<string[]> {
  return pool.use(async (client) => {
    let left: string[] = []
    for (;;) {
      const state = await readTableState(client, table)
      if (state.isPartitioned) {
        await addPartAhead(client, table, { state, lockMs })
        return left
      }
      if (!isFarEnough(table, state)) await addBound(client, table, { state, lockMs })
      else if (!state.isChecked) await checkBound(client, table, lockMs)
      else left = await switchOver(client, table, { state, lockMs })
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

const UNKNOWN_CONSTRAINT = "42704"

async function checkBound(client: ClientBase, table: PartitionedTable, lockMs: number): Promise<void> {
  try {
    await longStatement(client, lockMs, `ALTER TABLE ${table.name} VALIDATE CONSTRAINT ${boundName(table)}`)
  } catch (error) {
    // Another node was faster: the table has parts by now, and no bound.
    if ((error as { code?: unknown }).code !== UNKNOWN_CONSTRAINT) throw error
  }
}

async function switchOver(client: ClientBase, table: PartitionedTable, found: Found): Promise<string[]> {
  let left: string[] = []
  const before = () => lockViews(client, table.name)
  await withTableLocked(client, table, { ...found, mode: "ACCESS EXCLUSIVE", before }, async (now) => {
    if (now.isPartitioned || !now.isChecked || now.bound === undefined) return
    left = await makeFirstPart(client, table, { owner: now.owner, bound: now.bound })
  })
  return left
}
