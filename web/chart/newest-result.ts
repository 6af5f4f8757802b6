import { createContext, useContext } from "react"
import type { Item } from "../../src/client/index.ts"

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

/** Whether something drawn from a result is no longer about what was asked last: other words, or other rows for the same. */
export function useIsStale({ resultId, sql }: ResultName): boolean {
  const newest = useContext(NewestResult)
  return newest !== undefined && newest.resultId !== resultId && newest.sql !== sql
}

function nameOf(data: unknown): ResultName | undefined {
  const { resultId, sql } = (data ?? {}) as Readonly<Record<string, unknown>>
  return typeof resultId === "string" && typeof sql === "string" ? { resultId, sql } : undefined
}
