import { describe, expect, test } from "vitest"
import { CallOutcome } from "../../core/protocol/socket.ts"
import { tableNames, workspaceTables } from "../../core/protocol/workspace-tables.ts"
import { LocalDevice } from "./local-device.fixture.ts"

const everyTable = tableNames.map((table) => ({ table }))

/** The minimal valid row of each table, with the rows it refers to. */
async function sampleOf(device: LocalDevice, table: string): Promise<Record<string, unknown>> {
  switch (table) {
    case "tasks":
      return { title: "Buy milk" }
    case "projects":
      return { name: "House" }
    case "checkpoints":
      return { projectId: (await device.insert("projects", { name: "House" })).id, title: "Roof", date: 5 }
    case "notes":
      return { title: "Colours", content: "**blue**" }
    case "taskComments":
      return { taskId: (await device.insert("tasks", { title: "x" })).id, author: "Ada", content: "Soon" }
    default:
      return { name: "Acme" }
  }
}

describe.each(everyTable)("$table", ({ table }) => {
  test("store the given columns, with an id and times of the device", async () => {
    using device = new LocalDevice()
    const data = await sampleOf(device, table)
    const row = await device.insert(table, data)
    const { prefix, row: schema } = workspaceTables[table]
    expect(schema.strict().parse(row)).toEqual(row)
    expect(row).toMatchObject({ ...data, createdAt: device.now })
    expect(row.id).toMatch(new RegExp(`^${prefix}_`))
    expect(await device.does("get", { table, data: { id: row.id } })).toEqual({ row })
    expect(await device.does("select", { table })).toEqual({ rows: [row] })
  })

  test("are changed by an update, deleted once, and restored under their id", async () => {
    using device = new LocalDevice()
    const row = await device.insert(table, await sampleOf(device, table))
    const [column] = workspaceTables[table].searched
    const id = row.id
    device.now++
    const { row: changed } = await device.does("update", { table, data: { id, updates: { [column!]: "other" } } })
    const touched = table === "notes" ? { updatedAt: device.now } : {}
    expect(changed).toEqual({ ...row, [column!]: "other", ...touched })
    const gone = await device.does("delete", { table, data: { id } })
    expect(gone).toEqual({ deleted: true, row: changed, with: {} })
    expect(await device.does("get", { table, data: { id } })).toEqual({ row: null })
    expect(await device.does("delete", { table, data: { id } })).toEqual({ deleted: false })
    expect(await device.does("restore", { table, data: { rows: [changed!], with: {} } })).toEqual({ rows: [changed] })
    expect(await device.does("get", { table, data: { id } })).toEqual({ row: changed })
    expect(await device.refusal("restore", { table, data: { rows: [changed!] } })).toContain(`${id} is there already`)
  })

  test("refuse columns that they do not have, and those that the device sets", async () => {
    using device = new LocalDevice()
    const data = await sampleOf(device, table)
    const { id } = await device.insert(table, data)
    const hostile = `title" = 1; DROP TABLE ${table}; --`
    expect(await device.refusal("insert", { table, data: { ...data, [hostile]: "x" } })).toContain("Unrecognized key")
    expect(await device.refusal("insert", { table, data: { ...data, id: "mine" } })).toContain("made by the workspace")
    const updates = [{ [hostile]: "x" }, { id: "other" }, { createdAt: 1 }]
    for (const update of updates) await device.refusal("update", { table, data: { id, updates: update } })
    expect(await device.refusal("select", { table, filters: { [hostile]: "x" } as object })).toContain(table)
    expect(await device.refusal("select", { table, filters: { orderBy: hostile } })).toContain("orderBy")
    expect(await device.does("select", { table })).toMatchObject({ rows: [{ id }] })
  })

  test("are changed only while they hold the expected values", async () => {
    using device = new LocalDevice()
    const row = await device.insert(table, await sampleOf(device, table))
    const [column = ""] = workspaceTables[table].searched
    const change = (value: string, expected: unknown) =>
      device.offer("update", {
        table,
        data: { id: row.id, updates: { [column]: value }, expect: { [column]: expected } },
      })
    expect(await change("first", row[column])).toMatchObject({ row: { [column]: "first" } })
    const late = await change("second", row[column])
    expect(late).toEqual({ error: expect.stringMatching(new RegExp(`^stale: ${column} .*${row.id}`)) })
    expect(await device.does("get", { table, data: { id: row.id } })).toMatchObject({ row: { [column]: "first" } })
  })
})

