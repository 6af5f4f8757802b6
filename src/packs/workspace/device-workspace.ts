import { createHash } from "node:crypto"
import type { DeviceCall, DeviceCalls, DevicePlace } from "../../agent/devices.ts"
import { AppError, codeOf, failure, hasCode } from "../../protocol/errors.ts"
import type { CallId } from "../../protocol/ids.ts"
import type { CallOutcome, DeviceFilters } from "../../protocol/socket.ts"
import type {
  Applied,
  Asked,
  Match,
  OpenWorkspace,
  RowOf,
  RowsByTable,
  Vector,
  Workspace,
  WorkspaceWrite,
} from "../../protocol/workspace-port.ts"
import type { TableName } from "../../protocol/workspace-tables.ts"
import { type KnownTable, readTable, type Row } from "../../workspace/known-tables.ts"
import { hostZone } from "../../workspace/days.ts"
import { requireFresh } from "../../workspace/plan-write.ts"
import { readExpected, readFilters, readId, readNewRow, readRows, readUpdates } from "../../workspace/read-input.ts"
import { DAYS, filtersToMoments, rowsToMoments, toMoments } from "./device-days.ts"
import { checkApplied, checkRow, checkRows } from "./device-rows.ts"

/** Sends what is asked in a conversation to where that conversation works: the server's own workspace, or a device. */
export function atSite(onServer: OpenWorkspace, devices: DeviceCalls): OpenWorkspace {
  return (asked) => (asked.site === "device" ? new DeviceWorkspace(devices, asked) : onServer(asked))
}

type Of<Action extends WorkspaceWrite["action"]> = Extract<WorkspaceWrite, { action: Action }>

/**
 * A person's workspace on their own machine. The device makes ids and times; its word about a row is checked as any input
 * is, and what it is to check (`expect`) is compared here as well: it may be a program that does not know of it.
 */
export class DeviceWorkspace implements Workspace {
  readonly #devices: DeviceCalls
  readonly #asked: Asked

  constructor(devices: DeviceCalls, asked: Asked) {
    this.#devices = devices
    this.#asked = asked
  }

  async select<Name extends TableName>(name: Name, given: DeviceFilters = {}): Promise<RowOf<Name>[]> {
    const table = readTable(name)
    const filters = present(readFilters(table, given))
    const sent = this.#knowsDays() ? filters : filtersToMoments(filters, this.#zone)
    const { rows } = await this.#read({ action: "select", table: name, filters: sent })
    const found = checkRows(name, rows)
    const strange = found.find((row) =>
      table.equals.some((key) => key in filters && row[key] !== filters[key as keyof DeviceFilters]),
    )
    if (strange) throw new Error(`the device answered with ${strange.id}, which does not fit what was asked for`)
    return found as unknown as RowOf<Name>[]
  }

