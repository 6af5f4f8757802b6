import { describe, expect, test } from "vitest"
import { newId } from "../../core/protocol/ids.ts"
import type { DeviceFilters } from "../../core/protocol/socket.ts"
import type { AnyRow, RowsByTable, Workspace, WorkspaceWrite } from "../../core/protocol/workspace.ts"
import { type TableName, tableNames, workspaceTables } from "../../core/protocol/workspace-tables.ts"

type Columns = Readonly<Record<string, unknown>>
type Stored = AnyRow & Columns

/** A workspace with short methods for what tests do with it. */
export class Desk {
  readonly workspace: Workspace
  /** Whether a delete compares, in its transaction, that what goes along is what was shown; an older device does not support that. */
  readonly comparesAlong: boolean

  constructor(workspace: Workspace, { comparesAlong = true } = {}) {
    this.workspace = workspace
    this.comparesAlong = comparesAlong
  }

  apply = (write: WorkspaceWrite, call = newId("call")) => this.workspace.write(write, call)

  async insert(table: TableName, data: Columns): Promise<Stored> {
    return (await this.apply({ action: "insert", table, data })).after as Stored
  }

  update = (table: TableName, id: string, updates: Columns, expect?: Columns) =>
    this.apply({ action: "update", table, id, updates, ...(expect ? { expect } : {}) })

  delete = (table: TableName, id: string, expect?: Columns) =>
    this.apply({ action: "delete", table, id, ...(expect ? { expect } : {}) })

  restore = (table: TableName, rows: readonly AnyRow[], others: RowsByTable = {}) =>
    this.apply({ action: "restore", table, rows, with: others })

  async all(table: TableName): Promise<Stored[]> {
    const filters: DeviceFilters = workspaceTables[table].hides ? { includeArchived: true } : {}
    return (await this.workspace.select(table, filters)) as Stored[]
  }

  /** Selects rows, and returns one column of them. */
  async column(table: TableName, column: string, filters: DeviceFilters = {}): Promise<unknown[]> {
    return ((await this.workspace.select(table, filters)) as Stored[]).map((row) => row[column])
  }

  /** All rows, by table. */
  async everything(): Promise<Columns> {
    const rows: Record<string, Stored[]> = {}
    for (const table of tableNames) rows[table] = await this.all(table)
    return rows
  }
}

/** The fields that a row of each table requires, once its parents exist. */
async function least(desk: Desk, table: TableName): Promise<Columns> {
  switch (table) {
    case "tasks":
      return { title: "Buy milk" }
    case "projects":
      return { name: "House" }
    case "checkpoints":
      return { projectId: (await desk.insert("projects", { name: "House" })).id, title: "Roof", date: 5 }
    case "notes":
      return { title: "Colours" }
    case "taskComments":
      return { taskId: (await desk.insert("tasks", { title: "x" })).id, author: "Ada", content: "Soon" }
    case "clients":
      return { name: "Acme" }
  }
}

/** A value other than the default in every column. */
async function most(desk: Desk, table: TableName): Promise<Columns> {
  const project = async () => (await desk.insert("projects", { name: "Garden" })).id
  const text = `Ring 'Ada' – "now" 🔔 50%_\\ ${table}`
  switch (table) {
    case "tasks":
      return {
        ...{ projectId: await project(), title: text, description: `${text}\n\n?`, status: "in_progress" },
        ...{ priority: "high", assignee: '["Ada","Bob"]', dueDate: 1_800_000_000_000, isAiSuggested: 1, isApproved: 0 },
      }
    case "projects": {
      const { id: clientId } = await desk.insert("clients", { name: "Acme" })
      return { clientId, name: text, status: "archived", aiSummary: text }
    }
    case "checkpoints":
      return { projectId: await project(), title: text, date: -1, isAiSuggested: 1, isApproved: 0 }
    case "notes":
      return { projectId: await project(), title: text, content: `# ${text}` }
    case "taskComments":
      return { ...(await least(desk, table)), author: text, content: text }
    case "clients":
      return { parentId: (await desk.insert("clients", { name: "Acme" })).id, name: text, industry: text }
  }
}

