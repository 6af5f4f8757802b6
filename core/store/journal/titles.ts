import { setImmediate as nextTurn } from "node:timers/promises"
import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

/** Titles that are read at once, so that other requests are not delayed, and the maximum of one search. */
const AT_ONCE = 2000
const MAX_TITLES = 20_000

interface TitleSearch {
  readonly text: string
  /** Only conversations that were created before this one. */
  readonly before: number
  readonly limit: number
}

interface Found {
  readonly keys: readonly number[]
  /** The start of the next page, if there may be more. */
  readonly next: number | null
}

/**
 * The conversations of a person whose titles contain this text, newest first. Titles are compared one by one: every
 * turn would have to maintain an index, and even many titles take less than a tenth of a second. In JavaScript, because
 * SQLite ignores the case of ASCII letters only.
 */
export async function findTitles(engine: Engine, user: UserId, { text, before, limit }: TitleSearch): Promise<Found> {
  const sql = `SELECT c.key, c.title FROM conversation c JOIN person p ON p.key = c.person
    WHERE p.id = ? AND c.key < ? ORDER BY c.key DESC LIMIT ${AT_ONCE}`
  const wanted = toComparable(text)
  const keys: number[] = []
  let last = before
  for (let read = 0; read < MAX_TITLES; read += AT_ONCE) {
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
