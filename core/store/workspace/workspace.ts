import { setImmediate as nextTurn } from "node:timers/promises"
import { failure, hasCode } from "../../protocol/errors.ts"
import { type CallId, isId, type UserId } from "../../protocol/ids.ts"
import type { DeviceFilters } from "../../protocol/socket.ts"
import type {
  AnyRow,
  Applied,
  ListedPage,
  ListedRow,
  Listing,
  ListOptions,
  NoteMatch,
  RowOf,
  RowsByTable,
  Taint,
  Vector,
  Workspace,
  WorkspaceWrite,
} from "../../protocol/workspace.ts"
import type { RowCounts, SampleRemoval, WorkspaceFile } from "../../protocol/workspace-file.ts"
import { type TableName, tableNames, workspaceTables } from "../../protocol/workspace-tables.ts"
import { hostZone } from "../../shared/time/zone.ts"
import { countFound, findListed, findPage, type FoundPage, type PageOptions } from "../../workspace/find-page.ts"
import { findByIds, findRelatedRows, findRow } from "../../workspace/find-rows.ts"
import { importedRows } from "../../workspace/import-rows.ts"
import { countRows, readTable, type Row, type Rows, textColumns } from "../../workspace/known-tables.ts"
import { type StatementPlan, planWrite } from "../../workspace/plan-write.ts"
import { planSampleRemoval } from "../../workspace/remove-sample.ts"
import { sampleFile } from "../../workspace/sample-rows.ts"
import type { Steps } from "../../workspace/steps.ts"
import { WorkspaceWriter } from "./writer.ts"
import type { WorkspaceContext } from "./workspace-context.ts"

const EXPORT_ATTEMPTS = 20
/** The part of an export that is read before the response starts. */
const MAX_BUFFERED_CHARACTERS = 4_000_000
/** The limit of a list in memory. */
const MAX_CHARACTERS = 16 * 1024 * 1024
const PAGE_ROWS = 1000
const MAX_COUNTED_PAGES = 50

const changesTooFast = () =>
  failure("store_unavailable", { problem: "the workspace changes faster than it can be read; try again" })

/** A person's workspace in the server's database. */
export class SqlWorkspace implements Workspace {
  readonly #context: WorkspaceContext
  readonly #person: UserId
  readonly #writer: WorkspaceWriter

  constructor(context: WorkspaceContext, person: UserId) {
    this.#context = context
    this.#person = person
    this.#writer = new WorkspaceWriter(context, person)
  }

  async select<Name extends TableName>(table: Name, filters: DeviceFilters = {}): Promise<RowOf<Name>[]> {
    const { rows } = await this.#collect(table, filters, { isWhole: true })
    return rows as unknown as RowOf<Name>[]
  }

  async list(table: TableName, filters: DeviceFilters = {}, { most, columns }: ListOptions = {}): Promise<Listing> {
    const { rows, next } = await this.#collect(table, filters, { most, columns })
    return {
      rows,
      odd: [],
      total: next === null ? rows.length : await this.#count(table, filters, rows.length, next),
    }
  }

  /** A page of a list: limited in bytes, with shortened texts. */
  async page(
    table: TableName,
    filters: DeviceFilters,
    options: Pick<PageOptions, "limit" | "cursor">,
  ): Promise<ListedPage> {
    const page = await this.#page(table, filters, options)
    return { items: toListed(page), nextCursor: page.next }
  }

  /** Returns the rows with these ids that exist, as in a list. */
  async listed(table: TableName, ids: readonly string[]): Promise<ListedRow[]> {
    return toListed(await this.#writer.follow(findListed(this.#layout, table, ids)))
  }

  #page(table: TableName, filters: DeviceFilters, options: PageOptions): Promise<FoundPage> {
    return this.#writer.follow(findPage(this.#layout, table, filters, options))
  }

