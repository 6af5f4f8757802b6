import { createHash } from "node:crypto"
import { describe, expect, test } from "vitest"
import { type Answer, canonicalJson } from "../../core/pack.ts"
import { contextAt, openMemory, SUNDAY } from "../../test/workspace/in-memory-workspace.ts"

const FRIDAY = Date.UTC(2026, 10, 19, 23) // its midnight in Berlin
const plain = {
  ...{ projectId: null, title: "Buy milk", description: null, status: "todo", priority: "medium", assignee: null },
  ...{ dueDate: null, isAiSuggested: 1, isApproved: 1 },
}

describe("what an undo could not bring back is not taken away", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ["update_note", { content: "x".repeat(500_001) }, { content: "short" }, "(content)"],
    ["update_note", { content: '"'.repeat(480_000) }, { content: "short" }, "(what it says)"],
    ["update_note", { title: "x".repeat(1001) }, { title: "short" }, "(title)"],
  ])("%s", async (tool, row, change, what) => {
    const { memory, preview } = openMemory()
    memory.add("notes", { id: "n1", title: "Long", content: "text", ...row })
    const refused = preview(tool, { note_id: "n1", ...change })
    await expect(refused).rejects.toThrow(`too long for an undo ${what}: change that by hand`)
    // All else of it can be changed.
    const other = "title" in change ? { content: "new" } : { title: "new" }
    expect((await preview(tool, { note_id: "n1", ...other })).summary).toContain("Update note")
  })
})

describe("create", () => {
  test("fills in what was not said, marks it as suggested and agreed to, and answers with the real row", async () => {
    const { memory, call } = openMemory()
    const { text } = await call("create_task", { title: " Buy milk ", description: null, project_id: "none" })
    expect(memory.of("tasks")).toEqual([{ ...plain, id: "task_1", createdAt: 0 }])
    expect(text).toBe("Task created: Buy milk (status: todo, priority: medium, id: task_1).")
  })

  test("turns lists, booleans, dates and names into what a workspace keeps", async () => {
    const { memory, call } = openMemory()
    memory.add("projects", { id: "p1", name: "Website" })
    const given = {
      ...{ title: "Fly", assignees: ["Ada", "Bob"], due_date: "next friday at 5pm", priority: "high" },
      ...{ status: "in_progress", project_id: "website", is_ai_suggested: false, is_approved: false },
    }
    const { text } = await call("create_task", given)
    expect(memory.of("tasks")[0]).toMatchObject({
      ...{ assignee: '["Ada","Bob"]', dueDate: FRIDAY + 17 * 3_600_000, projectId: "p1" },
      ...{ isAiSuggested: 0, isApproved: 0 },
    })
    expect(text).toContain(
      "assigned to: Ada, Bob, due: Friday 20 November 2026 at 17:00, project: Website (p1), id: task_2",
    )
  })

  test.each<[string, Record<string, unknown>, string, object]>([
    [
      "create_project",
      { name: "Website", client_id: "Acme" },
      "Project created: Website (client: Acme (c1), status: active, id: proj_",
      { clientId: "c1", status: "active", aiSummary: null },
    ],
    [
      "create_checkpoint",
      { project_id: "Home", title: "Launch", date: "friday" },
      "Checkpoint created: Launch (project: Home (p1), date: Friday 20 November 2026, id: chk_",
      { projectId: "p1", date: "2026-11-20", isAiSuggested: 1, isApproved: 1 },
    ],
    [
      "create_note",
      { title: "Steps", content: "" },
      "Note created: Steps (id: note_",
      { content: "", projectId: null },
    ],
    [
      "add_task_comment",
      { task_id: "Buy milk", author: "Ada", content: "Two" },
      "Comment added: Ada: Two (task: Buy milk (t1), id: cmt_",
      { taskId: "t1", author: "Ada", content: "Two" },
    ],
    [
      "create_client",
      { name: "Sub", industry: "Steel", parent_id: "Acme" },
      "Client created: Sub (industry: Steel, part of: Acme (c1), id: cli_",
      { parentId: "c1", industry: "Steel" },
    ],
  ])("%s %j", async (name, input, text, row) => {
    const { memory, call } = openMemory()
    memory.add("clients", { id: "c1", name: "Acme" })
    memory.add("projects", { id: "p1", name: "Home" })
    memory.add("tasks", { id: "t1", title: "Buy milk" })
    const answer = await call(name, input)
    expect(answer.text.startsWith(text)).toBe(true)
    expect(answer.change).toMatchObject({ before: null, after: row })
  })

  test.each<[string, Record<string, unknown>, string]>([
    ["create_task", {}, "title"],
    ["create_task", { title: "  " }, "title"],
    ["create_task", { title: "x", due_date: "sometime" }, 'due_date: "sometime" is not a date'],
    ["create_task", { title: "x", due_date: "2027-02-31" }, "due_date"],
    ["create_task", { title: "x", due_date: 1e300 }, "due_date"],
    ["create_task", { title: "x", priority: "urgent" }, "priority"],
    ["create_task", { title: "x", colour: "red" }, "colour"],
    ["create_task", { title: "x", assignees: "Ada" }, "assignees"],
    ["create_checkpoint", { title: "x", date: "today" }, "project_id"],
    ["create_checkpoint", { project_id: "p1", title: "x", date: "none" }, "date"],
    ["create_checkpoint", { project_id: "none", title: "x", date: "today" }, 'There is no project "none".'],
    ["create_project", { name: "x", status: "archived" }, "status"],
    ["update_task", { title: "x" }, "task_id"],
    ["update_task", { task_id: "t9", title: "x" }, 'There is no task "t9".'],
    ["delete_note", { note_id: "" }, "note_id"],
    ["delete_note", { note_id: "n9" }, 'There is no note "n9".'],
  ])("%s refuses %j and names what is wrong", async (name, input, problem) => {
    await expect(openMemory().preview(name, input)).rejects.toThrow(problem)
  })
})

