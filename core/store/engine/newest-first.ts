import type { Page } from "../../protocol/answers.ts"
import { failure } from "../../protocol/errors.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { Engine } from "./engine.ts"
import { bytesOf, fittingRows } from "./page-bytes.ts"

interface DatedRow {
  readonly id: string
  readonly created_at: number
}

interface Query<Row, Item> {
  /** Ends in a condition, to which more are added. `x` is the table that is paged. */
  readonly select: string
  readonly values: readonly unknown[]
  toItem(row: Row): Item
  /** Columns that may be long: their sizes limit the page. */
  readonly long?: readonly string[]
}

/** One page of rows, newest first. */
export async function newestFirst<Row extends DatedRow, Item>(
  engine: Engine,
  { cursor, limit }: PageQuery,
  { select, values, toItem, long }: Query<Row, Item>,
): Promise<Page<Item>> {
  const [time, last] = cursor === undefined ? [Number.MAX_SAFE_INTEGER, ""] : parseTimeCursor(cursor)
  const sql = `${select} AND (x.created_at, x.id) < (?, ?)
    ORDER BY x.created_at DESC, x.id DESC LIMIT ?`
  const place = [...values, time, last]
  const most = long ? await countFitting(engine, { sql, place, long, limit }) : limit
  const rows = await engine.query<Row>(sql, [...place, most + 1])
  const items = rows.slice(0, most)
  const end = items.at(-1)
  return { items: items.map(toItem), nextCursor: rows.length > most && end ? `${end.created_at}.${end.id}` : null }
}

interface SizedPage {
  readonly sql: string
  readonly place: readonly unknown[]
  readonly long: readonly string[]
  readonly limit: number
}

async function countFitting(engine: Engine, { sql: page, place, long, limit }: SizedPage): Promise<number> {
  const sql = page.replace(/^SELECT .*?(?= FROM )/s, `SELECT ${bytesOf(engine, long)} AS bytes`)
  return fittingRows(await engine.query<{ bytes: number }>(sql, [...place, limit])).length
}

/** A position in a list that is ordered by time and then id, as `<time>.<id>`. */
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

/** A position in a list that is ordered by an integer. */
export function toNumber(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw badCursor(cursor)
  return Number(cursor)
}