describe("select", () => {
  test("filters, searches case-insensitively, and orders", async () => {
    using device = new LocalDevice()
    const { id: projectId } = await device.insert("projects", { name: "House" })
    const tasks = [
      { title: "Öl kaufen", priority: "low", dueDate: 30, projectId },
      { title: "buy milk", priority: "high", status: "done" },
      { title: "Ask Ada", priority: "medium", dueDate: 10, description: "about the MILK" },
    ]
    for (const task of tasks) await device.insert("tasks", task)
    const titles = async (filters: object) =>
      (await device.does("select", { table: "tasks", filters })).rows?.map(({ title }) => title)
    expect(await titles({})).toEqual(["Öl kaufen", "buy milk", "Ask Ada"])
    expect(await titles({ projectId })).toEqual(["Öl kaufen"])
    expect(await titles({ projectId: null, status: "done" })).toEqual(["buy milk"])
    expect(await titles({ search: "milk" })).toEqual(["buy milk", "Ask Ada"])
    expect(await titles({ search: "öL" })).toEqual(["Öl kaufen"])
    expect(await titles({ search: "%" })).toEqual([])
    expect(await titles({ orderBy: "dueDate" })).toEqual(["Ask Ada", "Öl kaufen", "buy milk"])
    expect(await titles({ orderBy: "priority" })).toEqual(["buy milk", "Ask Ada", "Öl kaufen"])
    expect(await titles({ orderBy: "title" })).toEqual(["Ask Ada", "buy milk", "Öl kaufen"])
    expect(await titles({ dueDateFrom: 10, dueDateTo: 29 })).toEqual(["Ask Ada"])
    expect(await titles({ dueDateTo: 30 })).toEqual(["Öl kaufen", "Ask Ada"])
    expect(await device.refusal("select", { table: "tasks", filters: { taskId: "x" } })).toContain("taskId")
    expect(await device.refusal("select", { table: "tasks", filters: { status: "lost" } })).toContain("todo")
  })

  test("omits archived projects unless they are requested", async () => {
    using device = new LocalDevice()
    const { id: clientId } = await device.insert("clients", { name: "Acme" })
    await device.insert("projects", { name: "old", status: "archived", clientId })
    await device.insert("projects", { name: "new" })
    const names = async (filters: object) =>
      (await device.does("select", { table: "projects", filters })).rows?.map(({ name }) => name)
    expect(await names({})).toEqual(["new"])
    expect(await names({ includeArchived: false, clientId })).toEqual([])
    expect(await names({ includeArchived: true })).toEqual(["old", "new"])
    expect(await names({ status: "archived" })).toEqual(["old"])
  })

  test("answers with a sentence if the rows exceed a frame", async () => {
    using device = new LocalDevice()
    for (let i = 0; i < 12; i++) await device.insert("notes", { title: `${i}`, content: "x".repeat(100_000) })
    expect(await device.refusal("select", { table: "notes" })).toContain("ask for less")
    expect((await device.does("select", { table: "notes", filters: { search: "11" } })).rows).toHaveLength(1)
  })
})