describe("a proposal", () => {
  test("of something new shows what would be there, its day in words and a time with its zone, and changes nothing", async () => {
    const { memory, preview } = openMemory()
    expect(await preview("create_task", { title: "Buy milk", due_date: "friday", assignees: ["Ada"] })).toEqual({
      summary:
        'Create task "Buy milk" (status: todo, priority: medium, assigned to: Ada, due: Friday 20 November 2026)',
      title: 'Create task "Buy milk"',
      action: "safe_create",
      diff: {
        before: null,
        after: {
          ...plain,
          assignee: ["Ada"],
          dueDate: "Friday 20 November 2026",
          isAiSuggested: true,
          isApproved: true,
        },
      },
      revision: expect.any(String),
    })
    const timed = await preview("create_task", { title: "Buy milk", due_date: "friday at 5pm" })
    expect(timed.summary).toContain("due: Friday 20 November 2026 at 17:00 (Europe/Berlin))")
    expect(memory.written).toEqual([])
  })

  test("of the day that a task is due already is none, also where that is kept as its midnight", async () => {
    const { memory, preview, call } = openMemory()
    memory.add("tasks", { id: "t1", title: "Fly", dueDate: FRIDAY })
    memory.add("tasks", { id: "t2", title: "Land", dueDate: "2026-11-20" })
    for (const task_id of ["t1", "t2"])
      await expect(preview("update_task", { task_id, due_date: "friday" })).rejects.toThrow("Nothing would change")
    // Printed as the stored day, and stored as a day if it is set again.
    const { text } = await call("update_task", { task_id: "t1", status: "done" })
    expect(text).toContain("due: Friday 20 November 2026,")
    await call("update_task", { task_id: "t1", due_date: "2026-11-21" })
    expect(memory.of("tasks").map(({ dueDate }) => dueDate)).toEqual(["2026-11-21", "2026-11-20"])
  })

  test.each<[string, Record<string, unknown>, string, string, object, object]>([
    [
      "plain values",
      { priority: "high", status: "done" },
      "safe_update",
      "status todo → done, priority medium → high",
      { status: "todo", priority: "medium" },
      { status: "done", priority: "high" },
    ],
    [
      "a date",
      { due_date: "friday" },
      "safe_update",
      "due none → Friday 20 November 2026",
      { dueDate: null },
      { dueDate: "Friday 20 November 2026" },
    ],
    [
      "what was empty",
      { description: "At the shop" },
      "safe_update",
      "description none → At the shop",
      { description: null },
      { description: "At the shop" },
    ],
    [
      "another person beside",
      { assignees: ["Ada", "Bob"] },
      "safe_update",
      "assigned to Ada → Ada, Bob",
      { assignee: ["Ada"] },
      { assignee: ["Ada", "Bob"] },
    ],
    [
      "a person less",
      { assignees: [] },
      "destructive_update",
      "assigned to Ada → none",
      { assignee: ["Ada"] },
      { assignee: [] },
    ],
    [
      "a text that is there",
      { title: "Buy oat milk" },
      "destructive_update",
      "title Buy milk → Buy oat milk",
      { title: "Buy milk" },
      { title: "Buy oat milk" },
    ],
    [
      "what it belongs to",
      { project_id: "none" },
      "destructive_update",
      "project Home → none",
      { projectId: "Home" },
      { projectId: null },
    ],
    [
      "one of each",
      { title: "X", status: "done" },
      "destructive_update",
      "title Buy milk → X, status todo → done",
      { title: "Buy milk", status: "todo" },
      { title: "X", status: "done" },
    ],
    [
      "what it is already, beside",
      { title: "Buy milk", status: "done" },
      "safe_update",
      "status todo → done",
      { status: "todo" },
      { status: "done" },
    ],
  ])("of a change shows only what changes: %s", async (...[, input, action, words, before, after]) => {
    const { memory, preview } = openMemory()
    memory.add("projects", { id: "p1", name: "Home" })
    memory.add("tasks", { id: "t1", title: "Buy milk", projectId: "p1", assignee: '["Ada"]' })
    expect(await preview("update_task", { task_id: "buy milk", ...input })).toEqual({
      summary: `Update task "Buy milk": ${words}`,
      title: 'Update task "Buy milk"',
      ...{ action, diff: { before, after }, target: "t1", revision: expect.any(String) },
    })
  })

  test("to archive a project counts as destructive, to bring it back does not", async () => {
    const { memory, preview } = openMemory()
    memory.add("projects", { id: "p1", name: "Home" })
    memory.add("projects", { id: "p2", name: "Old", status: "archived" })
    expect(await preview("update_project", { project_id: "p1", status: "archived" })).toMatchObject({
      action: "destructive_update",
    })
    expect(await preview("update_project", { project_id: "Old", status: "active" })).toMatchObject({
      action: "safe_update",
    })
  })

  test("to change nothing is none: null says nothing, and what is so already is not written again", async () => {
    const { memory, preview } = openMemory()
    memory.add("tasks", { id: "t1", title: "Buy milk" })
    for (const input of [{}, { title: null, due_date: null }, { status: "todo", due_date: "none", description: "" }])
      await expect(preview("update_task", { task_id: "t1", ...input })).rejects.toThrow("Nothing would change")
  })

  test("to delete shows what goes along, and is refused where it could not be done", async () => {
    const { memory, preview } = openMemory()
    memory.add("clients", { id: "c1", name: "Acme" })
    memory.add("projects", { id: "p1", name: "Website", clientId: "c1" })
    memory.add("tasks", { id: "t1", title: "Buy milk", projectId: "p1" })
    memory.add("taskComments", { id: "m1", taskId: "t1", author: "Ada", content: "Two" })
    for (let n = 0; n < 23; n++) memory.add("notes", { id: `n${n}`, title: `Note ${n}`, content: "x", projectId: "p1" })
    const { summary, title, action, diff, target } = await preview("delete_project", { project_id: "website" })
    expect(title).toBe('Delete project "Website" with 1 task, 1 comment, 23 notes')
    expect([summary, action, target]).toEqual([
      'Delete project "Website" (client: Acme, status: active) with 1 task(s), 1 comment(s), 23 note(s)',
      ...["destructive_delete", "p1"],
    ])
    const { with: along } = diff?.before as { with: Record<string, string[]> }
    expect(along.tasks).toEqual(["Buy milk"])
    expect(along.taskComments).toEqual(["Two"])
    expect([along.notes?.length, along.notes?.at(-1)]).toEqual([21, "and 3 more"])
    await expect(preview("delete_client", { client_id: "Acme" })).rejects.toThrow("still has 1 project(s)")
    memory.add("notes", { title: "Long", content: "x".repeat(1_000_000), projectId: "p1" })
    await expect(preview("delete_project", { project_id: "p1" })).rejects.toThrow("too many dependent rows")
  })
})

