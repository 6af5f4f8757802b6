import { useMemo } from "react"
import type { Proposal } from "../../src/protocol/index.ts"
import { opened, showWhole } from "../changes/opened.ts"
import { useStore } from "../state/store.ts"
import { cutKeys } from "./sent.ts"

/** How many parts of proposals are cut that nobody has asked to see, and the one act that shows them all. */
export function useUnseen(proposals: readonly Proposal[]): readonly [count: number, showEverything: () => void] {
  const set = useStore(opened)
  const ids = proposals.map(({ id }) => id as string)
  const cut = useMemo(
    () => proposals.map((proposal) => ({ id: proposal.id as string, keys: cutKeys(proposal) })),
    // A proposal never changes what it shows.
    [ids.join()],
  )
  const count = cut.reduce((sum, { id, keys }) => {
    return set.has(id) ? sum : sum + keys.filter((key) => !set.has(`${id} ${key}`)).length
  }, 0)
  return [count, () => showWhole(ids)]
}
