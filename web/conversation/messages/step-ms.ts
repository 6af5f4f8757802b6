import type { WorkItem } from "./to-rows.ts"

/**
 * How long a stage took. One that has measured itself says so; a stage is recorded when it is over, so of any other it is
 * the time since what was recorded before it. Not known after a call, which does not say when it ended.
 */
export function stepMs(items: readonly WorkItem[], index: number, since: string | undefined): number | undefined {
  const item = items[index]
  if (item?.type !== "step") return undefined
  const { detail } = item
  const own = typeof detail === "object" && detail !== null ? (detail as { ms?: unknown }).ms : undefined
  if (typeof own === "number") return own
  const before = items[index - 1]
  const begun = before === undefined ? since : before.type === "step" ? before.at : undefined
  const ms = begun === undefined ? Number.NaN : Date.parse(item.at) - Date.parse(begun)
  return ms >= 0 ? ms : undefined
}
