import type { JournalEvent } from "./events.ts"

/** What anything costs that is no text: about what a number takes. */
const SMALL = 8

const measured = new WeakMap<readonly JournalEvent[], number>()

/**
 * About how long rows are that have just come, without writing them out: one long text costs no more to measure than a
 * short one. Measured once, however many watchers are told.
 */
export function rowsLength(rows: readonly JournalEvent[]): number {
  const known = measured.get(rows)
  if (known !== undefined) return known
  const length = valueLength(rows)
  measured.set(rows, length)
  return length
}

/** Without recursion: nobody has said how deep what a tool answers may be. */
function valueLength(whole: unknown): number {
  let length = 0
  const left = [whole]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === "string") length += value.length
    else if (typeof value !== "object" || value === null) length += SMALL
    else if (Array.isArray(value)) for (const inner of value) left.push(inner)
    else
      for (const [name, inner] of Object.entries(value)) {
        length += name.length
        left.push(inner)
      }
  }
  return length
}
