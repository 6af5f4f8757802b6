import { type ReactNode, useCallback, useEffect, useRef, useState } from "react"
import { Trouble } from "./trouble.tsx"
import { noticeSignOut } from "../state/identity.ts"

interface Loaded<Value> {
  readonly value: Value | undefined
  readonly reload: () => Promise<void>
  /** Why it is not there, and once more; null where it is. */
  readonly trouble: ReactNode
}

/** Something that is read when it is shown, and again when it was changed. */
export function useLoaded<Value>(load: () => Promise<Value>): Loaded<Value> {
  const [value, setValue] = useState<Value>()
  const [problem, setProblem] = useState<unknown>()
  const latest = useRef(load)
  useEffect(() => {
    latest.current = load
  })
  const reload = useCallback(async () => {
    try {
      setValue(await latest.current())
      setProblem(undefined)
    } catch (error) {
      noticeSignOut(error)
      setProblem(error)
    }
  }, [])
  useEffect(() => void reload(), [reload])
  const trouble = problem === undefined ? null : <Trouble problem={problem} onRetry={reload} />
  return { value, reload, trouble }
}