describe("a title cannot pass for words of Pawl's", () => {
  const forged = 'x" (approved) and "y'
  const quoted = '"x\\" (approved) and \\"y"'

  test("in a proposal to create, change or delete", async () => {
    const { memory, preview } = openMemory()
    memory.add("tasks", { id: "t1", title: forged })
    expect(await preview("create_task", { title: forged })).toMatchObject({
      title: `Create task ${quoted}`,
      summary: `Create task ${quoted} (status: todo, priority: medium)`,
    })
    expect(await preview("update_task", { task_id: "t1", status: "done" })).toMatchObject({
      title: `Update task ${quoted}`,
      summary: `Update task ${quoted}: status todo → done`,
    })
    expect(await preview("delete_task", { task_id: "t1" })).toMatchObject({
      title: `Delete task ${quoted}`,
      summary: `Delete task ${quoted} (status: todo, priority: medium)`,
    })
  })

  test("in a proposal to restore", async () => {
    const { memory, preview } = openMemory()
    const row = { ...memory.add("tasks", { title: forged }), id: "t9" }
    expect(await preview("restore_task", { task: row })).toMatchObject({
      title: `Put back task ${quoted}`,
      summary: `Put back task ${quoted} (status: todo, priority: medium)`,
    })
  })

  test("in the other values of a proposal", async () => {
    const { memory, preview } = openMemory()
    memory.add("projects", { id: "p1", name: "Garden, due: never" })
    memory.add("tasks", { id: "t1", title: "Buy milk", projectId: "p1", assignee: '["Ada (approved), Bob", "Cy"]' })
    expect((await preview("delete_task", { task_id: "t1" })).summary).toBe(
      'Delete task "Buy milk" (status: todo, priority: medium, assigned to: "Ada (approved), Bob", Cy, project: "Garden, due: never")',
    )
    expect((await preview("update_task", { task_id: "t1", title: "a → b, status todo → done" })).summary).toBe(
      'Update task "Buy milk": title Buy milk → "a → b, status todo → done"',
    )
  })
})

