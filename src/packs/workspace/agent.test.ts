import { expect, test } from "vitest"
import type { Tool } from "../../agent/tool.ts"
import { parse } from "../../agent/schema.ts"
import { newId } from "../../protocol/ids.ts"
import { failure } from "../../protocol/errors.ts"
import type { DeviceFilters } from "../../protocol/socket.ts"
import type { Applied, Workspace, WorkspaceWrite } from "../../protocol/workspace-port.ts"
import type { NewTask, Task } from "../../protocol/workspace-tables.ts"
import { workspaceAgent } from "./agent.ts"

/** A workspace in memory that remembers what it was asked. */
function memory(tasks: Task[] = []) {
  const noted = new Map<string, Applied>()
  const asked: DeviceFilters[] = []
  const apply = (write: WorkspaceWrite): Applied => {
    const about = { action: write.action, table: "tasks", before: null, after: null, with: {} } as const
    if (write.action === "insert") {
      const after = { ...write.data, id: `task_${tasks.length + 1}`, createdAt: 0 } as Task
      tasks.push(after)
      return { ...about, after }
    }
    if (write.action === "restore") {
      const after = write.rows[0] as Task
      if (tasks.some(({ id }) => id === after.id)) throw new Error(`${after.id} is there already`)
      tasks.push(after)
      return { ...about, after }
    }
    const before = tasks.find(({ id }) => id === write.id)
    if (!before) throw failure("row_missing", { noun: "task", id: write.id })
    tasks.splice(tasks.indexOf(before), 1)
    return { ...about, before }
  }
  const workspace = {
    async select(_table: string, filters: DeviceFilters) {
      asked.push(filters)
      return tasks
    },
    get: async (_table: string, id: string) => tasks.find((task) => task.id === id),
    async write(write: WorkspaceWrite, callId: string) {
      const applied = noted.get(callId) ?? apply(write)
      noted.set(callId, applied)
      return applied
    },
    outcome: async (callId: string) => noted.get(callId),
  } as unknown as Workspace
  const { tools } = workspaceAgent(() => workspace)
  return { tasks, asked, tool: (name: string) => tools.find(name) as Tool }
}

const context = () => ({
  user: newId("user"),
  conversation: newId("conv"),
  callId: newId("call"),
  site: "server" as const,
  deviceId: null,
  signal: new AbortController().signal,
  now: 0,
  timeZone: "UTC",
  state: {},
  model: () => Promise.reject(new Error("not asked for")),
})

/** Calls a tool as the loop does: arguments first through its schema. */
async function call(tool: Tool, input: Record<string, unknown>, at = context()) {
  const parsed = await parse(tool.input, input)
  if ("problem" in parsed) throw new Error(parsed.problem)
  return tool.run(parsed.value, at)
}

const plain: NewTask = {
  projectId: null,
  title: "Buy milk",
  description: null,
  status: "todo",
  priority: "medium",
  assignee: null,
  dueDate: null,
  isAiSuggested: 0,
  isApproved: 1,
}

test("create_task fills in what was not said and answers with the real task", async () => {
  const world = memory()
  const answer = await call(world.tool("create_task"), { title: " Buy milk ", description: null })
  expect(world.tasks).toEqual([{ ...plain, id: "task_1", createdAt: 0 }])
  expect(answer.text).toBe("Task created: Buy milk (status: todo, priority: medium, id: task_1).")
})

test("create_task turns lists, booleans and dates into what a workspace keeps", async () => {
  const world = memory()
  const input = {
    title: "Fly",
    assignees: ["Ada", "Bob"],
    due_date: "2027-01-31",
    priority: "high",
    status: "in_progress",
    project_id: "p1",
    is_ai_suggested: true,
    is_approved: false,
  }
  const answer = await call(world.tool("create_task"), input)
  expect(world.tasks[0]).toMatchObject({
    assignee: '["Ada","Bob"]',
    dueDate: Date.UTC(2027, 0, 31),
    projectId: "p1",
    isAiSuggested: 1,
    isApproved: 0,
  })
  expect(answer.text).toContain("due: 2027-01-31, assigned to: Ada, Bob, project: p1")
})

