import type { RowsBlock } from "./blocks.ts"

/** A row as it was and as it would be; one that is new was nothing, one that goes becomes nothing. */
export interface ShownRow {
  readonly was?: readonly unknown[]
  readonly now?: readonly unknown[]
}

/** Old and new rows beside each other, where it is known which became which; else one below the other. */
export function pairRows({ before, after, isPaired }: Pick<RowsBlock, "before" | "after" | "isPaired">): ShownRow[] {
  const [olds, news] = [before ?? [], after ?? []]
  if (after !== null && before !== null && (isPaired || olds.length === news.length))
    return news.map((now, index) => {
      const was = olds[index]
      return was ? { was, now } : { now }
    })
  return [...olds.map((was) => ({ was })), ...news.map((now) => ({ now }))]
}
