import type { Page } from "../../protocol/answers.ts"
import { failure } from "../../protocol/errors.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { Engine } from "./engine.ts"

interface Aged {
  readonly id: string
  readonly created_at: number
}

interface Query<Row, Item> {
  /** Ends in a condition, to which more are added. `x` is the table that is paged. */
  readonly select: string
  readonly values: readonly unknown[]
  toItem(row: Row): Item
}

/** One page of rows that have an age and an id. */
export async function newestFirst<Row extends Aged, Item>(
  engine: Engine,
  { cursor, limit }: PageQuery,
  { select, values, toItem }: Query<Row, Item>,
): Promise<Page<Item>> {
  const [time, last] = cursor === undefined ? [Number.MAX_SAFE_INTEGER, ""] : parseTimeCursor(cursor)
  const sql = `${select} AND (x.created_at < ? OR (x.created_at = ? AND x.id < ?))
    ORDER BY x.created_at DESC, x.id DESC LIMIT ?`
  const rows = await engine.query<Row>(sql, [...values, time, time, last, limit + 1])
  const items = rows.slice(0, limit)
  const end = items.at(-1)
  return { items: items.map(toItem), nextCursor: rows.length > limit && end ? `${end.created_at}.${end.id}` : null }
}

/** A place in a list ordered by time and then id, as `<time>.<id>`. */
export function parseTimeCursor(cursor: string): [time: number, id: string] {
  const [, time, id] = /^(\d{1,15})\.(\w{1,64})$/.exec(cursor) ?? []
  if (!time || !id) throw badCursor(cursor)
  return [Number(time), id]
}

export function badCursor(cursor: string) {
  return failure("bad_request", { problem: `cursor: "${cursor.slice(0, 50)}" is none; send the nextCursor of a page.` })
}
