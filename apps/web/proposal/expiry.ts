import { useEffect, useState } from "react"
import type { Proposal } from "../../../core/protocol/index.ts"
import { attempt } from "../components/explain.ts"
import { client } from "../state/client.ts"
import { Store, useStore } from "../state/store.ts"

/** Whether proposals have expired, as reported by the server: the clock of this machine may be wrong. */
export const serverVerdicts = new Store<ReadonlyMap<string, "expired" | "open">>(new Map())

export function recordVerdict(id: string, says: "expired" | "open"): void {
  serverVerdicts.set(new Map(serverVerdicts.value).set(id, says))
}

/** Returns the proposals that have expired. The server sends no event when a proposal expires, so a timer draws them again. */
export function useExpired(proposals: readonly Proposal[]): ReadonlySet<string> {
  const said = useStore(serverVerdicts)
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

/** A timer with a longer delay fires at once. */
const MAX_TIMER = 2 ** 31 - 1

/** Proposals dismissed on this page. The server stores `seenAt` too, but does not send it again to an open page. */
const dismissed = new Store<ReadonlySet<string>>(new Set())

/** Returns whether an expired proposal was dismissed, on this or another device. */
export function useDismissed(): (proposal: Pick<Proposal, "id" | "seenAt">) => boolean {
  const ids = useStore(dismissed)
  return ({ id, seenAt }) => seenAt !== undefined || ids.has(id)
}

/** Takes expired proposals out of the inbox, on all devices; their conversation shows one line of each. */
export async function dismiss(proposals: readonly Pick<Proposal, "id">[]): Promise<void> {
  for (const { id } of proposals) {
    dismissed.set(new Set(dismissed.value).add(id))
    if (await attempt(() => client.seeProposal({ params: { id } }))) continue
    const others = new Set(dismissed.value)
    others.delete(id)
    dismissed.set(others)
  }
}
