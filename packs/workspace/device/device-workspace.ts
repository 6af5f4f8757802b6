import { createHash } from "node:crypto"
import {
  type AnyRow,
  AppError,
  type Applied,
  type CallId,
  type CallOutcome,
  codeOf,
  type DeviceCall,
  type DeviceCalls,
  type DeviceFilters,
  type DeviceKnowledge,
  type DevicePlace,
  failure,
  hasCode,
  hostZone,
  type KnownTable,
  type Listing,
  type ListOptions,
  type NoteMatch,
  type OpenWorkspace,
  readExpected,
  readFilters,
  readId,
  readNewRow,
  readRestoredRows,
  readTable,
  readUpdates,
  type RemoteWorkspace,
  requireFresh,
  type Row,
  type RowOf,
  type RowsByTable,
  type TableName,
  type Vector,
  type WorkspaceCall,
  type WorkspaceWrite,
} from "../../../core/pack.ts"
import { filtersToMoments, rowsToMoments, toMoments } from "./days.ts"
import { MAX_DEVICE_ROWS, rowsOfAnswer, type PageCall, readDevicePages } from "./pages.ts"
import { readRelatedRows } from "./related-rows.ts"
import { checkApplied } from "./applied.ts"
import { checkByTable, checkRow } from "./rows.ts"
import { sortOut, whichOne } from "./malformed-rows.ts"

/** Chooses the workspace of a conversation: the server's own, or the one on a device. */
export function serverOrDevice(onServer: OpenWorkspace, devices: DeviceCalls): OpenWorkspace {
  return (asked) => (asked.site === "device" ? new DeviceWorkspace(devices, asked) : onServer(asked))
}

type Of<Action extends WorkspaceWrite["action"]> = Extract<WorkspaceWrite, { action: Action }>

/**
 * A person's workspace on their own machine. The device generates ids and times, and its rows are validated like any
 * input. Expected values (`expect`) are also compared here, because an older device ignores them.
 */
export class DeviceWorkspace implements RemoteWorkspace {
  readonly #devices: DeviceCalls
  readonly #asked: WorkspaceCall

  constructor(devices: DeviceCalls, asked: WorkspaceCall) {
    this.#devices = devices
    this.#asked = asked
  }

  async select<Name extends TableName>(name: Name, given: DeviceFilters = {}): Promise<RowOf<Name>[]> {
    const { rows, odd } = await this.list(name, given)
    const [first] = odd
    // All rows are needed, so one malformed row is an error.
    if (first) throw new Error(`the device answered with ${whichOne(first)}: ${first.problem}`)
    return rows as unknown as RowOf<Name>[]
  }