describe("a delete includes the rows that reference the row, and an undo restores them", () => {
  test("a project with its tasks, their comments, its checkpoints and notes", async () => {
    using device = new LocalDevice()
    const project = await device.insert("projects", { name: "House" })
    const other = await device.insert("tasks", { title: "stays" })
    const task = await device.insert("tasks", { title: "Roof", projectId: project.id })
    const comment = await device.insert("taskComments", { taskId: task.id, author: "Ada", content: "Soon" })
    const checkpoint = await device.insert("checkpoints", { projectId: project.id, title: "Done", date: 5 })
    const note = await device.insert("notes", { projectId: project.id, title: "n", content: "c" })
    await device.does("vector_upsert", { data: { id: note.id, projectId: project.id, content: "c" }, vector: [1, 0] })
    const gone = await device.does("delete", { table: "projects", data: { id: project.id } })
    expect(CallOutcome.parse(gone)).toEqual({
      deleted: true,
      row: project,
      with: { tasks: [task], taskComments: [comment], checkpoints: [checkpoint], notes: [note] },
    })
    expect(await device.does("select", { table: "tasks" })).toEqual({ rows: [other] })
    for (const table of ["projects", "taskComments", "checkpoints", "notes", "pawlVector"])
      expect(device.rows(table)).toEqual([])
    await device.does("restore", { table: "projects", data: { rows: [gone.row!], with: gone.with! } })
    const again = await device.does("delete", { table: "projects", data: { id: project.id } })
    expect(again).toEqual(gone)
  })

  test("but a client that has projects or clients of its own stays", async () => {
    using device = new LocalDevice()
    const parent = await device.insert("clients", { name: "Acme" })
    const child = await device.insert("clients", { name: "Acme North", parentId: parent.id })
    const project = await device.insert("projects", { name: "House", clientId: child.id })
    const remove = (table: string, id: string) => device.offer("delete", { table, data: { id } })
    expect(await remove("clients", parent.id)).toEqual({ error: expect.stringContaining("still has 1 client(s)") })
    expect(await remove("clients", child.id)).toEqual({ error: expect.stringContaining("still has 1 project(s)") })
    for (const [table, id] of [
      ["projects", project.id],
      ["clients", child.id],
      ["clients", parent.id],
    ] as const)
      expect(await remove(table, id)).toMatchObject({ deleted: true })
  })

  test("or nothing is deleted if the deleted rows exceed one frame", async () => {
    using device = new LocalDevice()
    const { id } = await device.insert("projects", { name: "Books" })
    for (let i = 0; i < 12; i++)
      await device.insert("notes", { title: `${i}`, content: "x".repeat(100_000), projectId: id })
    expect(await device.refusal("delete", { table: "projects", data: { id } })).toContain("ask for less")
    expect(device.rows("notes")).toHaveLength(12)
    expect(device.rows("projects")).toHaveLength(1)
  })

  test("and no row is restored without the row it belongs to", async () => {
    using device = new LocalDevice()
    const task = await device.insert("tasks", { title: "x" })
    const comment = await device.insert("taskComments", { taskId: task.id, author: "Ada", content: "Soon" })
    await device.does("delete", { table: "tasks", data: { id: task.id } })
    const refused = await device.refusal("restore", { table: "taskComments", data: { rows: [comment] } })
    expect(refused).toContain(`no task ${task.id}`)
    expect(device.rows("taskComments")).toEqual([])
  })
})

describe("invalid input is refused with a sentence", () => {
  test.each<[action: string, more: object, sentence: string]>([
    ["select", { table: "secrets" }, 'no table "secrets". There are: tasks, projects'],
    ["select", { table: 'tasks" --' }, "no table"],
    ["select", { table: "__proto__" }, "no table"],
    ["select", {}, "needs the name of a table"],
    ["toString", { table: "tasks" }, 'cannot do "toString"'],
    ["drop", { table: "tasks" }, "It can: select, get"],
    ["get", { table: "tasks", data: {} }, "id"],
    ["get", { table: "tasks", data: { id: 5 } }, "id"],
    ["insert", { table: "tasks" }, "title"],
    ["insert", { table: "tasks", data: { title: "x", status: "later" } }, "status"],
    ["insert", { table: "tasks", data: { title: "x", projectId: "proj_none" } }, "no project proj_none"],
    [
      "insert",
      { table: "taskComments", data: { taskId: "task_none", author: "a", content: "c" } },
      "no task task_none",
    ],
    ["update", { table: "tasks", data: { id: "task_none", updates: { title: "x" } } }, "no task task_none"],
    ["restore", { table: "tasks", data: { rows: [{ id: "t" }] } }, "tasks"],
    ["restore", { table: "tasks", data: { rows: [], with: { pawlCall: [{ id: "t" }] } } }, "no table"],
    ["vector_upsert", { data: { id: "n", content: "c" }, vector: [] }, "vector"],
    ["vector_upsert", { data: { id: "n", content: "c" }, vector: [1e39] }, "vector"],
    ["vector_search", { vector: [1], limit: 0 }, "limit"],
    ["vector_search", { table: "tasks", vector: [1] }, "works on notes"],
    ["vector_search", { vector: [1], filters: { status: "x" } }, "status"],
  ])("%s %o", async (action, more, sentence) => {
    using device = new LocalDevice()
    expect(await device.refusal(action, more)).toContain(sentence)
    for (const table of [...tableNames, "pawlVector"]) expect(device.rows(table)).toEqual([])
  })

  test("but text that cannot be stored is repaired", async () => {
    using device = new LocalDevice()
    expect(await device.insert("tasks", { title: "a\0b\ud800" })).toMatchObject({ title: "a\ufffdb\ufffd" })
  })
})

