import { failure } from "../protocol/errors.ts"
import { MAX_PAGE_BYTES } from "../protocol/requests.ts"
import type { TableName } from "../protocol/workspace-tables.ts"
import { conditionsOf, isDue, mentions, orderOf } from "./find-rows.ts"
import { type Filters, type KnownTable, readTable, type Row, textColumns } from "./known-tables.ts"
import {
  fromStored,
  inPortions,
  type Layout,
  type Portion,
  selectBytes,
  selectCount,
  selectCut,
  selectHeads,
  selectKeys,
} from "./layout.ts"
import { SortedRuns } from "./order-rows.ts"
import { readFilters } from "./read-input.ts"
import { askTable, type Steps } from "./steps.ts"

/** Characters of a text that a list shows; the row itself has all of it. */
export const LISTED_CHARACTERS = 2000
/** The bytes of text that one page reads at most, unless a single row is larger: a search may read much and find little. */
const MAX_READ_BYTES = 4 * 1024 * 1024
const MAX_HEADS = 500
/** Rows that are ordered in memory. */
export const MAX_ORDERED = 20_000
/** Rows whose keys are read and sorted before other requests have a turn. */
const MAX_KEYS = 1000
/** Rows that are counted in one query. */
const MAX_COUNTED = 50_000
/** How many characters of a text column rows are ordered by. */
const KEY_CHARACTERS = 200
/** A code point of UTF-8. */
const MOST_BYTES = 4

/** Which page of a table to read: the number of rows, the cursor, and the columns. */
export interface PageOptions {
  readonly limit: number
  readonly cursor?: string | undefined
  /** Only these columns; `id` is always among them. */
  readonly columns?: readonly string[] | undefined
  /** Whole texts instead of how they begin. */
  readonly isWhole?: boolean
}

export interface FoundPage {
  readonly rows: readonly Row[]
  /** By the id of a row: how many bytes each of its shortened texts has in full. */
  readonly truncated: ReadonlyMap<string, Readonly<Record<string, number>>>
  /** The cursor of the next page; null on the last one. An empty page of a search may have one. */
  readonly next: string | null
}

/** A row before its texts are read. */
interface Head {
  readonly row: Row
  /** None of a row that does not fit the filters, because its texts are not read. */
  readonly bytes: number
  readonly fits: boolean
  readonly cursor: string
}

/** The rows behind one, as many as are asked for. */
type Source = (last: Head | undefined, limit: number) => Steps<Head[]>

/** As many of the rows that filters ask for as fit into a page, read with a bound on the bytes. */
export function* findPage(layout: Layout, name: string, given: unknown, options: PageOptions): Steps<FoundPage> {
  const table = readTable(name)
  const filters = readFilters(table, given)
  const source = yield* openSource(layout, { table, filters }, options.cursor)
  const search = filters.search?.trim().toLowerCase()
  const isFitting = isDue(table, filters)
  const isSelective = conditionsOf(table, filters).length > 0
  const rows: Row[] = []
  const truncated = new Map<string, Readonly<Record<string, number>>>()
  const page = (next: string | null): FoundPage => ({ rows, truncated, next })
  let [bytes, read] = [0, 0]
  for (let last: Head | undefined; ;) {
    const isSparse = search || (last && isSelective)
    const heads = yield* source(last, isSparse ? MAX_HEADS : Math.min(MAX_HEADS, options.limit - rows.length + 1))
    if (heads.length === 0) return page(null)
    const room = { read: MAX_READ_BYTES - read, page: search ? Infinity : MAX_PAGE_BYTES - bytes }
    const some = withinRoom(heads, room, mostShown(table, options))
    if (some.length === 0 && last) return page(last.cursor)
    const examined = some.length === 0 ? heads.slice(0, 1) : some
    read += examined.reduce((sum, head) => sum + head.bytes, 0)
    const ids = examined.filter(({ row, fits }) => fits && isFitting(row)).map(({ row }) => String(row.id))
    const found = search ? yield* mentioning(layout, { table, ids }, search) : ids
    const shown = yield* readCut(layout, { table, ids: found }, options)
    for (const head of examined) {
      const one = shown.get(String(head.row.id))
      if (one) {
        const size = Buffer.byteLength(JSON.stringify(one.row)) + 1
        const isFull = rows.length === options.limit || (rows.length > 0 && bytes + size > MAX_PAGE_BYTES)
        if (isFull && last) return page(last.cursor)
        bytes += size
        rows.push(one.row)
        if (one.truncated) truncated.set(String(one.row.id), one.truncated)
      }
      last = head
    }
  }
}