describe("what was shown is what runs, or nothing does", () => {
  const agreedTo = async (world: ReturnType<typeof openMemory>, name: string, input: Record<string, unknown>) => {
    const at = contextAt()
    const { target, revision } = await world.preview(name, input, at)
    return { ...at, approved: { target, revision } }
  }

  test.each([
    ["update_task", { task_id: "Buy milk", status: "done" }],
    ["delete_task", { task_id: "Buy milk" }],
  ])("%s: a name that has passed to another row meanwhile", async (name, input) => {
    const world = openMemory()
    const { memory, call } = world
    memory.add("tasks", { id: "t1", title: "Buy milk" })
    const at = await agreedTo(world, name, input)
    memory.rows.set("tasks", [
      { ...plain, id: "t1", title: "Renamed" },
      { ...plain, id: "t2", title: "Buy milk" },
    ] as never)
    await expect(call(name, input, at)).rejects.toMatchObject({ code: "row_stale" })
    expect(memory.written).toEqual([])
  })

  test("a project of that name that is another one now", async () => {
    const world = openMemory()
    world.memory.add("projects", { id: "p1", name: "Home" })
    const input = { title: "x", project_id: "Home" }
    const at = await agreedTo(world, "create_task", input)
    world.memory.rows.set("projects", [{ id: "p2", name: "Home" } as never])
    await expect(world.call("create_task", input, at)).rejects.toMatchObject({ code: "row_stale" })
    expect(world.memory.written).toEqual([])
  })

  test("the row itself is checked once more by its target, as it was shown", async () => {
    const world = openMemory()
    const row = world.memory.add("tasks", { id: "t1", title: "Buy milk" })
    await world.call(
      "update_task",
      { task_id: "t1", status: "done" },
      await agreedTo(world, "update_task", { task_id: "t1", status: "done" }),
    )
    expect(world.memory.written[0]).toMatchObject({ action: "update", expect: row })
    world.memory.add("taskComments", { id: "k1", taskId: "t1", author: "Ada", content: "Soon" })
    await world.call("delete_task", { task_id: "t1" })
    const along = { taskComments: ["k1"] }
    expect(world.memory.written[1]).toMatchObject({ action: "delete", expect: { ...row, status: "done" }, along })
  })

  test("what was shown before its ids were sent along stays agreed to", async () => {
    const world = openMemory()
    const row = world.memory.add("tasks", { id: "t1", title: "Buy milk" })
    const comment = world.memory.add("taskComments", { id: "k1", taskId: "t1", author: "Ada", content: "Soon" })
    const write = { action: "delete", table: "tasks", id: "t1", expect: row }
    const shown = canonicalJson({ write, shown: { taskComments: [comment] } })
    const revision = createHash("sha256").update(shown).digest("base64url")
    expect(await agreedTo(world, "delete_task", { task_id: "t1" })).toMatchObject({ approved: { revision } })
  })

  test("tomorrow is one day, also when it is agreed to after midnight", async () => {
    const world = openMemory()
    const input = { title: "x", due_date: "tomorrow" }
    const at = await agreedTo(world, "create_task", input)
    await world.call("create_task", input, { ...at, now: SUNDAY + 8 * 3_600_000 })
    expect(world.memory.of("tasks")[0]?.dueDate).toBe("2026-11-16")
    // And where the zone is not the same any more, it is not what was shown.
    const elsewhere = { ...at, timeZone: "Pacific/Auckland" }
    await expect(world.call("create_task", input, elsewhere)).rejects.toMatchObject({ code: "row_stale" })
  })

  test("after a crash the workspace is asked, and its answer is the one that was lost", async () => {
    const { call, tool } = openMemory()
    const create = tool("create_task")
    if (create.afterCrash !== "ask-target") throw new Error("create_task must be able to ask")
    const at = contextAt()
    expect(await create.outcome(at.callId, { title: "x" }, at)).toBe("not-applied")
    const lost = await call("create_task", { title: "x" }, at)
    expect(await create.outcome(at.callId, { title: "x" }, at)).toEqual(lost)
  })
})

