import { useCallback, useRef, useState } from "react"
import { hasCode } from "../../src/client/index.ts"
import { explain } from "../parts/explain.ts"
import { client } from "../state/client.ts"
import { noticeSignOut } from "../state/identity.ts"
import { type ShownTable, toTable } from "./table-view.tsx"

interface Whole {
  readonly table: ShownTable
  /** Fetches what is not here, once; harmless to repeat. */
  readonly want: () => void
  readonly isLoading: boolean
  readonly problem: string | undefined
}

/** A table of which the first rows are here and the server keeps the rest. */
export function useWholeResult(given: ShownTable): Whole {
  const [whole, setWhole] = useState<ShownTable>()
  const [isLoading, setLoading] = useState(false)
  const [problem, setProblem] = useState<string>()
  const asked = useRef(false)
  const { source, rows, rowCount } = given
  const want = useCallback(() => {
    if (asked.current || !source || rows.length >= rowCount) return
    asked.current = true
    setLoading(true)
    const params = { id: source.connectionId, resultId: source.resultId }
    client
      .readResult({ params })
      .then((found) => {
        setWhole(toTable({ ...found, rowCount: found.rows.length, resultId: source.resultId }))
        setProblem(undefined)
      })
      .catch((error: unknown) => {
        noticeSignOut(error)
        const isGone = hasCode(error, "not_found")
        // What is gone stays gone; anything else may be tried again.
        asked.current = isGone
        setProblem(isGone ? "The other rows are not kept any more: run the SQL again to see them." : explain(error))
      })
      .finally(() => setLoading(false))
  }, [source, rows, rowCount])
  return { table: whole ?? given, want, isLoading, problem }
}
