import { setImmediate as nextTurn } from "node:timers/promises"
import type { QueryAnswer } from "../../../core/pack.ts"
import type { SessionOptions, PostgresSession } from "./session.ts"
import { readServerJson } from "./json.ts"
import { TooMuch } from "./messages.ts"
import { type ResultField, isJson, toColumns, toWire, typeNamesOf } from "./values.ts"

const CURSOR = "pawl_result"
const FIRST_BATCH = 50
const BATCH = 500

/**
 * Runs a statement with a cursor and fetches as many rows as fit. The cursor is also a guard: it only supports queries,
 * and none that writes.
 */
export async function readRows(session: PostgresSession, sql: string, options: SessionOptions): Promise<QueryAnswer> {
  const { rows: mostRows, bytes: mostBytes } = options.limits
  await session.run(`DECLARE ${CURSOR} NO SCROLL CURSOR WITHOUT HOLD FOR ${sql}`)
  const rows: (string | null)[][] = []
  let fields: readonly ResultField[] = []
  let types: string[] | undefined
  let bytes = 0
  let full = false
  for (let count = FIRST_BATCH; !full; count = BATCH) {
    const batch = await fetchRows(session, count)
    if (batch.fields) fields = batch.fields
    for (const row of batch.rows) {
      bytes += row.reduce((sum, value) => sum + (value === null ? 4 : Buffer.byteLength(value) + 3), 2)
      full = rows.length >= mostRows || bytes > mostBytes
      if (full) break
      rows.push(row)
    }
    if (batch.cut) full = true
    else types ??= readServerJson<string[]>((await session.ask(typeNamesOf(fields))).rows[0]?.[0], [])
    if (batch.rows.length < count) break
  }
  // Without any row it would look like an empty result.
  if (full && rows.length === 0) throw new TooMuch()
  return {
    columns: toColumns(fields, types),
    rows: await toWireRows(rows, fields, session.over),
    truncated: full,
    timeZone: session.timeZone,
  }
}

/**
 * Runs EXPLAIN and SHOW, which cursors do not support. They return a few lines, and the guard ensures that they only
 * read.
 */
export async function readDirectly(
  session: PostgresSession,
  sql: string,
  options: SessionOptions,
): Promise<QueryAnswer> {
  const { rows, fields } = await session.ask(sql)
  const types = readServerJson<string[]>((await session.ask(typeNamesOf(fields))).rows[0]?.[0], [])
  const shown = rows.slice(0, options.limits.rows)
  return {
    columns: toColumns(fields, types),
    rows: await toWireRows(shown, fields, session.over),
    truncated: shown.length < rows.length,
    timeZone: session.timeZone,
  }
}

/** Milliseconds of work on rows before other work of the process gets its turn. */
const SLICE_MS = 10

/**
 * Characters of JSON in one result that are parsed; the rest stays text, because millions of small objects are slow to
 * build, send and collect.
 */
const MAX_JSON = 1024 * 1024

/** Converts rows in slices, because even a megabyte of JSON takes long, and within the time limit of the query. */
async function toWireRows(
  rows: readonly (string | null)[][],
  fields: readonly ResultField[],
  over: AbortSignal,
): Promise<unknown[][]> {
  const made: unknown[][] = []
  const types = fields.map(({ dataTypeID }) => dataTypeID)
  const json = rows.reduce(
    (sum, row) => sum + row.reduce((own, value, index) => own + (isJson(types[index]) ? (value?.length ?? 0) : 0), 0),
    0,
  )
  let began = performance.now()
  for (const row of rows) {
    const wired: unknown[] = []
    for (const [index, value] of row.entries()) {
      const type = types[index] ?? 0
      wired.push(json > MAX_JSON && isJson(type) ? value : toWire(value, type))
      if (performance.now() - began < SLICE_MS) continue
      await nextTurn()
      over.throwIfAborted()
      began = performance.now()
    }
    made.push(wired)
  }
  return made
}

interface Batch {
  readonly rows: (string | null)[][]
  readonly fields: readonly ResultField[] | undefined
  /** The connection was cut during the fetch. The batch has the rows that arrived before. */
  readonly cut: boolean
}

/**
 * Fetches rows with protocol messages. A FETCH statement would first materialize the whole batch, in a file if it is
 * large, and a backend that writes a gigabyte ignores cancel requests.
 */
async function fetchRows({ client }: PostgresSession, count: number): Promise<Batch> {
  const { default: pg } = await import("pg")
  const text = `the next ${count} rows` // never sent, but the driver requires a text
  const query = new pg.Query({ text, rowMode: "array", queryMode: "extended", types: asText } as never)
  Object.assign(query, {
    prepare(connection: PortalConnection) {
      connection.describe({ type: "P", name: CURSOR })
      connection.execute({ portal: CURSOR, rows: count })
      connection.sync()
    },
    handlePortalSuspended() {}, // more rows remain; the next call fetches them
  })
  const rows: (string | null)[][] = []
  let fields: readonly ResultField[] | undefined
  const cut = await new Promise<boolean>((resolve, reject) => {
    query.on("row", (row, result) => {
      fields = result?.fields ?? fields
      rows.push(row as (string | null)[])
    })
    query.on("end", (result) => {
      fields = result.fields
      resolve(false)
    })
    query.on("error", (error) => (error instanceof TooMuch ? resolve(true) : reject(error)))
    client.query(query)
  })
  return { rows, fields, cut }
}

/** Members of the driver's connection that its types lack. */
interface PortalConnection {
  describe(what: { type: "P"; name: string }): void
  execute(what: { portal: string; rows: number }): void
  sync(): void
}

const asText = { getTypeParser: () => String }