describe("what a tool has done is taken back by the call it names, and that too", () => {
  test.each<[string, Record<string, unknown>]>([
    ["create_task", { title: "New" }],
    ["create_project", { name: "New" }],
    ["create_checkpoint", { project_id: "p1", title: "New", date: "today" }],
    ["create_note", { title: "New", content: "x" }],
    ["add_task_comment", { task_id: "t1", author: "Ada", content: "x" }],
    ["create_client", { name: "New" }],
    [
      "update_task",
      {
        task_id: "t1",
        title: "T",
        description: "D",
        status: "done",
        priority: "low",
        assignees: ["Eve"],
        due_date: "today",
        project_id: "none",
        is_ai_suggested: true,
        is_approved: false,
      },
    ],
    ["update_task", { task_id: "t2", description: "", assignees: ["Eve"], due_date: "none", project_id: "p1" }],
    ["update_project", { project_id: "p1", name: "N", client_id: "none", status: "archived", ai_summary: "S" }],
    ["update_checkpoint", { checkpoint_id: "k1", title: "T", date: "in 3 days", project_id: "p2" }],
    ["update_note", { note_id: "n1", title: "T", content: "C", project_id: "none" }],
    ["update_client", { client_id: "c1", name: "N", industry: "I", parent_id: "c2" }],
    ["delete_task", { task_id: "t1" }],
    ["delete_project", { project_id: "p1" }],
    ["delete_checkpoint", { checkpoint_id: "k1" }],
    ["delete_note", { note_id: "n1" }],
    ["delete_task_comment", { comment_id: "m1" }],
    ["delete_client", { client_id: "c2" }],
  ])("%s %j", async (name, input) => {
    const { memory, call, tool } = openMemory()
    memory.add("clients", { id: "c1", name: "Acme" })
    memory.add("clients", { id: "c2", name: "Other", industry: "Steel" })
    memory.add("projects", { id: "p1", name: "Home", clientId: "c1" })
    memory.add("projects", { id: "p2", name: "Away" })
    memory.add("tasks", { id: "t1", title: "Buy milk", projectId: "p1" })
    memory.add("tasks", { id: "t2", title: "Fly", description: "Far", assignee: '["Ada"]', dueDate: 5 })
    memory.add("taskComments", { id: "m1", taskId: "t1", author: "Ada", content: "Two" })
    memory.add("checkpoints", { id: "k1", projectId: "p1", title: "Launch", date: 7 })
    memory.add("notes", { id: "n1", title: "Steps", content: "Push", projectId: "p1" })
    const state = () =>
      Object.fromEntries(
        [...memory.rows].map(([table, rows]) => [
          table,
          rows.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1)),
        ]),
      )
    const back = (answer: Answer, doing: { tool: string; input: Record<string, unknown> }) => {
      const { inverse } = tool(doing.tool)
      if (!inverse) throw new Error(`${doing.tool} must have an inverse`)
      // As it is recorded: values that JSON cannot hold are lost.
      return JSON.parse(JSON.stringify(inverse(doing.input, answer))) as typeof doing
    }
    const before = state()
    let doing = { tool: name, input }
    const seen = [before]
    for (let step = 0; step < 4; step++) {
      const answer = await call(doing.tool, doing.input)
      expect(answer.status).toBe("ok")
      seen.push(state())
      doing = back(answer, doing)
    }
    expect(seen[1]).not.toEqual(before)
    expect(seen[2]).toEqual(before)
    expect(seen[3]).toEqual(seen[1])
    expect(seen[4]).toEqual(before)
  })

  test("not where something of that id is there again", async () => {
    const { memory, preview } = openMemory()
    const task = memory.add("tasks", { id: "t1", title: "Buy milk" })
    await expect(preview("restore_task", { task })).rejects.toThrow("is there already")
  })
})
