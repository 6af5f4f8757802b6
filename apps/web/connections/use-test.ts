import { useCallback, useRef, useState } from "react"
import { attempt } from "../components/explain.ts"
import { t } from "../strings/strings.ts"
import type { client } from "../state/client.ts"

type ConnectionTest = Awaited<ReturnType<typeof client.testConnection>>

interface Found {
  readonly ok: boolean
  readonly text: string
  readonly warnings: readonly string[]
}

/** Tests whether a database responds and holds the last result. Call `forget` when the connection it is about changed. */
export function useTest(look: () => Promise<ConnectionTest>) {
  const [found, setFound] = useState<Found>()
  const [isTesting, setTrying] = useState(false)
  /** The number of the latest test: the result of an earlier one is about fields that have changed since, and is dropped. */
  const current = useRef(0)
  const runTest = useCallback(async () => {
    const mine = ++current.current
    setTrying(true)
    setFound(undefined)
    await attempt(async () => {
      const { ok, problem, ms, warnings } = await look()
      if (mine !== current.current) return
      setFound({
        ok,
        text: ok ? t("connections.connected", { ms }) : (problem ?? t("connections.noResponse")),
        warnings,
      })
    })
    setTrying(false)
  }, [look])
  const forget = () => {
    current.current++
    setFound(undefined)
  }
  return { found, isTesting, runTest, forget }
}