  async get<Name extends TableName>(table: Name, id: string): Promise<RowOf<Name> | undefined> {
    return (await this.#find(readTable(table).name, readId(id))) as unknown as RowOf<Name> | undefined
  }

  async hanging(table: TableName, id: string): Promise<RowsByTable> {
    const hanging = new Map<TableName, Row[]>()
    const under = [{ table, id }]
    for (let on = under.shift(); on; on = under.shift()) {
      for (const { table: other, column, whenGone } of readTable(on.table).referredBy) {
        const rows = await this.#naming(other, column, on.id)
        if (rows.length > 0) hanging.set(other, [...(hanging.get(other) ?? []), ...rows])
        if (whenGone === "goes") under.push(...rows.map((row) => ({ table: other, id: String(row.id) })))
      }
    }
    return Object.fromEntries(hanging) as unknown as RowsByTable
  }

  async write(write: WorkspaceWrite, callId: CallId): Promise<Applied> {
    try {
      const applied = await this.#apply(write, callId)
      if (applied !== "nothing") return applied
      throw failure("row_missing", { noun: readTable(write.table).noun, id: "id" in write ? write.id : "" })
    } catch (error) {
      if (!hasCode(error, "row_missing") && !hasCode(error, "row_stale")) throw error
      // What this very call has changed looks the same from outside: only the device's ledger can tell.
      const earlier = await this.outcome(callId, write).catch(() => undefined)
      if (earlier) return earlier
      throw error
    }
  }

  async outcome(callId: CallId, of: Pick<WorkspaceWrite, "action" | "table">): Promise<Applied | undefined> {
    const outcome = await this.#devices.outcome(this.#place, callId)
    const applied = outcome === "not-applied" ? "nothing" : checkApplied(of, outcome)
    return applied === "nothing" ? undefined : applied
  }

  async upsertVector(
    { id, projectId, content }: { id: string; projectId: string | null; content: string },
    { embedder, numbers }: Vector,
  ): Promise<void> {
    // Under an id of its own: under the call's the device would take it for the write of the note, which it has done. The
    // same one each time, so that a second try after a crash is known for what it is.
    const text = JSON.stringify([this.#asked.callId, id, content, embedder])
    const callId = `call_${createHash("sha256").update(text).digest("hex").slice(0, 32)}` as CallId
    const call = { action: "vector_upsert", table: "notes", data: { id, projectId, content }, vector: [...numbers] }
    const { ok } = await this.#send({ ...call, callId })
    if (ok !== true) throw new Error("the device did not say that it has kept the vector")
  }

  async nearest(
    { numbers }: Vector,
    { limit, projectId }: { limit: number; projectId?: string | null },
  ): Promise<Match[]> {
    const filters = projectId == null ? {} : { filters: { projectId } }
    const call = { action: "vector_search", table: "notes", vector: [...numbers], limit, ...filters }
    const { results } = await this.#read(call)
    if (!results || results.length > limit)
      throw new Error("the device answered with other results than were asked for")
    return [...results].sort((a, b) => b.score - a.score)
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
    const data = this.#asKept(table, readNewRow(table, write.data))
    await this.#requireReferences(table, data)
    return checkApplied(write, await this.#send({ action: "insert", table: table.name, data, callId }))
  }

  async #update(write: Of<"update">, callId: CallId) {
    const table = readTable(write.table)
    const { id, updates, expect } = readUpdates(table, { id: write.id, updates: write.updates, expect: write.expect })
    const before = await this.#findFresh(table, id, expect)
    await this.#requireReferences(table, updates)
    const data = { id, updates: this.#asKept(table, updates), ...(write.expect ? { expect } : {}) }
    return checkApplied(write, await this.#send({ action: "update", table: table.name, data, callId }), { id, before })
  }

  async #delete(write: Of<"delete">, callId: CallId) {
    const table = readTable(write.table)
    const id = readId(write.id)
    const before = await this.#findFresh(table, id, readExpected(table, write.expect))
    return checkApplied(write, await this.#send({ action: "delete", table: table.name, data: { id }, callId }), {
      id,
      before,
    })
  }

  async #restore(write: Of<"restore">, callId: CallId) {
    const table = readTable(write.table)
    const read = readRows(table, { rows: write.rows, with: write.with })
    const data = {
      rows: read.rows.map((row) => this.#asKept(table, row)),
      with: this.#knowsDays() ? read.with : rowsToMoments(read.with, this.#zone),
    }
    const ids = data.rows.map((row) => String(row.id))
    const applied = checkApplied(write, await this.#send({ action: "restore", table: table.name, data, callId }), {
      ids,
    })
    if (applied === "nothing") return applied
    return { ...applied, with: { ...applied.with, ...data.with } as unknown as RowsByTable }
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

  /** The rows whose column names this id; where that is no filter of the table, all are looked at. */
  async #naming(table: TableName, column: string, id: string): Promise<Row[]> {
    const { equals, hides } = readTable(table)
    const filters = {
      ...(equals.includes(column) ? { [column]: id } : {}),
      ...(hides ? { includeArchived: true } : {}),
    }
    const rows = (await this.select(table, filters)) as unknown as Row[]
    return rows.filter((row) => row[column] === id)
  }

  async #requireReferences({ references }: KnownTable, row: Row): Promise<void> {
    for (const [column, { table }] of Object.entries(references)) {
      const id = row[column]
      if (id == null || (await this.#find(table, String(id)))) continue
      throw failure("bad_request", { problem: `There is no ${readTable(table).noun} ${id}.` })
    }
  }

  /** One that has not said so may be a program of years ago, which would refuse a day or, worse, keep it unread. */
  #knowsDays(): boolean {
    return this.#devices.isReachable({ ...this.#place, offer: DAYS })
  }

  #asKept({ name }: KnownTable, columns: Row): Row {
    return this.#knowsDays() ? columns : toMoments(name, columns, this.#zone)
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
      // Between our look and its write somebody else was there; the device says so in the words we agreed on.
      if (codeOf(error) === undefined && message.startsWith("stale:")) throw new AppError("row_stale", message)
      throw error
    }
  }
}

const present = (filters: DeviceFilters): DeviceFilters =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== null && value !== undefined))
