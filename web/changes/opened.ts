import { createContext, use, useCallback } from "react"
import { Store, useStore } from "../state/store.ts"

/** What somebody has asked to see all of: a card's id for everything about it, or its id and the key of one part. */
export const opened = new Store<ReadonlySet<string>>(new Set())

/** The proposal whose card is being drawn; undefined where nobody has to agree to anything. */
export const CardContext = createContext<string | undefined>(undefined)

/** Whether a part is shown whole, and showing it. */
export function useOpened(key: string): readonly [isOpened: boolean, open: () => void] {
  const id = use(CardContext) ?? "elsewhere"
  const set = useStore(opened)
  const isOpened = set.has(id) || set.has(`${id} ${key}`)
  return [isOpened, useCallback(() => showWhole([`${id} ${key}`]), [id, key])]
}

export const showWhole = (names: readonly string[]) => opened.set(new Set([...opened.value, ...names]))