interface Asked {
  readonly table: KnownTable
  readonly filters: Filters
}

function* openSource(layout: Layout, asked: Asked, cursor: string | undefined): Steps<Source> {
  const { orderBy } = asked.filters
  if (orderBy && orderBy !== "createdAt") return yield* inOrder(layout, asked, cursor)
  const start = cursor === undefined ? undefined : readCursor(/^(\d{1,16})\.(.{1,200})$/s, cursor)
  return function* (last, limit) {
    const [, createdAt, id] = last ? [null, last.row.createdAt, last.row.id] : (start ?? [])
    const after = id === undefined ? undefined : { createdAt: Number(createdAt), id: String(id) }
    const rows = yield* askTable(
      selectHeads(layout, asked.table.name, conditionsOf(asked.table, asked.filters), { after, limit }),
    )
    return rows.map((row) => toHead(asked.table, row, `${row.createdAt}.${row.id}`))
  }
}

/** By another column than the one they are stored by: that is compared here, as engines disagree about the order of words. */
function* inOrder(layout: Layout, { table, filters }: Asked, cursor: string | undefined): Steps<Source> {
  const sorted = yield* readKeys(layout, { table, filters })
  const ids = sorted.map(({ id }) => String(id))
  const places = new Map(ids.map((id, place) => [id, place]))
  const start = cursor === undefined ? 0 : placeBehind(cursor, places)
  return function* (last, limit) {
    const from = last ? (places.get(String(last.row.id)) ?? 0) + 1 : start
    const some = ids.slice(from, from + limit)
    const rows = new Map<string, Row>()
    for (const portion of inPortions(some))
      for (const row of yield* askTable(selectBytes(layout, table.name, portion))) rows.set(String(row.id), row)
    // One that was deleted since the keys were read is passed over.
    return some.flatMap((id, at) => {
      const row = rows.get(id)
      return row ? [toHead(table, row, `o${from + at + 1}/${ids.length}.${id}`)] : []
    })
  }
}

function* readKeys(layout: Layout, { table, filters }: Asked): Steps<readonly Row[]> {
  const wanted = { column: String(filters.orderBy), characters: KEY_CHARACTERS, limit: MAX_KEYS }
  const isFitting = isDue(table, filters)
  const sorted = new SortedRuns(orderOf(table, filters))
  for (let after: Portion["after"]; ;) {
    const keys = yield* askTable(selectKeys(layout, table.name, conditionsOf(table, filters), { ...wanted, after }))
    const found = keys.filter(({ fits }) => fits !== 0).map((row) => fromStored(table, row))
    sorted.add(found.filter(isFitting))
    if (sorted.length > MAX_ORDERED) {
      const problem = `orderBy: there are more than ${MAX_ORDERED} ${table.name}; ask for fewer with a filter, or without an order.`
      throw failure("bad_request", { problem })
    }
    const last = keys.at(-1)
    if (keys.length < MAX_KEYS || !last) return sorted.merged()
    after = { createdAt: Number(last.createdAt), id: String(last.id) }
  }
}

/**
 * Behind the row that came last. If rows came or went meanwhile, rather one that was sent before than one that never is:
 * clients know them by their ids.
 */
function placeBehind(cursor: string, places: ReadonlyMap<string, number>): number {
  const [, count, of, id] = readCursor(/^o(\d{1,9})\/(\d{1,9})\.(.{1,200})$/s, cursor)
  const place = places.get(String(id))
  const back = Math.max(0, Number(count) - Math.max(0, Number(of) - places.size))
  return place === undefined ? Math.max(0, back - 1) : Math.min(place + 1, Number(count))
}

