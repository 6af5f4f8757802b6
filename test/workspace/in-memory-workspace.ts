import {
  type AnyRow,
  type Applied,
  type CallId,
  type DeviceFilters,
  endOf,
  failure,
  newId,
  parse,
  type RowsByTable,
  startOf,
  type TableName,
  tableNames,
  type Tool,
  type Workspace,
  workspaceTables,
  type WorkspaceWrite,
} from "../../core/pack.ts"
import { workspaceAgent } from "../../packs/workspace/agent.ts"
import type { DeskRow } from "../../packs/workspace/tables/desk.ts"

/** A workspace in memory that records its calls, complete enough to test the texts of tools. */
export class Memory {
  readonly rows = new Map<TableName, DeskRow[]>(tableNames.map((name) => [name, []]))
  readonly asked: DeviceFilters[] = []
  readonly written: WorkspaceWrite[] = []
  readonly #applied = new Map<CallId, Applied>()
  #made = 0

  of(table: TableName): DeskRow[] {
    return this.rows.get(table) as DeskRow[]
  }

  add(table: TableName, data: Record<string, unknown>): DeskRow {
    const { prefix, defaults, made } = workspaceTables[table]
    const id = `${prefix}_${++this.#made}`
    const times = made.includes("updatedAt") ? { createdAt: 0, updatedAt: 0 } : { createdAt: 0 }
    const row = { ...defaults, ...times, id, ...data } as DeskRow
    this.of(table).push(row)
    return row
  }

  get workspace(): Workspace {
    return {
      select: async (table: TableName, filters: DeviceFilters = {}) => {
        this.asked.push(filters)
        return this.of(table).filter((row) => fits(table, row, filters)) as unknown as never[]
      },
      list: async (table, filters = {}, { most } = {}) => {
        this.asked.push(filters)
        const rows = this.of(table).filter((row) => fits(table, row, filters))
        return { rows: rows.slice(0, most ?? rows.length), odd: [], total: rows.length }
      },
      get: async (table: TableName, id: string) => this.of(table).find((row) => row.id === id) as never,
      hanging: async (table, id) => this.#hanging(table, id),
      outcome: async (callId) => this.#applied.get(callId),
      write: async (write, callId) => {
        const known = this.#applied.get(callId)
        if (known) return known
        this.written.push(write)
        const applied = this.#write(write)
        this.#applied.set(callId, applied)
        return applied
      },
      upsertVector: async () => {},
      nearest: async () => [],
    }
  }

  #write(write: WorkspaceWrite): Applied {
    const { action, table } = write
    const done = (change: Partial<Record<"before" | "after", DeskRow>>, along: RowsByTable = {}): Applied => ({
      ...{ action, table, before: null, after: null, with: along },
      ...(change as unknown as Partial<Record<"before" | "after", AnyRow>>),
    })
    if (write.action === "insert") return done({ after: this.add(table, write.data) })
    if (write.action === "restore") {
      const [first] = write.rows as unknown as DeskRow[]
      this.of(table).push(...(write.rows as unknown as DeskRow[]))
      for (const [name, rows] of Object.entries(write.with)) this.of(name as TableName).push(...(rows as never[]))
      return done({ after: first as DeskRow }, write.with)
    }
    const before = this.of(table).find(({ id }) => id === write.id)
    const { noun } = workspaceTables[table]
    if (!before) throw failure("row_missing", { noun, id: write.id })
    const stale = Object.entries(write.expect ?? {}).filter(([column, value]) => before[column] !== value)
    if (stale.length > 0) throw failure("row_stale", { noun, id: write.id, columns: stale.map(([key]) => key).join() })
    const along = write.action === "delete" ? this.#hanging(table, write.id) : {}
    const after = write.action === "update" ? ({ ...before, ...write.updates } as DeskRow) : undefined
    this.of(table).splice(this.of(table).indexOf(before), 1, ...(after ? [after] : []))
    for (const [name, rows] of Object.entries(along)) {
      const gone = (rows as readonly DeskRow[]).map(({ id }) => id)
      this.rows.set(
        name as TableName,
        this.of(name as TableName).filter(({ id }) => !gone.includes(id)),
      )
    }
    return done(after ? { before, after } : { before }, along)
  }

  #hanging(table: TableName, id: string): RowsByTable {
    const found: Record<string, DeskRow[]> = {}
    for (const name of tableNames) {
      for (const [column, rule] of Object.entries(workspaceTables[name].references)) {
        const rows = rule.table === table ? this.of(name).filter((row) => row[column] === id) : []
        const deeper = rows.map((row) => (rule.whenGone === "goes" ? this.#hanging(name, String(row.id)) : {}))
        for (const [other, theirs] of [[name, rows] as const, ...deeper.flatMap((each) => Object.entries(each))])
          if (theirs.length > 0) found[other] = [...(found[other] ?? []), ...(theirs as DeskRow[])]
      }
    }
    return found as unknown as RowsByTable
  }
}

function fits(table: TableName, row: DeskRow, filters: DeviceFilters): boolean {
  const { equals, searched, hides, due } = workspaceTables[table]
  const asked = filters as Record<string, unknown>
  const zone = filters.timeZone ?? "UTC"
  const at = due && row[due] != null ? startOf(row[due], zone) : Number.NaN
  return (
    equals.every((column) => asked[column] == null || row[column] === asked[column]) &&
    searched.some((column) =>
      String(row[column] ?? "")
        .toLowerCase()
        .includes((filters.search ?? "").toLowerCase()),
    ) &&
    (!hides || filters.includeArchived === true || filters.status != null || row[hides.column] !== hides.value) &&
    (filters.dueDateFrom == null || at >= startOf(filters.dueDateFrom, zone)) &&
    (filters.dueDateTo == null || at <= endOf(filters.dueDateTo, zone))
  )
}

/** Sunday evening, half past six in Berlin. */
export const SUNDAY = Date.UTC(2026, 10, 15, 17, 30)

export const contextAt = (more: Record<string, unknown> = {}) => ({
  user: newId("user"),
  conversation: newId("conv"),
  callId: newId("call"),
  site: "server" as const,
  deviceId: null,
  connectionId: null,
  signal: new AbortController().signal,
  now: SUNDAY,
  calledAt: SUNDAY,
  timeZone: "Europe/Berlin",
  state: {},
  model: () => Promise.reject(new Error("not asked for")),
  ...more,
})

/** The workspace's tools over a workspace in memory, called as the loop does: arguments are validated first. */
export function openMemory() {
  const memory = new Memory()
  const { tools } = workspaceAgent(() => memory.workspace)
  const find = (name: string): Extract<Tool, { effect: "write" }> => {
    const tool = tools.find(name)
    if (!tool) throw new Error(`there is no ${name}`)
    return tool as Extract<Tool, { effect: "write" }>
  }
  const read = async (name: string, input: Record<string, unknown>) => {
    const parsed = await parse(find(name).input, input)
    if ("problem" in parsed) throw new Error(parsed.problem)
    return parsed.value
  }
  return {
    memory,
    tools,
    tool: find,
    call: async (name: string, input: Record<string, unknown> = {}, at = contextAt()) =>
      find(name).run(await read(name, input), at),
    preview: async (name: string, input: Record<string, unknown>, at = contextAt()) => {
      const shown = await find(name).preview?.(await read(name, input), at)
      if (!shown) throw new Error(`${name} must show what it would do`)
      return shown
    },
  }
}