test.each([
  ["2027-01-31T17:00:00Z", Date.UTC(2027, 0, 31, 17)],
  ["2027-01-31T17:00+02:00", Date.UTC(2027, 0, 31, 15)],
  ["2027-01-31T17:00", Date.UTC(2027, 0, 31, 17)],
  [1_800_000_000_000, 1_800_000_000_000],
])("a due date may be written as %s", async (due_date, milliseconds) => {
  const world = memory()
  await call(world.tool("create_task"), { title: "Fly", due_date })
  expect(world.tasks[0]?.dueDate).toBe(milliseconds)
})

test.each([
  [{}, "title"],
  [{ title: "  " }, "title"],
  [{ title: "x", due_date: "tomorrow" }, "due_date"],
  [{ title: "x", due_date: "2027-02-31" }, "due_date"],
  [{ title: "x", priority: "urgent" }, "priority"],
  [{ title: "x", colour: "red" }, "colour"],
])("create_task refuses %j and names %s", async (input, field) => {
  await expect(call(memory().tool("create_task"), input)).rejects.toThrow(field)
})

test("a proposal shows what would be there and changes nothing", async () => {
  const world = memory()
  const tool = world.tool("create_task")
  if (tool.effect !== "write" || !tool.preview) throw new Error("create_task must show what it would do")
  expect(await tool.preview({ title: "Buy milk" }, context())).toEqual({
    summary: 'Create task "Buy milk" (status: todo, priority: medium)',
    action: "safe_create",
    diff: { before: null, after: plain },
  })
  expect(world.tasks).toEqual([])
})

test("after a crash the workspace is asked, and its answer is the one that was lost", async () => {
  const world = memory()
  const tool = world.tool("create_task")
  if (tool.afterCrash !== "ask-target") throw new Error("create_task must be able to ask")
  const at = context()
  expect(await tool.outcome(at.callId, { title: "x" }, at)).toBe("not-applied")
  const lost = await call(tool, { title: "x" }, at)
  expect(await tool.outcome(at.callId, { title: "x" }, at)).toEqual(lost)
})

test("list_tasks says what it found, and what it did not", async () => {
  const some = memory([{ ...plain, id: "t1", createdAt: 0 }])
  expect((await call(some.tool("list_tasks"), {})).text).toBe(
    "Found 1 task(s):\n- Buy milk (status: todo, priority: medium, id: t1)",
  )
  const none = memory()
  expect((await call(none.tool("list_tasks"), {})).text).toBe("No tasks found.")
  const filtered = await call(none.tool("list_tasks"), { status: "done", search: "milk", project_id: "p1" })
  expect(filtered.text).toBe('No tasks found with status done that mention "milk" in project p1.')
})

test("list_tasks passes its filters on, and counts what it does not show", async () => {
  const many = memory(Array.from({ length: 103 }, (_, n) => ({ ...plain, id: `t${n}`, createdAt: n })))
  const { text } = await call(many.tool("list_tasks"), { order_by: "due_date", status: null })
  expect(many.asked).toEqual([{ projectId: undefined, status: null, search: undefined, orderBy: "dueDate" }])
  expect(text).toMatch(/^Found 103 task\(s\):/)
  expect(text).toMatch(/There are 3 more\. Ask for fewer with status, search or project_id\.$/)
})

const t1: Task = { ...plain, id: "t1", createdAt: 0 }
const t2: Task = { ...plain, id: "t2", title: "Call Ada", createdAt: 1 }

