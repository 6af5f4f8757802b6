import { hasCode, type WorkspaceRows } from "../../../../client/index.ts"
import type { TableName } from "../../../../core/protocol/index.ts"
import { client } from "../../state/client.ts"
import { findRow, applyEdit, readWithoutFeed } from "../../state/workspace.ts"

type Row<Name extends TableName> = WorkspaceRows[Name]

/** Adds a row at once, without a proposal, because a person does it. */
export async function createRow<Name extends TableName>(table: Name, data: Partial<Row<Name>>): Promise<Row<Name>> {
  const row = (await client.createRow({ params: { table }, body: data as Record<string, unknown> })) as Row<Name>
  applyEdit(table, row, undefined)
  return row
}

/** The outcome of a change: done, or skipped because the row changed or was deleted. */
export type Changed<Name extends TableName> =
  | { readonly is: "done"; readonly row: Row<Name> }
  | { readonly is: "stale"; readonly newer: Row<Name> }
  | { readonly is: "gone" }

/** Changes columns if they still have the values that the person saw. */
export async function changeRow<Name extends TableName>(
  table: Name,
  id: string,
  change: { readonly updates: Partial<Row<Name>>; readonly seen: Partial<Row<Name>> },
): Promise<Changed<Name>> {
  const params = { table, id }
  const was = findRow(table, id)
  try {
    const body = { updates: { ...change.updates }, expect: { ...change.seen } }
    const row = (await client.changeRow({ params, body })) as Row<Name>
    applyEdit(table, row, was)
    return { is: "done", row }
  } catch (error) {
    if (hasCode(error, "not_found")) return { is: "gone" }
    if (!hasCode(error, "row_stale")) throw error
  }
  try {
    const newer = (await client.readRow({ params })) as Row<Name>
    applyEdit(table, newer, was)
    return { is: "stale", newer }
  } catch (error) {
    if (hasCode(error, "not_found")) return { is: "gone" }
    throw error
  }
}

/** Deletes a row with the rows that belong to it. */
export async function deleteRow(table: TableName, id: string): Promise<void> {
  try {
    await client.deleteRow({ params: { table, id } })
  } catch (error) {
    if (!hasCode(error, "not_found")) throw error // already deleted
  }
  await readWithoutFeed()
}