  /** Reads page by page, with turns for other requests in between. */
  async #collect(
    table: TableName,
    filters: DeviceFilters,
    { most = Infinity, ...options }: Omit<PageOptions, "limit" | "cursor"> & { readonly most?: number | undefined },
  ): Promise<{ readonly rows: Row[]; readonly next: string | null }> {
    const rows: Row[] = []
    let characters = 0
    for (let cursor: string | undefined; ;) {
      const page = await this.#page(table, filters, {
        ...options,
        limit: Math.min(PAGE_ROWS, most - rows.length),
        cursor,
      })
      for (const row of page.rows) rows.push(row)
      if (page.next === null || rows.length >= most) return { rows, next: page.next }
      characters += JSON.stringify(page.rows).length
      if (characters > MAX_CHARACTERS) {
        const problem = `These ${table} are too many to be read at once: the first ${rows.length} have ${characters} characters. Ask for fewer with a filter.`
        throw failure("bad_request", { problem })
      }
      cursor = page.next
      await nextTurn()
    }
  }

  /** The number of all rows; undefined if counting would read too much. */
  async #count(table: TableName, filters: DeviceFilters, rows: number, next: string): Promise<number | undefined> {
    const counted = await this.#writer.follow(countFound(this.#layout, table, filters))
    if (counted !== undefined) return counted === "too many" ? undefined : counted
    let total = rows
    let cursor: string | null = next
    for (let pages = 0; cursor !== null; pages++) {
      if (pages === MAX_COUNTED_PAGES) return undefined
      await nextTurn()
      const page: FoundPage = await this.#page(table, filters, { limit: PAGE_ROWS, columns: [], cursor })
      total += page.rows.length
      cursor = page.next
    }
    return total
  }

  async get<Name extends TableName>(table: Name, id: string): Promise<RowOf<Name> | undefined> {
    return (await this.#writer.follow(findRow(this.#layout, table, id))) as unknown as RowOf<Name> | undefined
  }

  async hanging(table: TableName, id: string): Promise<RowsByTable> {
    return (await this.#writer.follow(findRelatedRows(this.#layout, table, id))) as unknown as RowsByTable
  }

  async write(write: WorkspaceWrite, callId: CallId, taint?: Taint): Promise<Applied> {
    return (await this.#writer.change((now) => this.#plan(write, now), callId, taint)).applied
  }

  /**
   * A change by the person, which is not recorded because no call asks for its outcome later. A row that is marked as
   * untrusted stays so until the person has replaced all of its texts.
   */
  async edit(write: WorkspaceWrite): Promise<Applied> {
    return (await this.#writer.change((now) => this.#planByHand(write, now))).applied
  }

  /** Returns the rows with these ids that are marked as untrusted. */
  tainted(ids: readonly string[]): Promise<readonly string[]> {
    return this.#writer.marked(ids)
  }

  async outcome(callId: CallId): Promise<Applied | undefined> {
    return (await this.#writer.standing(callId)).noted
  }

  bar(callId: CallId): Promise<Applied | undefined> {
    return this.#writer.bar(callId)
  }

  /**
   * The JSON text of a `WorkspaceFile`, in pieces. It shows one moment: a row that is added during the export could
   * refer to a project that is not in the file. A change restarts the export, or ends it with an error if the response
   * has started.
   */
  async export(): Promise<AsyncIterable<string>> {
    for (let attempt = 0; attempt < EXPORT_ATTEMPTS; attempt++) {
      const pieces = this.#exported()
      const buffered: string[] = []
      try {
        for (let characters = 0; characters < MAX_BUFFERED_CHARACTERS;) {
          const { done, value } = await pieces.next()
          if (done) break
          characters += buffered[buffered.push(value) - 1]?.length ?? 0
        }
        return concat(buffered, pieces)
      } catch (error) {
        if (!hasCode(error, "store_unavailable") || attempt === EXPORT_ATTEMPTS - 1) throw error
      }
    }
    throw changesTooFast()
  }

  async *#exported(): AsyncGenerator<string, void> {
    const { version } = await this.#writer.standing()
    const untrusted: string[] = []
    yield `{"version":1`
    for (const table of tableNames) {
      const filters = workspaceTables[table].hides ? { includeArchived: true } : {}
      let isFirst = true
      yield `,"${table}":[`
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page: FoundPage = await this.#page(table, filters, { limit: PAGE_ROWS, cursor, isWhole: true })
        untrusted.push(...(await this.tainted(page.rows.map(({ id }) => String(id)))))
        if (page.rows.length > 0) yield (isFirst ? "" : ",") + JSON.stringify(page.rows).slice(1, -1)
        isFirst &&= page.rows.length === 0
        cursor = page.next
        await nextTurn()
      }
      yield "]"
    }
    if ((await this.#writer.standing()).version !== version) throw changesTooFast()
    yield untrusted.length > 0 ? `,"untrusted":${JSON.stringify(untrusted)}}` : "}"
  }

  /** Imports all of a file or nothing, with new ids. */
  async import(file: WorkspaceFile): Promise<RowCounts> {
    const { rows, untrusted } = importedRows(file, this.#owner, this.#context.now())
    const write = toRestore(rows)
    if (write) await this.#writer.change((now) => this.#planImport(write, untrusted, now))
    return countRows(rows)
  }

  /** Something in it is due today in this zone. Throws `sample_loaded` if part of it still exists. */
  async loadSample(timeZone = hostZone()): Promise<RowCounts> {
    const { rows } = await this.#writer.change((now, { sample }) => this.#planSample({ now, timeZone }, sample))
    return countRows(rows)
  }

  async removeSample(): Promise<SampleRemoval> {
    const { removal } = await this.#writer.change((_now, { sample }) => this.#planRemoval(sample ?? {}))
    return removal
  }

  upsertVector(note: { id: string; projectId: string | null; content: string }, vector: Vector): Promise<void> {
    return this.#vectors.upsert(this.#person, note, vector)
  }

  nearest(vector: Vector, options: { limit: number; projectId?: string | null }): Promise<NoteMatch[]> {
    return this.#vectors.nearest(this.#person, vector, options)
  }

  async indexing(): Promise<{ waiting: number; all: number }> {
    return this.#vectors.progress(this.#person)
  }

  get #vectors() {
    const { vectors } = this.#context
    if (!vectors) throw failure("bad_request", { problem: "This server keeps no vectors of notes." })
    return vectors
  }

  get #layout() {
    return this.#writer.layout
  }

  get #owner() {
    return this.#layout.owner?.value ?? null
  }

  #plan(write: WorkspaceWrite, now: number): Steps<StatementPlan> {
    if (write.action === "restore") requireOwnIds(write)
    return planWrite({ layout: this.#layout, now }, write)
  }

  *#planImport(write: WorkspaceWrite, untrusted: readonly string[], now: number): Steps<StatementPlan> {
    const plan = yield* this.#plan(write, now)
    return { ...plan, statements: [...plan.statements, ...untrusted.map((id) => this.#writer.mark(id, now))] }
  }

  *#planByHand(write: WorkspaceWrite, now: number): Steps<StatementPlan> {
    const plan = yield* this.#plan(write, now)
    const { before, after } = plan.applied
    if (write.action !== "update" || !before || !after || !replacesTexts(write.table, before, after)) return plan
    return { ...plan, statements: [...plan.statements, this.#writer.unmark(after.id)] }
  }

  *#planSample(
    { now, timeZone }: { now: number; timeZone: string },
    loaded: Rows = {},
  ): Steps<StatementPlan & { readonly rows: Rows }> {
    for (const name of tableNames) {
      const ids = (loaded[name] ?? []).map(({ id }) => String(id))
      if ((yield* findByIds(this.#layout, name, ids)).length > 0) throw failure("sample_loaded")
    }
    const { rows } = importedRows(sampleFile(now, timeZone), this.#owner, now)
    const plan = yield* this.#plan(toRestore(rows)!, now)
    return { ...plan, statements: [...plan.statements, this.#writer.rememberSample(rows)], rows }
  }

  *#planRemoval(loaded: Rows): Steps<StatementPlan & { readonly removal: SampleRemoval }> {
    const plan = yield* planSampleRemoval(this.#layout, loaded)
    return { ...plan, statements: [...plan.statements, this.#writer.rememberSample(undefined)] }
  }
}

function toListed({ rows, truncated }: Pick<FoundPage, "rows" | "truncated">): ListedRow[] {
  const items = rows.map((row) => {
    const cut = truncated.get(String(row.id))
    return cut ? { ...row, truncated: cut } : row
  })
  return items as unknown as ListedRow[]
}

async function* concat(first: readonly string[], rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield* first
  yield* rest
}

function replacesTexts(table: TableName, before: AnyRow, after: AnyRow): boolean {
  const [was, is] = [before, after] as unknown as [Row, Row]
  return textColumns(readTable(table)).every((column) => !was[column] || was[column] !== is[column])
}

/** Undefined if there are no rows. */
function toRestore(rows: Rows): WorkspaceWrite | undefined {
  const table = tableNames.find((name) => (rows[name] ?? []).length > 0)
  if (!table) return undefined
  const { [table]: first, ...others } = rows
  return { action: "restore", table, rows: first, with: others } as unknown as WorkspaceWrite
}

/** Ids are shared by all people and identify their table, so a caller must not invent them. */
function requireOwnIds({ table, rows, with: others }: Extract<WorkspaceWrite, { action: "restore" }>): void {
  for (const [name, theirs] of [[table, rows] as const, ...Object.entries(others)]) {
    const { prefix } = workspaceTables[name as TableName] ?? {}
    const foreign = prefix && theirs?.find(({ id }) => typeof id !== "string" || !isId(prefix, id))
    if (foreign) throw failure("bad_request", { problem: `${String(foreign.id).slice(0, 100)} is no id of ${name}.` })
  }
}
