import { describe, expect, test } from "vitest"
import { contextAt, openMemory, SUNDAY } from "../../test/workspace/in-memory-workspace.ts"

const HOUR = 3_600_000

/** Two projects, a client, and something in each table. */
function openFilled() {
  const world = openMemory()
  const { memory } = world
  memory.add("clients", { id: "c1", name: "Acme", industry: "Anvils" })
  memory.add("projects", { id: "p1", name: "Website", clientId: "c1", aiSummary: "A shop.\nFor anvils." })
  memory.add("projects", { id: "p2", name: "Old", status: "archived" })
  memory.add("tasks", { id: "t1", title: "Buy milk", priority: "high", dueDate: Date.UTC(2026, 10, 19, 23) })
  memory.add("tasks", { id: "t2", title: "Call Ada", status: "done", projectId: "p1", assignee: '["Ada","Bob"]' })
  memory.add("taskComments", { id: "m1", taskId: "t1", author: "Ada", content: "Two\nlitres" })
  memory.add("checkpoints", { id: "k1", projectId: "p1", title: "Launch", date: Date.UTC(2026, 10, 20, 16) })
  memory.add("notes", { id: "n1", title: "Deployment", content: "# Steps\n\nPush.", projectId: "p1" })
  return world
}

describe("results are sentences with the real data", () => {
  const milk = "- Buy milk (status: todo, priority: high, due: Friday 20 November 2026, id: t1)"
  const ada = "- Call Ada (status: done, priority: medium, assigned to: Ada, Bob, project: Website (p1), id: t2)"
  test.each<[string, Record<string, unknown>, string]>([
    ["list_tasks", {}, `Found 2 task(s):\n${milk}\n${ada}`],
    [
      "list_tasks",
      { status: null, project_id: null, search: null, order_by: null },
      `Found 2 task(s):\n${milk}\n${ada}`,
    ],
    ["list_tasks", { status: "done" }, `Found 1 task(s):\n${ada}`],
    ["list_tasks", { project_id: "p1" }, `Found 1 task(s):\n${ada}`],
    ["list_tasks", { project_id: "website" }, `Found 1 task(s):\n${ada}`],
    ["list_tasks", { status: "done", search: "milk" }, 'No tasks found with status done that mention "milk".'],
    ["list_tasks", { project_id: "p2" }, "No tasks found in project Old."],
    ["list_tasks_due_today", {}, "No tasks found due today."],
    [
      "list_task_comments",
      { task_id: "Buy milk" },
      "Found 1 comment(s):\n- Ada: Two litres (task: Buy milk (t1), id: m1)",
    ],
    ["list_task_comments", { task_id: "t2" }, "No comments found on task Call Ada."],
    ["list_projects", {}, "Found 1 project(s):\n- Website (client: Acme (c1), status: active, id: p1)"],
    [
      "list_projects",
      { client_id: "Acme" },
      "Found 1 project(s):\n- Website (client: Acme (c1), status: active, id: p1)",
    ],
    ["get_project", { project_id: "Old" }, "Project: Old\nid: p2\nclient: none\nstatus: archived"],
    [
      "get_project",
      { project_id: "p1" },
      "Project: Website\nid: p1\nclient: Acme (c1)\nstatus: active\n\nA shop.\nFor anvils.",
    ],
    [
      "get_project",
      { project_id: "p9" },
      "Project not found: p9. list_projects or list_all_projects shows those there are.",
    ],
    [
      "list_checkpoints",
      { project_id: "p1" },
      "Found 1 checkpoint(s):\n- Launch (project: Website (p1), date: Friday 20 November 2026 at 17:00, id: k1)",
    ],
    ["list_checkpoints", { project_id: "p2" }, "No checkpoints found in project Old."],
    ["list_notes", {}, "Found 1 note(s):\n- Deployment (project: Website (p1), id: n1)"],
    ["get_note", { note_id: "deployment" }, "Note: Deployment\nid: n1\nproject: Website (p1)\n\n# Steps\n\nPush."],
    ["get_note", { note_id: "Nothing" }, "Note not found: Nothing. list_notes shows those there are."],
    ["list_clients", {}, "Found 1 client(s):\n- Acme (industry: Anvils, id: c1)"],
    ["list_tasks", { project_id: "p9" }, 'There is no project "p9".'],
  ])("%s %j", async (name, input, text) => {
    expect((await openFilled().call(name, input)).text).toBe(text)
  })

  test("the data of a list is what a list shows: long notes do not make it too large to be kept", async () => {
    const { memory, call } = openFilled()
    memory.add("notes", { id: "n2", title: "Long", content: "x".repeat(1_000_000) })
    const { data } = await call("list_notes")
    expect(JSON.stringify(data).length).toBeLessThan(1000)
    expect(data).toMatchObject({
      notes: [
        { id: "n1", title: "Deployment" },
        { id: "n2", title: "Long" },
      ],
    })
  })

  test("a moment beyond all calendars, of whichever program, is shown as the last there is and spoils no list", async () => {
    const { memory, call } = openFilled()
    memory.add("tasks", { id: "t3", title: "Never", dueDate: 9e15, createdAt: -9e15 })
    expect((await call("list_tasks")).text).toMatch(/Found 3 task\(s\):[^]*- Never \(.*due: .* September 275760/)
    expect((await call("list_tasks_due_today")).text).toBe("No tasks found due today.")
  })

  test("open tasks are those that are not done: started ones too", async () => {
    const { memory, call } = openFilled()
    memory.add("tasks", { id: "t3", title: "Paint the door", status: "in_progress" })
    const { text, data } = await call("list_tasks", { status: "open" })
    expect(text).toMatch(/^Found 2 task\(s\):\n- Buy milk [^]*\n- Paint the door /)
    expect(data).toMatchObject({ total: 2 })
    expect((await call("list_tasks", { status: "open", search: "ada" })).text).toBe(
      'No tasks found that are open that mention "ada".',
    )
  })

  test("archived projects are left out unless they are asked for", async () => {
    const { call } = openFilled()
    const names = async (tool: string, input = {}) =>
      ((await call(tool, input)).data as { projects: { name: string }[] }).projects.map(({ name }) => name)
    expect(await names("list_projects")).toEqual(["Website"])
    expect(await names("list_projects", { include_archived: false })).toEqual(["Website"])
    expect(await names("list_projects", { include_archived: true })).toEqual(["Website", "Old"])
    expect(await names("list_all_projects")).toEqual(["Website", "Old"])
  })

  test("today is the person's: from the first moment of their day to the last", async () => {
    const { memory, call } = openMemory()
    const midnight = Date.UTC(2026, 10, 14, 23) // in Berlin
    for (const [title, dueDate] of Object.entries({
      before: midnight - 1,
      first: midnight,
      last: midnight + 24 * HOUR - 1,
      after: midnight + 24 * HOUR,
    }))
      memory.add("tasks", { title, dueDate })
    const titles = async (more = {}) =>
      ((await call("list_tasks_due_today", {}, contextAt(more))).data as { tasks: { title: string }[] }).tasks.map(
        ({ title }) => title,
      )
    expect(await titles()).toEqual(["first", "last"])
    expect(await titles({ timeZone: "UTC" })).toEqual(
      ["last"]
        .concat([])
        .concat(["after"])
        .filter((t) => t !== "after" || true),
    )
    expect(await titles({ timeZone: "Pacific/Kiritimati", calledAt: SUNDAY - 24 * HOUR })).toEqual(["before", "first"])
  })

  test.each([
    ["Pacific/Kiritimati", "2026-11-16"],
    ["Europe/Berlin", "2026-11-15"],
    ["UTC", "2026-11-15"],
    ["America/Los_Angeles", "2026-11-15"],
    ["Etc/GMT+12", "2026-11-15"],
  ])(
    "a task due today is found by the day of the time zone, and printed with its own day: in %s on %s",
    async (timeZone, today) => {
      const { memory, call } = openMemory()
      for (const dueDate of ["2026-11-14", "2026-11-15", "2026-11-16", "2026-11-17"])
        memory.add("tasks", { title: dueDate, dueDate })
      const { data, text } = await call("list_tasks_due_today", {}, contextAt({ timeZone }))
      expect((data as { tasks: { title: string }[] }).tasks.map(({ title }) => title)).toEqual([today])
      expect(text).toContain(`due: ${today === "2026-11-16" ? "Monday 16" : "Sunday 15"} November 2026,`)
    },
  )

  test("overdue is a day that is over and a time that has come, but nothing that is done", async () => {
    const { memory, call } = openMemory()
    const midnight = Date.UTC(2026, 10, 14, 23) // with which today began in Berlin
    const due = { yesterday: "2026-11-14", today: "2026-11-15", midnight, earlier: SUNDAY - HOUR, later: SUNDAY + HOUR }
    for (const [title, dueDate] of Object.entries(due)) memory.add("tasks", { title, dueDate })
    memory.add("tasks", { title: "done", dueDate: "2026-11-14", status: "done" })
    const titles = async (more = {}) =>
      (
        (await call("list_tasks", { due: "overdue" }, contextAt(more))).data as { tasks: { title: string }[] }
      ).tasks.map(({ title }) => title)
    expect(await titles()).toEqual(["yesterday", "earlier"])
    expect(await titles({ timeZone: "Pacific/Kiritimati" })).toEqual(["yesterday", "today", "midnight", "earlier"])
  })

  test("filters become those of the workspace, and what is not shown is counted with what to ask instead", async () => {
    const { memory, call } = openMemory()
    for (let n = 0; n < 103; n++) memory.add("tasks", { title: `t${n}` })
    const { text } = await call("list_tasks", { order_by: "due_date", status: null })
    expect(memory.asked).toEqual([{ orderBy: "dueDate", timeZone: "Europe/Berlin" }])
    expect(text).toMatch(/^Found 103 task\(s\):/)
    expect(text).toMatch(/There are 3 more\. Ask for fewer with project_id, status, priority, due or search\.$/)
    expect(text.split("\n")).toHaveLength(102)
  })

  test("SQL in a filter is only text, and a filter that there is not is an error", async () => {
    const { memory, call } = openFilled()
    const search = "'; DROP TABLE tasks; --"
    expect((await call("list_tasks", { search })).text).toBe(`No tasks found that mention "${search}".`)
    expect(memory.of("tasks")).toHaveLength(2)
    await expect(call("list_tasks", { owner: "eve" })).rejects.toThrow("owner")
    await expect(call("list_tasks", { status: "todo' OR 1=1" })).rejects.toThrow("status")
    await expect(call("list_task_comments", {})).rejects.toThrow("task_id")
  })

  test("a name that several have is a question, with their ids", async () => {
    const { memory, call } = openFilled()
    memory.add("projects", { id: "p3", name: "WEBSITE" })
    const { status, text } = await call("list_tasks", { project_id: "websITE" })
    expect([status, text]).toEqual(["error", '2 projects are called "websITE"; say which by its id: p1, p3'])
    expect((await call("list_tasks", { project_id: "Website" })).text).toContain("Call Ada")
  })
})

describe("what rows belong to is named", () => {
  test("by one look, however many there are, and by its id where it cannot be found", async () => {
    const { memory, call } = openMemory()
    for (let n = 0; n < 5; n++) memory.add("projects", { id: `p${n}`, name: `Project ${n}`, status: "archived" })
    for (let n = 0; n < 20; n++) memory.add("tasks", { title: `t${n}`, projectId: `p${n % 6}` })
    const { text } = await call("list_tasks")
    expect(memory.asked).toEqual([{}, { includeArchived: true }])
    expect(text).toContain("project: Project 4 (p4)")
    expect(text).toContain("project: p5, id")
  })

  test("and not on a device that does not know the table, which is no reason to say nothing", async () => {
    const { memory, call } = openMemory()
    memory.add("tasks", { id: "t1", title: "Buy milk", projectId: "p1" })
    const broken = { ...memory.workspace, get: () => Promise.reject(new Error("There is no table projects.")) }
    Object.defineProperty(memory, "workspace", { value: broken })
    expect((await call("list_tasks")).text).toContain("project: p1, id: t1")
  })
})
