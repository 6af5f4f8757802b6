import { createContext, use, useCallback, useEffect, useMemo, useState } from "react"
import type { Proposal } from "../../src/protocol/index.ts"
import { Store } from "../state/store.ts"
import { isLong } from "./is-long.ts"

interface Unseen {
  readonly add: (id: string) => void
  readonly remove: (id: string) => void
  /** The person has asked for everything at once. */
  readonly showAll: boolean
}

export const UnseenContext = createContext<Unseen | undefined>(undefined)

/** The card that counts what is cut; undefined where nobody has to agree to it. */
export const useUnseen = (): Unseen | undefined => use(UnseenContext)

/** Proposals with long texts of which all has been in view, by id. */
export const seenProposals = new Store<ReadonlySet<string>>(new Set())

/** Whether there is nothing about it that the person could not have read. */
export const isSeen = (proposal: Proposal, seen: ReadonlySet<string>): boolean =>
  seen.has(proposal.id) || !isLong({ ...proposal.diff, given: proposal.arguments })

interface UnseenCount {
  readonly unseen: Unseen
  readonly count: number
  readonly showEverything: () => void
}

/** Counts what is cut in a card. */
export function useUnseenCount(proposal: Proposal): UnseenCount {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [hasCounted, setCounted] = useState(false)
  const [showAll, setShowAll] = useState(() => seenProposals.value.has(proposal.id))
  const add = useCallback((id: string) => {
    setCounted(true)
    setIds((before) => new Set(before).add(id))
  }, [])
  const remove = useCallback((id: string) => {
    setIds((before) => {
      const after = new Set(before)
      after.delete(id)
      return after
    })
  }, [])
  const unseen = useMemo(() => ({ add, remove, showAll }), [add, remove, showAll])
  useEffect(() => {
    if (hasCounted && ids.size === 0) seenProposals.set(new Set(seenProposals.value).add(proposal.id))
  }, [hasCounted, ids, proposal.id])
  // In the first picture nobody has counted yet.
  const count = !hasCounted && !isSeen(proposal, seenProposals.value) ? 1 : ids.size
  return { unseen, count, showEverything: () => setShowAll(true) }
}