const everyTable = tableNames.map((table) => ({ table }))
const hostile = `title" = 1; DROP TABLE tasks; --`

/** The behaviour that every workspace shares, in a database or on a device. An implementation that differs fails here. */
export function describeWorkspace(name: string, open: () => Promise<Desk & AsyncDisposable>): void {
  describe(`a workspace ${name}`, () => {
    describe.each(everyTable)("$table", ({ table }) => {
      const { prefix, row: schema, made, defaults, searched } = workspaceTables[table]
      const [text = ""] = searched

      test("store what they are given, and add ids, times and defaults", async () => {
        await using desk = await open()
        const data = await least(desk, table)
        const row = await desk.insert(table, data)
        expect(schema.strict().parse(row)).toEqual(row)
        expect(row).toMatchObject({ ...defaults, ...data })
        expect(row.id).toMatch(new RegExp(`^${prefix}_`))
        expect(await desk.workspace.get(table, row.id)).toEqual(row)
        expect((await desk.all(table)).find(({ id }) => id === row.id)).toEqual(row)
      })

      test("return every column as it was written", async () => {
        await using desk = await open()
        const data = await most(desk, table)
        expect(Object.keys(data).sort()).toEqual(
          Object.keys(schema.shape)
            .filter((key) => !made.includes(key))
            .sort(),
        )
        const row = await desk.insert(table, data)
        expect(row).toMatchObject(data)
        expect(await desk.workspace.get(table, row.id)).toEqual(row)
      })

      test("change only the columns that an update names, and an empty update changes nothing", async () => {
        await using desk = await open()
        const [row, other] = [
          await desk.insert(table, await most(desk, table)),
          await desk.insert(table, await least(desk, table)),
        ]
        const { before, after } = await desk.update(table, row.id, { [text]: "other" })
        expect(before).toEqual(row)
        const touched = table === "notes" ? { updatedAt: expect.any(Number) } : {}
        expect(after).toEqual({ ...row, [text]: "other", ...touched })
        expect(await desk.workspace.get(table, row.id)).toEqual(after)
        expect(await desk.workspace.get(table, other.id)).toEqual(other)
        expect(await desk.update(table, row.id, {})).toMatchObject({ before: after, after })
        expect(await desk.workspace.get(table, row.id)).toEqual(after)
      })

      test("are deleted, and put back as they were under their old id, once", async () => {
        await using desk = await open()
        const row = await desk.insert(table, await most(desk, table))
        const gone = await desk.delete(table, row.id)
        expect(gone).toMatchObject({ action: "delete", table, before: row, after: null, with: {} })
        expect(await desk.workspace.get(table, row.id)).toBeUndefined()
        const back = await desk.restore(table, [row])
        expect(back).toMatchObject({ action: "restore", table, before: null, after: row })
        expect(await desk.workspace.get(table, row.id)).toEqual(row)
        await expect(desk.restore(table, [{ ...row, [text]: "another" }])).rejects.toThrow(`${row.id} is there already`)
        expect(await desk.workspace.get(table, row.id)).toEqual(row)
      })

      test("refuse unknown columns, columns that the workspace sets, and invalid values", async () => {
        await using desk = await open()
        const data = await least(desk, table)
        const row = await desk.insert(table, data)
        const before = await desk.everything()
        const refused = { code: "bad_request" }
        const bad: Columns[] = [
          ...[
            { [hostile]: "x" },
            { __proto__x: 1 },
            { [text]: 5 },
            { [text]: null, name: null, title: null, content: null },
          ],
          ...made.map((column) => ({ [column]: "1" })),
        ]
        for (const columns of bad) {
          await expect(desk.insert(table, { ...data, ...columns }), JSON.stringify(columns)).rejects.toMatchObject(
            refused,
          )
          await expect(desk.update(table, row.id, columns), JSON.stringify(columns)).rejects.toMatchObject(refused)
        }
        await expect(desk.update(table, row.id, { [text]: "x" }, { [hostile]: "x" })).rejects.toMatchObject(refused)
        await expect(desk.insert(table, {})).rejects.toMatchObject(refused)
        await expect(desk.restore(table, [{ id: row.id } as AnyRow])).rejects.toMatchObject(refused)
        await expect(desk.restore(table, [{ ...row, id: "new", more: 1 } as unknown as AnyRow])).rejects.toMatchObject(
          refused,
        )
        expect(await desk.everything()).toEqual(before)
      })

      test("are changed and deleted only while they have the expected values", async () => {
        await using desk = await open()
        const row = await desk.insert(table, await least(desk, table))
        await desk.update(table, row.id, { [text]: "first" }, row)
        const stale = { code: "row_stale", message: expect.stringContaining(row.id) }
        await expect(desk.update(table, row.id, { [text]: "second" }, { [text]: row[text] })).rejects.toMatchObject(
          stale,
        )
        await expect(desk.delete(table, row.id, { [text]: row[text] })).rejects.toMatchObject(stale)
        expect(await desk.workspace.get(table, row.id)).toMatchObject({ [text]: "first" })
        await desk.delete(table, row.id, { [text]: "first" })
        expect(await desk.workspace.get(table, row.id)).toBeUndefined()
      })

      test("have no row for an unknown id", async () => {
        await using desk = await open()
        const missing = { code: "row_missing", message: expect.stringContaining("none_there") }
        expect(await desk.workspace.get(table, "none_there")).toBeUndefined()
        expect(await desk.workspace.hanging(table, "none_there")).toEqual({})
        await expect(desk.update(table, "none_there", { [text]: "x" })).rejects.toMatchObject(missing)
        await expect(desk.delete(table, "none_there")).rejects.toMatchObject(missing)
        await expect(desk.workspace.get(table, "")).rejects.toMatchObject({ code: "bad_request" })
      })

      test("apply each call once, and remember its outcome", async () => {
        await using desk = await open()
        const row = await desk.insert(table, await least(desk, table))
        const data = await least(desk, table)
        const writes: WorkspaceWrite[] = [
          { action: "insert", table, data },
          { action: "update", table, id: row.id, updates: { [text]: "once" }, expect: { [text]: row[text] } },
          { action: "delete", table, id: row.id },
          { action: "restore", table, rows: [row], with: {} },
        ]
        for (const write of writes) {
          const call = newId("call")
          const first = await desk.apply(write, call)
          const after = await desk.everything()
          expect(await desk.apply(write, call), write.action).toEqual(first)
          expect(await desk.workspace.outcome(call, write), write.action).toEqual(first)
          expect(await desk.everything()).toEqual(after)
        }
        expect(await desk.workspace.outcome(newId("call"), { action: "insert", table })).toBeUndefined()
      })

      test("refuse unknown filters and orders; null is the same as absent", async () => {
        await using desk = await open()
        const { equals, due, hides, orders } = workspaceTables[table]
        const row = await desk.insert(table, await least(desk, table))
        const known = [...equals, ...(due ? ["dueDateFrom", "dueDateTo"] : []), ...(hides ? ["includeArchived"] : [])]
        const nothing = Object.fromEntries([...known, "search", "orderBy"].map((key) => [key, null]))
        expect(await desk.column(table, "id", nothing as DeviceFilters)).toContain(row.id)
        const all = [
          "projectId",
          "status",
          "taskId",
          "clientId",
          "parentId",
          "dueDateFrom",
          "dueDateTo",
          "includeArchived",
        ]
        const foreign = [...all.filter((key) => !known.includes(key)), hostile, "id", "person"]
        for (const key of foreign)
          await expect(desk.workspace.select(table, { [key]: "x" }), key).rejects.toMatchObject({ code: "bad_request" })
        for (const orderBy of [hostile, "id", "person", "rowid"])
          await expect(desk.workspace.select(table, { orderBy })).rejects.toMatchObject({ code: "bad_request" })
        for (const orderBy of orders) expect(await desk.column(table, "id", { orderBy })).toContain(row.id)
      })
    })

    describe("finds", () => {
      test("tasks by project, state, due date and text in upper or lower case", async () => {
        await using desk = await open()
        const { id: projectId } = await desk.insert("projects", { name: "House" })
        await desk.insert("tasks", { title: "Öl kaufen", priority: "low", dueDate: 30, projectId })
        await desk.insert("tasks", { title: "buy milk", priority: "high", status: "done" })
        await desk.insert("tasks", { title: "Ask Ada", dueDate: 10, description: "about the MILK" })
        const titles = (filters: DeviceFilters) => desk.column("tasks", "title", filters)
        expect(await titles({})).toEqual(["Öl kaufen", "buy milk", "Ask Ada"])
        expect(await titles({ projectId })).toEqual(["Öl kaufen"])
        expect(await titles({ projectId: "proj_none" })).toEqual([])
        expect(await titles({ projectId: null, status: "done" })).toEqual(["buy milk"])
        expect(await titles({ search: "milk" })).toEqual(["buy milk", "Ask Ada"])
        expect(await titles({ search: " öL " })).toEqual(["Öl kaufen"])
        expect(await titles({ search: "%" })).toEqual([])
        expect(await titles({ search: "milk", status: "todo" })).toEqual(["Ask Ada"])
        expect(await titles({ dueDateFrom: 10, dueDateTo: 29 })).toEqual(["Ask Ada"])
        expect(await titles({ dueDateFrom: 11 })).toEqual(["Öl kaufen"])
        expect(await titles({ dueDateTo: 30 })).toEqual(["Öl kaufen", "Ask Ada"])
        expect(await titles({ orderBy: "title" })).toEqual(["Ask Ada", "buy milk", "Öl kaufen"])
        expect(await titles({ orderBy: "priority" })).toEqual(["buy milk", "Ask Ada", "Öl kaufen"])
        expect(await titles({ orderBy: "dueDate" })).toEqual(["Ask Ada", "Öl kaufen", "buy milk"])
        expect(await titles({ orderBy: "createdAt" })).toEqual(["Öl kaufen", "buy milk", "Ask Ada"])
        await expect(titles({ status: "lost" })).rejects.toMatchObject({ code: "bad_request" })
      })

      test("days and timestamps together: a day is the same everywhere, and starts in the time zone of the query", async () => {
        await using desk = await open()
        const { id: projectId } = await desk.insert("projects", { name: "House" })
        const due = async (title: string, dueDate: string | number) => desk.insert("tasks", { title, dueDate })
        const noon = Date.UTC(2026, 10, 20, 12)
        const row = await due("the 20th", "2026-11-20")
        expect(row.dueDate).toBe("2026-11-20")
        await due("noon in London", noon)
        await due("the 19th", "2026-11-19")
        await due("the 21st", "2026-11-21")
        await due("midnight in Los Angeles", Date.UTC(2026, 10, 20, 8))
        const on = (day: string, timeZone: string) =>
          desk.column("tasks", "title", { dueDateFrom: day, dueDateTo: day, timeZone, orderBy: "dueDate" })
        expect(await on("2026-11-20", "America/Los_Angeles")).toEqual([
          ...["the 20th", "midnight in Los Angeles", "noon in London"],
        ])
        expect(await on("2026-11-20", "Pacific/Kiritimati")).toEqual(["the 20th", "midnight in Los Angeles"])
        expect(await on("2026-11-21", "Pacific/Kiritimati")).toEqual(["the 21st", "noon in London"])
        expect(await on("2026-11-19", "Pacific/Kiritimati")).toEqual(["the 19th"])
        const timeZone = "America/Los_Angeles"
        // Timestamps can select days too, as before: by the midnight with which a day starts.
        const from = Date.UTC(2026, 10, 20, 8)
        const asked = { dueDateFrom: from, dueDateTo: from + 86_399_999, timeZone }
        expect(await desk.column("tasks", "title", asked)).toHaveLength(3)
        expect(await desk.column("tasks", "title", { dueDateTo: "2026-11-19", timeZone })).toEqual(["the 19th"])
        expect(await desk.column("tasks", "title", { dueDateFrom: "2026-11-21", timeZone })).toEqual(["the 21st"])

        const expected = { dueDate: "2026-11-20" }
        await desk.update("tasks", row.id, { dueDate: noon }, expected)
        await expect(desk.update("tasks", row.id, { title: "x" }, expected)).rejects.toMatchObject({
          code: "row_stale",
        })
        expect(await desk.workspace.get("tasks", row.id)).toMatchObject({ dueDate: noon })
        await desk.update("tasks", row.id, { dueDate: "2026-11-20" }, { dueDate: noon })
        const { before } = await desk.delete("tasks", row.id)
        await desk.restore("tasks", [before as AnyRow])
        expect(await desk.workspace.get("tasks", row.id)).toEqual(row)
        await desk.update("tasks", row.id, { dueDate: null })
        expect(await desk.workspace.get("tasks", row.id)).toMatchObject({ dueDate: null })

        await desk.insert("checkpoints", { projectId, title: "late", date: Date.UTC(2027, 2, 14, 23) })
        await desk.insert("checkpoints", { projectId, title: "day", date: "2027-03-14" }) // clocks are turned in it
        expect(await desk.column("checkpoints", "date", { orderBy: "date", timeZone })).toEqual([
          ...["2027-03-14", Date.UTC(2027, 2, 14, 23)],
        ])
        for (const dueDate of ["2026-02-29", "2026-11-31", "20 November", "2026-11-20T10:00", "0000-01-01", ""])
          await expect(due("x", dueDate), dueDate).rejects.toMatchObject({ code: "bad_request" })
        for (const zone of ["Mars/Olympus", "+02:00"])
          await expect(on("2026-11-20", zone), zone).rejects.toMatchObject({ code: "bad_request" })
      })

      test("projects by client, without archived ones unless requested", async () => {
        await using desk = await open()
        const { id: clientId } = await desk.insert("clients", { name: "Acme" })
        await desk.insert("projects", { name: "old", status: "archived", clientId })
        await desk.insert("projects", { name: "New" })
        await desk.insert("projects", { name: "mine", clientId, aiSummary: "about the NEW roof" })
        const names = (filters: DeviceFilters) => desk.column("projects", "name", filters)
        expect(await names({})).toEqual(["New", "mine"])
        expect(await names({ clientId })).toEqual(["mine"])
        expect(await names({ clientId, includeArchived: false })).toEqual(["mine"])
        expect(await names({ clientId, includeArchived: true })).toEqual(["old", "mine"])
        expect(await names({ status: "archived" })).toEqual(["old"])
        expect(await names({ search: "new" })).toEqual(["New", "mine"])
        expect(await names({ includeArchived: true, orderBy: "name" })).toEqual(["mine", "New", "old"])
      })

      test("checkpoints, notes, comments and clients by their columns", async () => {
        await using desk = await open()
        const { id: projectId } = await desk.insert("projects", { name: "House" })
        const { id: elsewhere } = await desk.insert("projects", { name: "Garden" })
        for (const [title, date] of [
          ["Roof", 20],
          ["door", 10],
        ] as const)
          await desk.insert("checkpoints", { projectId, title, date })
        await desk.insert("checkpoints", { projectId: elsewhere, title: "Tree", date: 5 })
        const checkpoints = (filters: DeviceFilters) => desk.column("checkpoints", "title", filters)
        expect(await checkpoints({ projectId })).toEqual(["Roof", "door"])
        expect(await checkpoints({ orderBy: "date" })).toEqual(["Tree", "door", "Roof"])
        expect(await checkpoints({ projectId, orderBy: "title", search: "o" })).toEqual(["door", "Roof"])

        const first = await desk.insert("notes", { title: "b", content: "# Blue walls", projectId })
        await desk.insert("notes", { title: "A", content: "green" })
        await desk.update("notes", first.id, { content: "# Blue ceilings" })
        const notes = (filters: DeviceFilters) => desk.column("notes", "title", filters)
        expect(await notes({ projectId })).toEqual(["b"])
        expect(await notes({ search: "CEIL" })).toEqual(["b"])
        expect(await notes({ orderBy: "title" })).toEqual(["A", "b"])
        expect(await notes({ orderBy: "createdAt" })).toEqual(["b", "A"])

        const { id: taskId } = await desk.insert("tasks", { title: "x" })
        const { id: otherTask } = await desk.insert("tasks", { title: "y" })
        await desk.insert("taskComments", { taskId, author: "Ada", content: "Soon" })
        await desk.insert("taskComments", { taskId: otherTask, author: "Bob", content: "Never" })
        expect(await desk.column("taskComments", "content", { taskId })).toEqual(["Soon"])
        expect(await desk.column("taskComments", "content", { search: "bob" })).toEqual(["Never"])

        const { id: parentId } = await desk.insert("clients", { name: "beta", industry: "Roofs" })
        await desk.insert("clients", { name: "Alpha", parentId })
        expect(await desk.column("clients", "name", { orderBy: "name" })).toEqual(["Alpha", "beta"])
        expect(await desk.column("clients", "name", { search: "roof" })).toEqual(["beta"])
      })
    })

    describe("rows that belong together", () => {
      test("are refused without a parent", async () => {
        await using desk = await open()
        const client = await desk.insert("clients", { name: "Acme" })
        const project = await desk.insert("projects", { name: "House", clientId: client.id })
        const task = await desk.insert("tasks", { title: "Roof", projectId: project.id })
        const rows: [TableName, string, Columns, Stored][] = [
          ["tasks", "projectId", { title: "x" }, task],
          [
            "checkpoints",
            "projectId",
            { title: "x", date: 1 },
            await desk.insert("checkpoints", { projectId: project.id, title: "x", date: 1 }),
          ],
          ["notes", "projectId", { title: "x" }, await desk.insert("notes", { title: "x" })],
          [
            "taskComments",
            "taskId",
            { author: "a", content: "c" },
            await desk.insert("taskComments", { taskId: task.id, author: "a", content: "c" }),
          ],
          ["projects", "clientId", { name: "x" }, project],
          ["clients", "parentId", { name: "x" }, client],
        ]
        const before = await desk.everything()
        for (const [table, column, data, row] of rows) {
          const { noun } = workspaceTables[workspaceTables[table].references[column]!.table]
          const refused = { code: "bad_request", message: `There is no ${noun} none_there.` }
          await expect(desk.insert(table, { ...data, [column]: "none_there" })).rejects.toMatchObject(refused)
          await expect(desk.update(table, row.id, { [column]: "none_there" })).rejects.toMatchObject(refused)
          const lost = { ...row, id: `${row.id}x`, [column]: "none_there" } as AnyRow
          await expect(desk.restore(table, [lost])).rejects.toThrow(`There is no ${noun} none_there.`)
        }
        expect(await desk.everything()).toEqual(before)
      })

      test("form no circle: a client is never a part of itself", async () => {
        await using desk = await open()
        const top = await desk.insert("clients", { name: "top" })
        const middle = await desk.insert("clients", { name: "middle", parentId: top.id })
        const low = await desk.insert("clients", { name: "low", parentId: middle.id })
        for (const id of [top.id, low.id])
          await expect(desk.update("clients", top.id, { parentId: id })).rejects.toThrow("a part of itself")
        await desk.update("clients", low.id, { parentId: top.id })
        expect(await desk.column("clients", "parentId")).toEqual([null, top.id, top.id])
      })

      test("are deleted together, are shown before, and come back together", async () => {
        await using desk = await open()
        const project = await desk.insert("projects", { name: "House", status: "archived" })
        const stays = await desk.insert("tasks", { title: "stays" })
        const tasks = [
          await desk.insert("tasks", { title: "Roof", projectId: project.id }),
          await desk.insert("tasks", { title: "Door", projectId: project.id }),
        ]
        const comments = []
        for (const { id } of tasks)
          comments.push(await desk.insert("taskComments", { taskId: id, author: "Ada", content: "Soon" }))
        const along = {
          tasks,
          taskComments: comments,
          checkpoints: [await desk.insert("checkpoints", { projectId: project.id, title: "Done", date: 5 })],
          notes: [await desk.insert("notes", { projectId: project.id, title: "n", content: "c" })],
        }
        const before = await desk.everything()
        expect(await desk.workspace.hanging("projects", project.id)).toEqual(along)
        expect(await desk.workspace.hanging("tasks", tasks[0]!.id)).toEqual({ taskComments: [comments[0]] })
        const gone = await desk.delete("projects", project.id)
        expect(gone).toEqual({ action: "delete", table: "projects", before: project, after: null, with: along })
        expect(await desk.everything()).toEqual({ ...emptyTables, tasks: [stays] })
        const back = await desk.restore("projects", [project], gone.with)
        expect(back).toMatchObject({ after: project, with: along })
        for (const table of tableNames) {
          const byId = (rows: Stored[]) => [...rows].sort((a, b) => (a.id < b.id ? -1 : 1))
          expect(byId(await desk.all(table))).toEqual(byId(before[table] as Stored[]))
        }
        const shown = Object.fromEntries(Object.entries(along).map(([name, rows]) => [name, rows.map(({ id }) => id)]))
        const only = { action: "delete", table: "projects", id: project.id } as const
        const stale = { code: "row_stale", message: expect.stringContaining(project.id) }
        const others = [{}, { ...shown, tasks: [] }, { ...shown, notes: [...(shown.notes ?? []), "another"] }]
        for (const other of desk.comparesAlong ? others : [])
          await expect(desk.apply({ ...only, along: other }), JSON.stringify(other)).rejects.toMatchObject(stale)
        expect((await desk.apply({ ...only, along: shown })).with).toEqual(along)
      })

      test("are put back whole or not at all", async () => {
        await using desk = await open()
        const task = await desk.insert("tasks", { title: "Roof" })
        const comment = await desk.insert("taskComments", { taskId: task.id, author: "Ada", content: "Soon" })
        const there = await desk.insert("tasks", { title: "there" })
        const gone = await desk.delete("tasks", task.id)
        await expect(desk.restore("taskComments", [comment])).rejects.toThrow(`There is no task ${task.id}.`)
        await expect(desk.restore("tasks", [task, there], gone.with)).rejects.toThrow(`${there.id} is there already`)
        await expect(desk.restore("tasks", [task, task])).rejects.toThrow(`${task.id} is there already`)
        expect(await desk.everything()).toEqual({ ...emptyTables, tasks: [there] })
        await desk.restore("tasks", [task], gone.with)
        expect(await desk.all("taskComments")).toEqual([comment])
      })

      test("a client that has projects or clients of its own cannot be deleted, and the error says why", async () => {
        await using desk = await open()
        const parent = await desk.insert("clients", { name: "Acme" })
        const child = await desk.insert("clients", { name: "Acme North", parentId: parent.id })
        const project = await desk.insert("projects", { name: "House", clientId: child.id, status: "archived" })
        await desk.insert("tasks", { title: "x", projectId: project.id })
        expect(await desk.workspace.hanging("clients", child.id)).toEqual({ projects: [project] })
        expect(await desk.workspace.hanging("clients", parent.id)).toEqual({ clients: [child] })
        await expect(desk.delete("clients", parent.id)).rejects.toThrow("still has 1 client(s)")
        await expect(desk.delete("clients", child.id)).rejects.toThrow("still has 1 project(s)")
        for (const [table, id] of [
          ["projects", project.id],
          ["clients", child.id],
          ["clients", parent.id],
        ] as const)
          await desk.delete(table, id)
        expect(await desk.everything()).toEqual(emptyTables)
      })
    })

    describe("concurrent writers", () => {
      test("all get their row if each creates one", async () => {
        await using desk = await open()
        const made = await Promise.all(Array.from({ length: 12 }, (_, n) => desk.insert("tasks", { title: `${n}` })))
        expect(new Set(made.map(({ id }) => id)).size).toBe(12)
        expect((await desk.column("tasks", "title")).sort()).toEqual(made.map((row) => row.title).sort())
      })

      test("for one row: one finds what it expects, the others get a conflict", async () => {
        await using desk = await open()
        const { id } = await desk.insert("tasks", { title: "then" })
        const race = Array.from({ length: 6 }, (_, n) => desk.update("tasks", id, { title: `${n}` }, { title: "then" }))
        const ended = await Promise.allSettled(race)
        const [won, ...more] = ended.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []))
        expect(more).toEqual([])
        expect(ended.flatMap((end) => (end.status === "rejected" ? [end.reason.code] : []))).toEqual(
          Array(5).fill("row_stale"),
        )
        expect(await desk.workspace.get("tasks", id)).toEqual(won?.after)
      })

      test("leave no row without a parent", async () => {
        await using desk = await open()
        for (let round = 0; round < 3; round++) {
          const { id: projectId } = await desk.insert("projects", { name: "House" })
          const adding = Array.from({ length: 4 }, () => desk.insert("tasks", { title: "x", projectId }))
          const deleting = desk.delete("projects", projectId)
          await Promise.allSettled([...adding, deleting])
          await deleting
          expect(await desk.column("tasks", "projectId")).toEqual([])
        }
      })
    })

    test("notes are found by meaning, the nearest first, in their project, and not after they are deleted", async () => {
      await using desk = await open()
      const { id: projectId } = await desk.insert("projects", { name: "House" })
      const { id: elsewhere } = await desk.insert("projects", { name: "Garden" })
      const keep = async (title: string, numbers: number[], project: string | null) => {
        const note = await desk.insert("notes", { title, content: `about ${title}`, projectId: project })
        await desk.workspace.upsertVector(
          { id: note.id, projectId: project, content: `about ${title}` },
          vector(numbers),
        )
        return note
      }
      const vector = (numbers: number[]) => ({ embedder: "test", numbers })
      const east = await keep("east", [10, 0], projectId)
      const north = await keep("north", [0, 2], null)
      const found = async (numbers: number[], options = {}) => {
        const matches = await desk.workspace.nearest(vector(numbers), { limit: 10, ...options })
        return matches.map(({ content, score }) => `${content} ${score.toFixed(2)}`)
      }
      expect(await found([3, 4])).toEqual(["about north 0.80", "about east 0.60"])
      expect(await found([3, 4], { limit: 1 })).toEqual(["about north 0.80"])
      expect(await found([3, 4], { projectId })).toEqual(["about east 0.60"])
      await desk.update("notes", east.id, { projectId: elsewhere })
      expect(await found([3, 4], { projectId })).toEqual([])
      await desk.update("notes", north.id, { content: "about west" })
      await desk.workspace.upsertVector({ id: north.id, projectId: null, content: "about west" }, vector([-1, 0]))
      expect(await found([-1, 0], { limit: 1 })).toEqual(["about west 1.00"])
      await desk.delete("projects", elsewhere)
      await desk.delete("notes", north.id)
      expect(await found([3, 4])).toEqual([])
    })

    test("replaces characters that cannot be stored, and refuses an unknown table by name", async () => {
      await using desk = await open()
      expect(await desk.insert("tasks", { title: "a\0b\ud800" })).toMatchObject({ title: "a\ufffdb\ufffd" })
      for (const table of ["secrets", "__proto__", 'tasks" --'] as never[]) {
        const refused = { code: "bad_request", message: expect.stringContaining("There are: tasks") }
        await expect(desk.workspace.select(table)).rejects.toMatchObject(refused)
        await expect(desk.insert(table, { title: "x" })).rejects.toMatchObject(refused)
      }
    })
  })
}

const emptyTables = Object.fromEntries(tableNames.map((table) => [table, []]))
