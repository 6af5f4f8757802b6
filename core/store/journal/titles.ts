import { setImmediate as nextTurn } from "node:timers/promises"
import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

/** Titles that are read at once, so that nobody waits long meanwhile; and all that one question looks at. */
const AT_ONCE = 2000
const MOST = 20_000

interface Wanted {
  readonly words: string
  /** Only those that were begun before this one. */
  readonly before: number
  readonly limit: number
}

interface Found {
  readonly keys: readonly number[]
  /** Where to go on, where there may be more. */
  readonly next: number | null
}

/**
 * The conversations of a person whose titles have these words, as they stand, newest first. They are read one by one: an
 * index would have to be kept by every turn, and nobody has so many that it takes a tenth of a second. In large letters or
 * small ones, which SQLite can tell of a to z only.
 */
export async function findTitles(engine: Engine, user: UserId, { words, before, limit }: Wanted): Promise<Found> {
  const sql = `SELECT c.key, c.title FROM conversation c JOIN person p ON p.key = c.person
    WHERE p.id = ? AND c.key < ? ORDER BY c.key DESC LIMIT ${AT_ONCE}`
  const wanted = toComparable(words)
  const keys: number[] = []
  let last = before
  for (let looked = 0; looked < MOST; looked += AT_ONCE) {
    const rows = await engine.query<{ key: number; title: string | null }>(sql, [user, last])
    for (const { key, title } of rows) {
      last = key
      if (title === null || !toComparable(title).includes(wanted)) continue
      if (keys.push(key) === limit) return { keys, next: last }
    }
    if (rows.length < AT_ONCE) return { keys, next: null }
    await nextTurn()
  }
  return { keys, next: last }
}

const toComparable = (text: string): string => text.normalize("NFC").toLowerCase()
