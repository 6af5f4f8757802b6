import { useCallback, useState } from "react"
import { attempt } from "../parts/explain.ts"
import type { client } from "../state/client.ts"

type ConnectionTest = Awaited<ReturnType<typeof client.testConnection>>

interface Found {
  readonly ok: boolean
  readonly says: string
}

/** A look at whether a database answers, and what came of the last one; `forget` where it is about something else by now. */
export function useTest(look: () => Promise<ConnectionTest>) {
  const [found, setFound] = useState<Found>()
  const [isTrying, setTrying] = useState(false)
  const tryIt = useCallback(async () => {
    setTrying(true)
    setFound(undefined)
    await attempt(async () => {
      const { ok, problem, ms } = await look()
      setFound({ ok, says: ok ? `It answers, in ${ms} ms.` : (problem ?? "It does not answer.") })
    })
    setTrying(false)
  }, [look])
  const forget = () => setFound(undefined)
  return { found, isTrying, tryIt, forget }
}
