import { useEffect, useState } from "react"
import type { WorkspaceRows } from "../../../../client/index.ts"
import type { TableName } from "../../../../core/protocol/index.ts"
import { attempt } from "../../components/explain.ts"
import { client } from "../../state/client.ts"

/** How long typing has to pause before a search is sent. */
const PAUSE_MS = 300

/** Whether long texts of the row are cut, as they are in lists. */
export const isShortened = (row: object): boolean => "truncated" in row

/** The row with its texts in full; undefined until they are loaded. An older version stays while a newer one is read. */
export function useFullRow<Name extends TableName>(
  table: Name,
  row: WorkspaceRows[Name],
): WorkspaceRows[Name] | undefined {
  const [whole, setWhole] = useState<WorkspaceRows[Name]>()
  useEffect(() => {
    if (!isShortened(row)) return
    let isCurrent = true
    void attempt(async () => {
      const found = await client.readRow({ params: { table, id: row.id } })
      if (isCurrent) setWhole(found as unknown as WorkspaceRows[Name])
    })
    return () => {
      isCurrent = false
    }
  }, [table, row])
  return isShortened(row) ? (whole?.id === row.id ? whole : undefined) : row
}

/**
 * The ids of the rows that contain these words, searched on the server; undefined if the page has all texts and can search
 * itself. Returns the first matches while the search continues.
 */
export function useServerSearch(
  table: TableName,
  words: string,
  rows: readonly object[],
): ReadonlySet<string> | undefined {
  const [found, setFound] = useState<{ readonly words: string; readonly ids: ReadonlySet<string> }>()
  const search = words.trim()
  const isNeeded = search !== "" && rows.some(isShortened)
  useEffect(() => {
    if (!isNeeded) return
    const stop = new AbortController()
    const look = async () => {
      const ids = new Set<string>()
      const archived = table === "projects" ? { includeArchived: "true" as const } : {}
      for (let cursor: string | null | undefined; cursor !== null && !stop.signal.aborted;) {
        const query = { search, ...archived, ...(cursor === undefined ? {} : { cursor }) }
        const page = await client.listRows({ params: { table }, query, signal: stop.signal })
        for (const { id } of page.items) ids.add(id)
        setFound({ words: search, ids: new Set(ids) })
        cursor = page.nextCursor
      }
    }
    const timer = setTimeout(() => {
      const unlessStopped = (error: unknown) => {
        if (!stop.signal.aborted) throw error
      }
      void attempt(() => look().catch(unlessStopped))
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [table, search, isNeeded])
  return isNeeded && found?.words === search ? found.ids : undefined
}