describe("notes are found by meaning", () => {
  const upsert = (device: LocalDevice, id: string, vector: number[], projectId: string | null = null) =>
    device.does("vector_upsert", { data: { id, projectId, content: `about ${id}` }, vector })
  const search = async (device: LocalDevice, vector: number[], more: object = {}) =>
    (await device.does("vector_search", { vector, ...more })).results

  test("the nearest first, whatever their length, up to the limit", async () => {
    using device = new LocalDevice()
    await upsert(device, "east", [10, 0])
    await upsert(device, "north", [0, 0.1])
    await upsert(device, "north-east", [1, 1])
    await upsert(device, "nowhere", [0, 0])
    const found = await search(device, [2, 0], { limit: 3 })
    expect(found?.map(({ id }) => id)).toEqual(["east", "north-east", "north"])
    expect(found?.map(({ score }) => Math.round(score * 1000))).toEqual([1000, 707, 0])
    expect(found?.[0]?.content).toBe("about east")
  })

  test("only those of the same embedder, the newest content, and no deleted ones", async () => {
    using device = new LocalDevice()
    await upsert(device, "a", [1, 0])
    await upsert(device, "b", [1, 0, 0])
    await upsert(device, "c", [1, 0])
    await upsert(device, "c", [0, 1])
    await device.does("vector_delete", { data: { id: "a" } })
    expect(await search(device, [0, 1])).toEqual([{ id: "c", content: "about c", score: 1 }])
  })

  test("of one project, also after the note was moved there", async () => {
    using device = new LocalDevice()
    const { id: house } = await device.insert("projects", { name: "House" })
    const { id: garden } = await device.insert("projects", { name: "Garden" })
    const note = await device.insert("notes", { title: "n", projectId: house })
    await upsert(device, note.id, [1, 0], house)
    await upsert(device, "elsewhere", [1, 0], house)
    await device.does("update", { table: "notes", data: { id: note.id, updates: { projectId: garden } } })
    const inProject = async (projectId: string) =>
      (await search(device, [1, 0], { filters: { projectId } }))?.map(({ id }) => id)
    expect(await inProject(garden)).toEqual([note.id])
    expect(await inProject(house)).toEqual(["elsewhere"])
  })
})

test("a day is stored with a moment for the person's programs, and is valid until one of them changes it", async () => {
  using device = new LocalDevice()
  const { id } = await device.insert("tasks", { title: "Roof", dueDate: "2026-11-20" })
  expect(device.rows("tasks")).toMatchObject([{ dueDate: Date.UTC(2026, 10, 20, 12), dueDay: "2026-11-20" }])
  expect(await device.does("get", { table: "tasks", data: { id } })).toMatchObject({ row: { dueDate: "2026-11-20" } })
  device.db.prepare(`UPDATE "tasks" SET "dueDate" = 5`).run()
  const { row } = await device.does("get", { table: "tasks", data: { id } })
  expect(row).toMatchObject({ dueDate: 5 })
  expect(row).not.toHaveProperty("dueDay")
})