function readCursor(pattern: RegExp, cursor: string): RegExpExecArray {
  const found = pattern.exec(cursor)
  if (found) return found
  throw failure("bad_request", { problem: "cursor: send the nextCursor of a page of the same list." })
}

function toHead(table: KnownTable, stored: Row, cursor: string): Head {
  const { bytes = 0, fits = 1, ...row } = stored
  return { row: fromStored(table, row), bytes: fits === 0 ? 0 : Number(bytes), fits: fits !== 0, cursor }
}

/** The most bytes that one row's texts take in a page. */
function mostShown(table: KnownTable, { isWhole }: PageOptions): number {
  return isWhole ? Infinity : textColumns(table).length * LISTED_CHARACTERS * MOST_BYTES
}

function withinRoom(heads: readonly Head[], room: { read: number; page: number }, most: number): Head[] {
  let { read, page } = room
  const end = heads.findIndex(({ bytes }) => (read -= bytes) < 0 || (page -= Math.min(bytes, most)) < 0)
  return heads.slice(0, end < 0 ? heads.length : end)
}

interface Few {
  readonly table: KnownTable
  readonly ids: readonly string[]
}

/** Here and not in SQL: engines disagree about which letters are alike. */
function* mentioning(layout: Layout, { table, ids }: Few, search: string): Steps<string[]> {
  const found: string[] = []
  for (const some of inPortions(ids)) {
    const rows = yield* askTable(selectCut(layout, table.name, { ids: some, columns: table.searched }))
    const fitting = new Set(rows.filter((row) => mentions(row, table.searched, search)).map(({ id }) => String(id)))
    found.push(...some.filter((id) => fitting.has(id)))
  }
  return found
}

interface Cut {
  readonly row: Row
  readonly truncated: Readonly<Record<string, number>> | undefined
}

function* readCut(
  layout: Layout,
  { table, ids }: Few,
  options: Omit<PageOptions, "limit">,
): Steps<ReadonlyMap<string, Cut>> {
  const { columns, isWhole } = options
  const strange = columns?.find((column) => !table.columns.includes(column))
  if (strange !== undefined) throw failure("bad_request", { problem: `${table.name} have no column "${strange}".` })
  const cut = new Map<string, Cut>()
  for (const some of inPortions(ids)) {
    const wanted = {
      ids: some,
      columns: columns ?? table.columns,
      ...(isWhole ? {} : { characters: LISTED_CHARACTERS }),
    }
    for (const stored of yield* askTable(selectCut(layout, table.name, wanted)))
      cut.set(String(stored.id), toCut(table, stored))
  }
  return cut
}

function toCut(table: KnownTable, stored: Row): Cut {
  const row: Record<string, string | number | null> = { ...stored }
  const long: [string, number][] = []
  for (const column of textColumns(table)) {
    const bytes = row[`#${column}`]
    delete row[`#${column}`]
    if (typeof bytes === "number" && Buffer.byteLength(String(row[column])) < bytes) long.push([column, bytes])
  }
  return { row: fromStored(table, row), truncated: long.length > 0 ? Object.fromEntries(long) : undefined }
}

/** These rows as a list has them. */
export function* findListed(
  layout: Layout,
  name: TableName,
  ids: readonly string[],
): Steps<Pick<FoundPage, "rows" | "truncated">> {
  const found = [...(yield* readCut(layout, { table: readTable(name), ids }, {}))]
  const truncated = found.flatMap(([id, cut]) => (cut.truncated ? [[id, cut.truncated] as const] : []))
  return { rows: found.map(([, { row }]) => row), truncated: new Map(truncated) }
}

/** How many rows the conditions of filters leave; undefined if the database cannot count them by itself. */
export function* countFound(layout: Layout, name: TableName, given: unknown): Steps<number | "too many" | undefined> {
  const table = readTable(name)
  const filters = readFilters(table, given)
  if (filters.search?.trim() || filters.dueDateFrom != null || filters.dueDateTo != null) return undefined
  const [found] = yield* askTable(selectCount(layout, table.name, conditionsOf(table, filters), MAX_COUNTED + 1))
  return Number(found?.examined ?? 0) > MAX_COUNTED ? "too many" : Number(found?.count ?? 0)
}
