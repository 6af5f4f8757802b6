import { useEffect, useRef } from "react"
import { canRetry, onPageReturn } from "../../../client/index.ts"
import { client } from "./client.ts"

const FIRST_MS = 2000
const LONGEST_MS = 30_000

/**
 * Calls back once when the server may be reachable again: the connection is live, the network is back, the page is
 * visible again, or a growing delay has passed. The returned function cancels the wait.
 */
export function whenBack(tries: number, back: () => void): () => void {
  const leave = () => {
    clearTimeout(timer)
    leaveLine()
    leavePage()
  }
  const call = () => {
    leave()
    back()
  }
  const timer = setTimeout(call, Math.min(FIRST_MS * 2 ** Math.min(tries, 10), LONGEST_MS))
  const leaveLine = client.connection.onState(({ state }) => {
    if (state === "live") call()
  })
  const leavePage = onPageReturn(call)
  return leave
}

/** Retries what failed because the server was unreachable, but not what it refused. Returns true while it retries. */
export function useAutoRetry(problem: unknown, tryAgain: () => unknown): boolean {
  const tries = useRef(0)
  const latest = useRef(tryAgain)
  useEffect(() => {
    latest.current = tryAgain
  })
  useEffect(() => {
    if (canRetry(problem)) return whenBack(tries.current++, () => void latest.current())
    tries.current = 0
    return undefined
  }, [problem])
  return canRetry(problem)
}
