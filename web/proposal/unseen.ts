import { createContext, use, useCallback, useMemo, useState } from "react"

interface Unseen {
  readonly add: (id: string) => void
  readonly remove: (id: string) => void
  /** The person has asked for everything at once. */
  readonly showAll: boolean
}

export const UnseenContext = createContext<Unseen | undefined>(undefined)

/** The card that counts what is cut; undefined where nobody has to agree to it. */
export const useUnseen = (): Unseen | undefined => use(UnseenContext)

/** Counts what is cut in a card. */
export function useUnseenCount(): {
  readonly unseen: Unseen
  readonly count: number
  readonly showEverything: () => void
} {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [showAll, setShowAll] = useState(false)
  const add = useCallback((id: string) => setIds((before) => new Set(before).add(id)), [])
  const remove = useCallback((id: string) => {
    setIds((before) => {
      const after = new Set(before)
      after.delete(id)
      return after
    })
  }, [])
  const unseen = useMemo(() => ({ add, remove, showAll }), [add, remove, showAll])
  return { unseen, count: ids.size, showEverything: () => setShowAll(true) }
}
