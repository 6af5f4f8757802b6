import { useEffect, useRef } from "react"
import { mayPass, onPageReturn } from "../../src/client/index.ts"
import { client } from "./client.ts"

const FIRST_MS = 2000
const LONGEST_MS = 30_000

/**
 * Calls back once, when the server may be there again: the line is up, the network is back, somebody looks at the page
 * again, or some time has passed, longer with each try. The returned function ends the wait.
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

/** Tries again by itself what has failed because nobody answered; what was refused it leaves alone. True while it tries. */
export function useTryAgain(problem: unknown, tryAgain: () => unknown): boolean {
  const tries = useRef(0)
  const latest = useRef(tryAgain)
  useEffect(() => {
    latest.current = tryAgain
  })
  useEffect(() => {
    if (mayPass(problem)) return whenBack(tries.current++, () => void latest.current())
    tries.current = 0
    return undefined
  }, [problem])
  return mayPass(problem)
}
