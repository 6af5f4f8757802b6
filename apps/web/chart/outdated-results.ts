import { createContext, useContext } from "react"
import type { Item } from "../../../client/index.ts"
import { Store, useStore } from "../state/store.ts"

/** Results whose SQL has returned other rows since, in the conversation that is shown. */
export const OutdatedResults = createContext<ReadonlySet<string>>(new Set())

/** Only the same SQL with other rows makes a result outdated, not another question. */
export function outdatedResults(items: readonly Item[]): ReadonlySet<string> {
  const outdated = new Set<string>()
  const newest = new Map<string, { readonly hash: string; readonly ids: string[] }>()
  for (const item of items) {
    const result = item.type === "call" ? resultOf(item.data) : undefined
    if (!result) continue
    const { id, hash, question } = result
    const before = newest.get(question)
    if (before?.hash === hash) before.ids.push(id)
    else {
      for (const old of before?.ids ?? []) if (old !== id) outdated.add(old)
      newest.set(question, { hash, ids: [id] })
    }
  }
  return outdated
}

/** Results on screen whose SQL the person has edited and run again. */
export const changedResults = new Store<ReadonlySet<string>>(new Set())

/** Records that the person ran other SQL for a result, or restored the original. */
export function markChanged(resultId: string, isChanged: boolean): void {
  const changed = new Set(changedResults.value)
  if (isChanged) changed.add(resultId)
  else changed.delete(resultId)
  changedResults.set(changed)
}

/** Whether charts of this result no longer match its SQL. */
export function useIsOutdated(resultId: string): boolean {
  const outdated = useContext(OutdatedResults)
  return useStore(changedResults).has(resultId) || outdated.has(resultId)
}

function resultOf(data: unknown) {
  const { resultId, resultHash, sql, connectionId } = (data ?? {}) as Readonly<Record<string, unknown>>
  if (typeof resultId !== "string" || typeof resultHash !== "string" || typeof sql !== "string") return undefined
  return { id: resultId, hash: resultHash, question: JSON.stringify([connectionId, sql]) }
}
