import type { CallOutcome } from "../../../core/pack.ts"

/** The most rows that a device may send for one request, over all its pages. */
export const MAX_DEVICE_ROWS = 10_000
/** The most characters of these rows, because all pages are in memory together. */
const MAX_CHARACTERS = 16 * 1024 * 1024
/** Each page is a round trip. A device that fills its pages needs only a few. */
const MAX_PAGES = 100
/** The requested rows of one page. A device sends fewer if they would not fit into a frame. */
const PAGE_ROWS = 5000

/** The parameters of a request for a page. */
export interface PageCall {
  readonly limit: number
  readonly after?: string
}

/** The rows of a device, not validated yet. */
export interface DeviceRows {
  readonly rows: readonly unknown[]
  /** The total that the device reports; undefined if it reports none and rows are missing. */
  readonly total: number | undefined
}

/**
 * Reads a list page by page until there are no more, or `most` rows are read. A device that does not support pages
 * answers with all rows, whichever page is requested. Repeated rows are skipped, because pages overlap if rows change
 * in the meantime. Stops if a device reports more rows but sends no new ones.
 */
export async function readDevicePages(
  ask: (page: PageCall) => Promise<CallOutcome>,
  most = Number.POSITIVE_INFINITY,
): Promise<DeviceRows> {
  const rows: unknown[] = []
  const seen = new Set<unknown>()
  let characters = 0
  let after: string | undefined
  for (let pages = 1; ; pages++) {
    const limit = Math.min(most - rows.length, PAGE_ROWS)
    const { rows: given, next, total } = await ask({ limit, ...(after === undefined ? {} : { after }) })
    const fresh = rowsOfAnswer(given).filter((row) => !seen.has(idOf(row)))
    for (const row of fresh) if (idOf(row) !== undefined) seen.add(idOf(row))
    for (const row of fresh) rows.push(row)
    if (next === undefined) return { rows, total: rows.length }
    if (rows.length >= most) return { rows, total: total === undefined ? undefined : Math.max(total, rows.length) }
    if (fresh.length === 0) throw malformedAnswer("the same rows again, and reports that there are more")
    characters += JSON.stringify(given).length
    if (rows.length >= MAX_DEVICE_ROWS || characters > MAX_CHARACTERS || pages >= MAX_PAGES)
      throw malformedAnswer(
        `${rows.length} rows on ${pages} page(s) and more, which is too many at once. Ask for fewer`,
      )
    after = next
  }
}

/** The rows of one answer. */
export function rowsOfAnswer(given: unknown): readonly unknown[] {
  if (!Array.isArray(given)) throw malformedAnswer("no rows")
  if (given.length > MAX_DEVICE_ROWS)
    throw malformedAnswer(`${given.length} rows, but the limit is ${MAX_DEVICE_ROWS}. Ask for fewer`)
  return given
}

/** The device's answer is malformed. Unlike an unreachable device, this concerns one row. */
export class MalformedAnswer extends Error {}
export const malformedAnswer = (what: string) => new MalformedAnswer(`the device answered with ${what}`)

const idOf = (row: unknown): unknown => (Object(row) as { id?: unknown }).id
