import { useCallback, useRef, useState } from "react"
import { attempt } from "../parts/explain.ts"
import type { client } from "../state/client.ts"

type ConnectionTest = Awaited<ReturnType<typeof client.testConnection>>

interface Found {
  readonly ok: boolean
  readonly says: string
  readonly warnings: readonly string[]
}

/** A look at whether a database answers, and what came of the last one; `forget` where it is about something else by now. */
export function useTest(look: () => Promise<ConnectionTest>) {
  const [found, setFound] = useState<Found>()
  const [isTrying, setTrying] = useState(false)
  /** Which look the last answer has to be of: what was asked before something else was typed is about that no longer. */
  const current = useRef(0)
  const tryIt = useCallback(async () => {
    const mine = ++current.current
    setTrying(true)
    setFound(undefined)
    await attempt(async () => {
      const { ok, problem, ms, warnings } = await look()
      if (mine !== current.current) return
      setFound({ ok, says: ok ? `It answers, in ${ms} ms.` : (problem ?? "It does not answer."), warnings })
    })
    setTrying(false)
  }, [look])
  const forget = () => {
    current.current++
    setFound(undefined)
  }
  return { found, isTrying, tryIt, forget }
}
