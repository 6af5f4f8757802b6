import { type RefObject, useEffect, useState } from "react"
import type { Proposal } from "../../src/protocol/index.ts"
import { client } from "../state/client.ts"
import { Store, useStore } from "../state/store.ts"

/** This machine's clock may go wrong: of these the server has said whether they have expired. */
export const told = new Store<ReadonlyMap<string, "expired" | "open">>(new Map())

export function tell(id: string, says: "expired" | "open"): void {
  told.set(new Map(told.value).set(id, says))
}

/** Which of these nobody may decide any more. Nothing comes from the server when the time of one is up. */
export function useExpired(proposals: readonly Proposal[]): ReadonlySet<string> {
  const said = useStore(told)
  const [now, setNow] = useState(Date.now)
  const isExpired = ({ id, status, expiresAt }: Proposal): boolean => {
    if (status !== "pending") return status === "expired"
    const known = said.get(id)
    return known ? known === "expired" : Date.parse(expiresAt) <= now
  }
  const expired = new Set<string>(proposals.filter(isExpired).map(({ id }) => id))
  const next = Math.min(
    ...proposals.flatMap(({ id, status, expiresAt }) => {
      return status === "pending" && !expired.has(id) && !said.has(id) ? [Date.parse(expiresAt)] : []
    }),
  )
  useEffect(() => {
    if (next === Infinity) return
    const timer = setTimeout(() => setNow(Date.now()), Math.min(Math.max(0, next - Date.now()) + 50, MAX_TIMER))
    return () => clearTimeout(timer)
  }, [next, now])
  return expired
}

/** A longer timer rings at once. */
const MAX_TIMER = 2 ** 31 - 1

const ACTS = ["pointermove", "pointerdown", "keydown", "wheel"] as const
const seen = new Set<string>()

/**
 * Remembers that the person saw that it expired: it was in view while they did something. Until then their inbox keeps it,
 * also where a page was left open with nobody before it.
 */
export function useSeen({ id, seenAt }: Proposal, element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (!element.current || seenAt !== undefined || seen.has(id)) return
    let isInView = false
    const observer = new IntersectionObserver(([entry]) => (isInView = entry?.isIntersecting ?? false))
    observer.observe(element.current)
    const act = () => {
      if (!isInView || seen.has(id)) return
      seen.add(id)
      // Where it cannot be told the inbox keeps it, and it is told when it is seen again.
      client.seeProposal({ params: { id } }).catch(() => seen.delete(id))
    }
    for (const name of ACTS) window.addEventListener(name, act, { passive: true })
    return () => {
      observer.disconnect()
      for (const name of ACTS) window.removeEventListener(name, act)
    }
  }, [id, seenAt, element])
}
