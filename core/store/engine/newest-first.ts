import type { Page } from "../../protocol/answers.ts"
import { failure } from "../../protocol/errors.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { Engine } from "./engine.ts"
import { bytesOf, fittingRows } from "./page-bytes.ts"

interface Aged {
  readonly id: string
  readonly created_at: number
}

interface Query<Row, Item> {
  /** Ends in a condition, to which more are added. `x` is the table that is paged. */
  readonly select: string
  readonly values: readonly unknown[]
  toItem(row: Row): Item
  /** Columns that may be long: the page is bounded by what they hold. */
  readonly long?: readonly string[]
}

/** One page of rows that have an age and an id. */
export async function newestFirst<Row extends Aged, Item>(
  engine: Engine,
  { cursor, limit }: PageQuery,
  { select, values, toItem, long }: Query<Row, Item>,
): Promise<Page<Item>> {
  const [time, last] = cursor === undefined ? [Number.MAX_SAFE_INTEGER, ""] : parseTimeCursor(cursor)
  const behind = `${select} AND (x.created_at, x.id) < (?, ?)
    ORDER BY x.created_at DESC, x.id DESC LIMIT ?`
  const place = [...values, time, last]
  const most = long ? await fitting(engine, { behind, place, long, limit }) : limit
  const rows = await engine.query<Row>(behind, [...place, most + 1])
  const items = rows.slice(0, most)
  const end = items.at(-1)
  return { items: items.map(toItem), nextCursor: rows.length > most && end ? `${end.created_at}.${end.id}` : null }
}

interface Weighing {
  readonly behind: string
  readonly place: readonly unknown[]
  readonly long: readonly string[]
  readonly limit: number
}

async function fitting(engine: Engine, { behind, place, long, limit }: Weighing): Promise<number> {
  const sql = behind.replace(/^SELECT .*?(?= FROM )/s, `SELECT ${bytesOf(engine, long)} AS bytes`)
  return fittingRows(await engine.query<{ bytes: number }>(sql, [...place, limit])).length
}

/** A place in a list ordered by time and then id, as `<time>.<id>`. */
export function parseTimeCursor(cursor: string): [time: number, id: string] {
  const [, time, id] = /^(\d{1,15})\.(\w{1,64})$/.exec(cursor) ?? []
  if (!time || !id) throw badCursor(cursor)
  return [Number(time), id]
}

export function badCursor(cursor: string) {
  return failure("bad_request", {
    problem: `cursor: "${cursor.slice(0, 50)}" is not a valid cursor. Send the nextCursor of a page.`,
  })
}

/** A place in a list ordered by a whole number. */
export function toNumber(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw badCursor(cursor)
  return Number(cursor)
}
