import { hasCode } from "../../src/client/index.ts"
import type { RowCounts } from "../../src/protocol/index.ts"
import { count } from "../parts/words.ts"
import { client } from "../state/client.ts"
import { toast } from "../state/toasts.ts"
import { readWithoutFeed } from "../state/workspace.ts"
import { zoneName } from "./due.ts"

/** A workspace to try things on, and out with it again. */
export async function loadSample(): Promise<void> {
  try {
    const added = await client.loadSample({ query: { timeZone: zoneName() } })
    toast(`The sample is in: ${count(totalOf(added), "row")}.`)
  } catch (error) {
    if (!hasCode(error, "sample_loaded")) throw error
    toast("The sample is in your workspace already.")
  }
  await readWithoutFeed()
}

export async function removeSample(): Promise<void> {
  const { removed, left } = await client.removeSample()
  const total = totalOf(removed)
  const stay = left.length === 0 ? "" : ` ${count(left.length, "row")} stay, because you changed or use them.`
  toast(total + left.length === 0 ? "The sample is not in your workspace." : `${count(total, "row")} taken out.${stay}`)
  await readWithoutFeed()
}

/** Adds a file that was exported before. */
export async function importFile(file: File): Promise<void> {
  let body: object
  try {
    body = JSON.parse(await file.text()) as object
  } catch {
    return toast("This file is not JSON. Choose one that was exported from a workspace.", "bad")
  }
  const added = await client.importWorkspace({ body })
  toast(`Imported ${count(totalOf(added), "row")}.`)
  await readWithoutFeed()
}

const totalOf = (counts: RowCounts): number => Object.values(counts).reduce((sum, number) => sum + number, 0)