test.each([["t2"], ["Call Ada"], [" call ada "]])("delete_task finds its task by %j", async (task_id) => {
  const world = memory([t1, t2])
  const answer = await call(world.tool("delete_task"), { task_id })
  expect(answer).toMatchObject({ status: "ok", change: { before: t2, after: null } })
  expect(answer.text).toBe("Task deleted: Call Ada (status: todo, priority: medium, id: t2).")
  expect(world.tasks).toEqual([t1])
})

test.each([
  ["Call Bob", "there is no task"],
  ["Buy milk", "several tasks are called"],
])("delete_task does not guess which task %j is", async (task_id, problem) => {
  const world = memory([t1, { ...t1, id: "t3" }])
  const tool = world.tool("delete_task")
  await expect(call(tool, { task_id })).rejects.toThrow(problem)
  expect(world.tasks).toHaveLength(2)
})

test("what create_task, delete_task and restore_task did is taken back by each other, under the same id", async () => {
  const world = memory()
  const inverseOf = (tool: Tool, input: unknown, answer: unknown) => {
    if (tool.effect !== "write" || !tool.inverse) throw new Error(`${tool.name} must have an inverse`)
    return tool.inverse(input, answer as never)
  }
  let doing = { tool: "create_task", input: { title: "Buy milk" } as Record<string, unknown> }
  const seen: string[] = []
  for (let step = 0; step < 4; step++) {
    const tool = world.tool(doing.tool)
    const answer = await call(tool, doing.input)
    seen.push(`${doing.tool} ${world.tasks.map(({ id }) => id).join()}`)
    doing = inverseOf(tool, doing.input, answer)
  }
  expect(seen).toEqual(["create_task task_1", "delete_task ", "restore_task task_1", "delete_task "])
})

test("restore_task is nothing the model knows of", () => {
  const { tools } = workspaceAgent(() => ({}) as Workspace)
  expect(tools.names).toEqual(["list_tasks", "create_task", "delete_task"])
  expect(tools.visibleIn("auto").map(({ name }) => name)).toEqual(tools.names)
})

/** What the offline model makes of a request: the first phrase that fits the whole of it. */
function understood(request: string): unknown {
  const { tool } = memory()
  for (const name of ["list_tasks", "create_task", "delete_task"]) {
    for (const { pattern, arguments: toArguments } of tool(name).phrases ?? []) {
      const match = new RegExp(`^(?:${pattern.source})$`, "i").exec(request)
      if (match) return [name, toArguments(match.groups ?? {})]
    }
  }
  return undefined
}

test.each([
  ["list my tasks", ["list_tasks", {}]],
  ["Show me all my tasks please", ["list_tasks", {}]],
  ["show open tasks", ["list_tasks", { status: "todo" }]],
  ["what are my done tasks", ["list_tasks", { status: "done" }]],
  ["which tasks are in progress", ["list_tasks", { status: "in_progress" }]],
  ["find tasks about the garden", ["list_tasks", { search: "the garden" }]],
  ["add a task: buy milk", ["create_task", { title: "buy milk" }]],
  ["Create a task called X with high priority", ["create_task", { title: "X", priority: "high" }]],
  ['new task "Call Ada" (low)', ["create_task", { title: "Call Ada", priority: "low" }]],
  ["remind me to water the plants", ["create_task", { title: "water the plants" }]],
  ["add bread to my tasks", ["create_task", { title: "bread" }]],
  ["delete task buy milk", ["delete_task", { task_id: "buy milk" }]],
  ['Please remove the task called "Call Ada"', ["delete_task", { task_id: "Call Ada" }]],
  ["delete my task: task_1", ["delete_task", { task_id: "task_1" }]],
  ["delete all my tasks", undefined],
])("offline, %j is understood", (request, expected) => {
  expect(understood(request)).toEqual(expected)
})

test("every example that the offline model gives is one it understands", () => {
  const { tool } = memory()
  const examples = ["list_tasks", "create_task", "delete_task"].flatMap((name) =>
    (tool(name).phrases ?? []).map((each) => each.example),
  )
  expect(examples.filter((example) => understood(example) === undefined)).toEqual([])
})
