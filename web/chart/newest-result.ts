import { createContext, useContext } from "react"
import type { Item } from "../../src/client/index.ts"
import { Store, useStore } from "../state/store.ts"

/** A result that a call has brought: what tables and charts name it by. */
export interface ResultName {
  readonly resultId: string
  readonly sql: string
}

/** The newest result of the conversation that is shown. */
export const NewestResult = createContext<ResultName | undefined>(undefined)

export function newestResult(items: readonly Item[]): ResultName | undefined {
  const found = items.findLast((item) => item.type === "call" && nameOf(item.data) !== undefined)
  return found?.type === "call" ? nameOf(found.data) : undefined
}

/** Results whose SQL the person has changed and run again, where they are shown. */
export const changedResults = new Store<ReadonlySet<string>>(new Set())

/** The person has run other SQL in a result's place, or has gone back to what was there. */
export function markChanged(resultId: string, isChanged: boolean): void {
  const changed = new Set(changedResults.value)
  if (isChanged) changed.add(resultId)
  else changed.delete(resultId)
  changedResults.set(changed)
}

/** Whether something drawn from a result is no longer about what was asked last: other words, or other rows for the same. */
export function useIsStale({ resultId, sql }: ResultName): boolean {
  const newest = useContext(NewestResult)
  if (useStore(changedResults).has(resultId)) return true
  return newest !== undefined && newest.resultId !== resultId && newest.sql !== sql
}

function nameOf(data: unknown): ResultName | undefined {
  const { resultId, sql } = (data ?? {}) as Readonly<Record<string, unknown>>
  return typeof resultId === "string" && typeof sql === "string" ? { resultId, sql } : undefined
}
