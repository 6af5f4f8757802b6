import { failure } from "../../protocol/errors.ts"
import { type CallId, isId, type UserId } from "../../protocol/ids.ts"
import type { DeviceFilters } from "../../protocol/socket.ts"
import type {
  Applied,
  Match,
  RowOf,
  RowsByTable,
  Vector,
  Workspace,
  WorkspaceWrite,
} from "../../protocol/ports/workspace.ts"
import type { RowCounts, SampleRemoval, WorkspaceFile } from "../../protocol/workspace-file.ts"
import { type TableName, tableNames, workspaceTables } from "../../protocol/workspace-tables.ts"
import { countRows } from "../../workspace/count-rows.ts"
import { hostZone } from "../../protocol/time/host-zone.ts"
import { findByIds, findHanging, findRow, findRows } from "../../workspace/find-rows.ts"
import { importedRows } from "../../workspace/import-rows.ts"
import type { Rows } from "../../workspace/known-tables.ts"
import { type StatementPlan, planWrite } from "../../workspace/plan-write.ts"
import { planSampleRemoval } from "../../workspace/remove-sample.ts"
import { sampleFile } from "../../workspace/sample-rows.ts"
import type { Steps } from "../../workspace/steps.ts"
import { WorkspaceWriter } from "./writer.ts"
import type { WorkspaceKeeper } from "./keeper.ts"

const EXPORT_ATTEMPTS = 20

/** A person's workspace in the server's own database. */
export class SqlWorkspace implements Workspace {
  readonly #all: WorkspaceKeeper
  readonly #person: UserId
  readonly #writer: WorkspaceWriter

  constructor(all: WorkspaceKeeper, person: UserId) {
    this.#all = all
    this.#person = person
    this.#writer = new WorkspaceWriter(all, person)
  }

  async select<Name extends TableName>(table: Name, filters: DeviceFilters = {}): Promise<RowOf<Name>[]> {
    return (await this.#writer.follow(findRows(this.#layout, table, filters))) as unknown as RowOf<Name>[]
  }

  async get<Name extends TableName>(table: Name, id: string): Promise<RowOf<Name> | undefined> {
    return (await this.#writer.follow(findRow(this.#layout, table, id))) as unknown as RowOf<Name> | undefined
  }

  async hanging(table: TableName, id: string): Promise<RowsByTable> {
    return (await this.#writer.follow(findHanging(this.#layout, table, id))) as unknown as RowsByTable
  }

  async write(write: WorkspaceWrite, callId: CallId): Promise<Applied> {
    return (await this.#writer.change((now) => this.#plan(write, now), callId)).applied
  }

  /** A change by the person's own hand: nobody will ask what became of it, so it is not noted. */
  async edit(write: WorkspaceWrite): Promise<Applied> {
    return (await this.#writer.change((now) => this.#plan(write, now))).applied
  }

  async outcome(callId: CallId): Promise<Applied | undefined> {
    return (await this.#writer.standing(callId)).noted
  }

  bar(callId: CallId): Promise<Applied | undefined> {
    return this.#writer.bar(callId)
  }

  /** One moment's picture: a row that comes while others are read would name a project that is not in the file. */
  async export(): Promise<WorkspaceFile> {
    for (let attempt = 0; attempt < EXPORT_ATTEMPTS; attempt++) {
      const { version } = await this.#writer.standing()
      const file = await this.#read()
      if ((await this.#writer.standing()).version === version) return file
    }
    throw failure("store_unavailable", { problem: "the workspace changes faster than it can be read; try again" })
  }

  async #read(): Promise<WorkspaceFile> {
    const everything = tableNames.map(async (name) => {
      return [name, await this.select(name, workspaceTables[name].hides ? { includeArchived: true } : {})] as const
    })
    return { version: 1, ...Object.fromEntries(await Promise.all(everything)) } as unknown as WorkspaceFile
  }

  /** All of a file or nothing, under new ids. */
  async import(file: WorkspaceFile): Promise<RowCounts> {
    const rows = importedRows(file, this.#owner, this.#all.now())
    const write = toRestore(rows)
    if (write) await this.edit(write)
    return countRows(rows)
  }

  /** Something in it is due today in this zone. Throws `sample_loaded` while something of it is still there. */
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

  nearest(vector: Vector, options: { limit: number; projectId?: string | null }): Promise<Match[]> {
    return this.#vectors.nearest(this.#person, vector, options)
  }

  async indexing(): Promise<{ waiting: number; all: number }> {
    return this.#vectors.progress(this.#person)
  }

  get #vectors() {
    const { vectors } = this.#all
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

  *#planSample(
    { now, timeZone }: { now: number; timeZone: string },
    loaded: Rows = {},
  ): Steps<StatementPlan & { readonly rows: Rows }> {
    for (const name of tableNames) {
      const ids = (loaded[name] ?? []).map(({ id }) => String(id))
      if ((yield* findByIds(this.#layout, name, ids)).length > 0) throw failure("sample_loaded")
    }
    const rows = importedRows(sampleFile(now, timeZone), this.#owner, now)
    const plan = yield* this.#plan(toRestore(rows)!, now)
    return { ...plan, statements: [...plan.statements, this.#writer.rememberSample(rows)], rows }
  }

  *#planRemoval(loaded: Rows): Steps<StatementPlan & { readonly removal: SampleRemoval }> {
    const plan = yield* planSampleRemoval(this.#layout, loaded)
    return { ...plan, statements: [...plan.statements, this.#writer.rememberSample(undefined)] }
  }
}

/** Putting back under ids that nobody had: nothing where there are no rows at all. */
function toRestore(rows: Rows): WorkspaceWrite | undefined {
  const table = tableNames.find((name) => (rows[name] ?? []).length > 0)
  if (!table) return undefined
  const { [table]: first, ...others } = rows
  return { action: "restore", table, rows: first, with: others } as unknown as WorkspaceWrite
}

/** Ids are everybody's here, and say what they name: none is made up. */
function requireOwnIds({ table, rows, with: others }: Extract<WorkspaceWrite, { action: "restore" }>): void {
  for (const [name, theirs] of [[table, rows] as const, ...Object.entries(others)]) {
    const { prefix } = workspaceTables[name as TableName] ?? {}
    const odd = prefix && theirs?.find(({ id }) => typeof id !== "string" || !isId(prefix, id))
    if (odd) throw failure("bad_request", { problem: `${String(odd.id).slice(0, 100)} is no id of ${name}.` })
  }
}
