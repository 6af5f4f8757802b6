import { useCallback, useEffect, useRef, useState } from "react"
import { hasCode } from "../../src/client/index.ts"
import { explain } from "../parts/explain.ts"
import { client } from "../state/client.ts"
import { noticeSignOut } from "../state/identity.ts"
import { type ShownTable, toTable } from "./shown-table.ts"

interface Whole {
  readonly table: ShownTable
  /** Fetches what is not here, once; harmless to repeat. */
  readonly want: () => void
  readonly isLoading: boolean
  readonly problem: string | undefined
}

/** A table of which the first rows are here and the server keeps the rest. */
export function useWholeResult(given: ShownTable): Whole {
  const [whole, setWhole] = useState<{ readonly of: ShownTable; readonly table: ShownTable | undefined }>()
  const [isLoading, setLoading] = useState(false)
  const [problem, setProblem] = useState<string>()
  const asked = useRef<ShownTable>(undefined)
  // Another table in its place has rows and troubles of its own.
  useEffect(() => setProblem(undefined), [given])
  const want = useCallback(() => {
    const { source, rows, rowCount } = given
    if (asked.current === given || !source || rows.length >= rowCount) return
    asked.current = given
    setLoading(true)
    const params = { id: source.connectionId, resultId: source.resultId }
    client
      .readResult({ params })
      .then((found) => {
        setWhole({ of: given, table: toTable({ ...found, ...source, rowCount: found.rows.length }) })
      })
      .catch((error: unknown) => {
        noticeSignOut(error)
        const isGone = hasCode(error, "not_found")
        // What is gone stays gone; anything else may be tried again.
        if (!isGone) asked.current = undefined
        setProblem(isGone ? "The other rows are not kept any more: run the SQL again to see them." : explain(error))
      })
      .finally(() => setLoading(false))
  }, [given])
  return { table: (whole?.of === given ? whole.table : undefined) ?? given, want, isLoading, problem }
}
