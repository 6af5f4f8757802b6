import { createContext, use, useCallback, useMemo } from "react"
import type { Proposal } from "../../src/protocol/index.ts"
import { Store, useStore } from "../state/store.ts"
import { cutKeys } from "./sent.ts"

/** What somebody has asked to see all of: a proposal's id for everything about it, or its id and the key of one part. */
const opened = new Store<ReadonlySet<string>>(new Set())

/** The proposal whose card is being drawn; undefined where nobody has to agree to anything. */
export const CardContext = createContext<string | undefined>(undefined)

/** Whether a part is shown whole, and showing it. */
export function useOpened(key: string): readonly [isOpened: boolean, open: () => void] {
  const id = use(CardContext) ?? "elsewhere"
  const set = useStore(opened)
  const isOpened = set.has(id) || set.has(`${id} ${key}`)
  return [isOpened, useCallback(() => add([`${id} ${key}`]), [id, key])]
}

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
  return [count, () => add(ids)]
}

const add = (names: readonly string[]) => opened.set(new Set([...opened.value, ...names]))