  async list(name: TableName, given: DeviceFilters = {}, { most, columns }: ListOptions = {}): Promise<Listing> {
    const filters = present(readFilters(readTable(name), given))
    const sent = (await this.#knows("days")) ? filters : filtersToMoments(filters, this.#zone)
    const call = { action: "select", table: name, filters: sent }
    const ask = (page: PageCall) => this.#read({ ...call, ...page, ...(columns ? { columns: [...columns] } : {}) })
    if (await this.#knows("pages")) {
      const { rows, total } = await readDevicePages(ask, most)
      return { ...sortOut(name, rows, { filters, columns }), total }
    }
    // One row more than needed shows that there are more. A device without a limit answers with all rows.
    const limit = Math.min(most ?? MAX_DEVICE_ROWS, MAX_DEVICE_ROWS) + 1
    const rows = rowsOfAnswer((await this.#read({ ...call, limit })).rows)
    return { ...sortOut(name, rows, { filters, columns }), total: rows.length === limit ? undefined : rows.length }
  }

  async get<Name extends TableName>(table: Name, id: string): Promise<RowOf<Name> | undefined> {
    return (await this.#find(readTable(table).name, readId(id))) as unknown as RowOf<Name> | undefined
  }

  async hanging(table: TableName, id: string): Promise<RowsByTable> {
    return (await this.getWhole(table, id))?.hanging ?? readRelatedRows(this, table, id)
  }

  async getWhole(table: TableName, id: string) {
    if (!(await this.#knows("hanging"))) return undefined
    try {
      const { row, with: others } = await this.#read({ action: "hanging", table, data: { id: readId(id) } })
      const found = row ? (checkRow(table, row, id) as unknown as AnyRow) : undefined
      return { row: found, hanging: checkByTable(others) as unknown as RowsByTable }
    } catch (error) {
      if (codeOf(error) !== undefined || this.#asked.signal.aborted) throw error
      return undefined // it does not fit into a frame, or a row is malformed: requested one by one, which shows the row
    }
  }

  async write(write: WorkspaceWrite, callId: CallId): Promise<Applied> {
    try {
      const applied = await this.#apply(write, callId)
      if (applied !== "nothing") return applied
      throw failure("row_missing", { noun: readTable(write.table).noun, id: "id" in write ? write.id : "" })
    } catch (error) {
      if (!hasCode(error, "row_missing") && !hasCode(error, "row_stale")) throw error
      // Its own change and that of another call look the same: only the device's ledger can distinguish them.
      const earlier = await this.outcome(callId, write).catch(() => undefined)
      if (earlier) return earlier
      throw error
    }
  }

  async outcome(callId: CallId, of: Pick<WorkspaceWrite, "action" | "table">): Promise<Applied | undefined> {
    const outcome = await this.#devices.outcome(this.#place, callId)
    const applied = outcome === "not-applied" ? "nothing" : await this.#readable(of, outcome)
    return applied === "nothing" ? undefined : applied
  }

  async upsertVector(
    { id, projectId, content }: { id: string; projectId: string | null; content: string },
    { embedder, numbers }: Vector,
  ): Promise<void> {
    const call = { action: "vector_upsert", table: "notes", data: { id, projectId, content }, vector: [...numbers] }
    const sent = this.#send({ ...call, callId: this.#idBeside([id, content, embedder]) })
    const { ok } = await sent.catch((error: unknown) => {
      throw codeOf(error) === undefined && !this.#asked.signal.aborted
        ? new VectorRefused((error as Error).message)
        : error
    })
    if (ok !== true) throw new VectorRefused("it did not answer with ok: true")
  }

  /** A device that does not know this action may send any answer, or end the connection. */
  async deleteVector(id: string): Promise<void> {
    if (!(await this.#knows("vector_delete"))) throw new Error("the device does not know vector_delete")
    const call = { action: "vector_delete", table: "notes", data: { id } }
    const { ok } = await this.#send({ ...call, callId: this.#idBeside([id, "vector_delete"]) })
    if (ok !== true) throw new Error("the device did not confirm that it deleted the vector")
  }

  async nearest(
    { numbers }: Vector,
    { limit, projectId }: { limit: number; projectId?: string | null },
  ): Promise<NoteMatch[]> {
    const filters = projectId == null ? {} : { filters: { projectId } }
    const call = { action: "vector_search", table: "notes", vector: [...numbers], limit, ...filters }
    const { results } = await this.#read(call)
    if (!results || results.length > limit) throw new Error("the device sent results that were not requested")
    return [...results].sort((a, b) => b.score - a.score)
  }

  /** Devices that support pages support it too. Others may ignore the filter, refuse it or return no rows. */
  async hasSearch(): Promise<boolean> {
    return (await this.#knows("search")) || this.#knows("pages")
  }

  #apply(write: WorkspaceWrite, callId: CallId): Promise<Applied | "nothing"> {
    switch (write.action) {
      case "insert":
        return this.#insert(write, callId)
      case "update":
        return this.#update(write, callId)
      case "delete":
        return this.#delete(write, callId)
      case "restore":
        return this.#restore(write, callId)
    }
  }

  async #insert(write: Of<"insert">, callId: CallId) {
    const table = readTable(write.table)
    const data = await this.#asKept(table, readNewRow(table, write.data))
    await this.#requireReferences(table, data)
    return this.#readable(write, await this.#send({ action: "insert", table: table.name, data, callId }))
  }

  async #update(write: Of<"update">, callId: CallId) {
    const table = readTable(write.table)
    const { id, updates, expect } = readUpdates(table, { id: write.id, updates: write.updates, expect: write.expect })
    const before = (await this.#compares(table, expect)) ? expect : await this.#findFresh(table, id, expect)
    await this.#requireReferences(table, updates)
    const data = { id, updates: await this.#asKept(table, updates), ...(write.expect ? { expect } : {}) }
    const answer = await this.#send({ action: "update", table: table.name, data, callId })
    return this.#readable(write, answer, { id, before })
  }

  async #delete(write: Of<"delete">, callId: CallId) {
    const table = readTable(write.table)
    const id = readId(write.id)
    const expect = readExpected(table, write.expect)
    const compares = await this.#compares(table, expect)
    const before = compares ? expect : await this.#findFresh(table, id, expect)
    // Another row may be added between our read and the deletion.
    const along = write.along && (await this.#knows("expect")) ? { with: write.along } : {}
    const data = { id, ...(compares ? { expect } : {}), ...along }
    return checkApplied(write, await this.#send({ action: "delete", table: table.name, data, callId }), { id, before })
  }

  /** True if the device itself compares the complete row when it writes. Then an earlier read adds nothing. */
  async #compares({ columns }: KnownTable, expect: Row): Promise<boolean> {
    return columns.every((column) => Object.hasOwn(expect, column)) && this.#knows("expect")
  }

  /**
   * Returns the result of a write. A row that was reported incompletely is read again, so that the outcome is not in
   * doubt.
   */
  async #readable(
    of: Pick<WorkspaceWrite, "action" | "table">,
    outcome: CallOutcome,
    asked: { readonly id?: string; readonly before?: Row } = {},
  ): Promise<Applied | "nothing"> {
    try {
      return checkApplied(of, outcome, asked)
    } catch (error) {
      const { id = asked.id } = (outcome.row ?? {}) as { id?: unknown }
      const isOurs = typeof id === "string" && (asked.id === undefined || id === asked.id)
      const writes = of.action === "insert" || of.action === "update"
      if (!outcome.row || !writes || !isOurs) throw error
      const row = await this.#find(of.table, id).catch(() => undefined)
      if (!row) throw error
      // The previous values may be the malformed part.
      return checkApplied(of, { row }, { ...asked, id })
    }
  }

  async #restore(write: Of<"restore">, callId: CallId) {
    const table = readTable(write.table)
    const read = readRestoredRows(table, { rows: write.rows, with: write.with })
    const days = await this.#knows("days")
    const data = {
      rows: read.rows.map((row) => (days ? row : toMoments(table.name, row, this.#zone))),
      with: days ? read.with : rowsToMoments(read.with, this.#zone),
    }
    const ids = data.rows.map((row) => String(row.id))
    const applied = checkApplied(write, await this.#send({ action: "restore", table: table.name, data, callId }), {
      ids,
    })
    if (applied === "nothing") return applied
    return { ...applied, with: { ...applied.with, ...data.with } as unknown as RowsByTable }
  }

  /**
   * Derives the id of an additional request of this call. With the call's own id the device would return the result of
   * the write. It is the same after a crash, so that the device recognizes a repeated request.
   */
  #idBeside(what: readonly string[]): CallId {
    const text = JSON.stringify([this.#asked.callId, ...what])
    return `call_${createHash("sha256").update(text).digest("hex").slice(0, 32)}` as CallId
  }

  async #findFresh(table: KnownTable, id: string, expect: Row): Promise<Row> {
    const row = await this.#find(table.name, id)
    if (!row) throw failure("row_missing", { noun: table.noun, id })
    requireFresh(table, row, expect)
    return row
  }

  async #find(table: TableName, id: string): Promise<Row | undefined> {
    const { row } = await this.#read({ action: "get", table, data: { id } })
    return row === null ? undefined : checkRow(table, row, id)
  }

  async #requireReferences({ references }: KnownTable, row: Row): Promise<void> {
    for (const [column, { table }] of Object.entries(references)) {
      const id = row[column]
      if (id == null || (await this.#find(table, String(id)))) continue
      throw failure("bad_request", { problem: `There is no ${readTable(table).noun} ${id}.` })
    }
  }

  async #knows(what: DeviceKnowledge): Promise<boolean> {
    return (await this.#devices.knows?.(this.#place, what)) ?? false
  }

  /**
   * Converts days to moments for a device that has not announced support for days: it would refuse them or store them
   * unread.
   */
  async #asKept({ name }: KnownTable, columns: Row): Promise<Row> {
    return (await this.#knows("days")) ? columns : toMoments(name, columns, this.#zone)
  }

  get #zone(): string {
    return this.#asked.timeZone ?? hostZone()
  }

  get #place(): DevicePlace {
    const { user, conversation, deviceId } = this.#asked
    return { user, conversation, deviceId, offer: "workspace" }
  }

  #read(call: Omit<DeviceCall, "callId">): Promise<CallOutcome> {
    const { callId, signal } = this.#asked
    return this.#devices.call(this.#place, { ...call, callId }, { effect: "read", signal })
  }

  async #send(call: DeviceCall): Promise<CallOutcome> {
    try {
      return await this.#devices.call(this.#place, call, { effect: "write", signal: this.#asked.signal })
    } catch (error) {
      const { message } = error as Error
      // The row changed between our read and the write, which the device reports with this prefix.
      if (codeOf(error) === undefined && message.startsWith("stale:")) throw new AppError("row_stale", message)
      throw error
    }
  }
}

/** The device answered that it does not store a note's vector. */
export class VectorRefused extends Error {}

const present = (filters: DeviceFilters): DeviceFilters =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== null && value !== undefined))
