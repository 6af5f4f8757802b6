import { describe, expect, test } from "vitest"
import type { CallOutcome, DeviceCall, DeviceKnowledge, Task } from "../../core/pack.ts"
import { workspaceAgent } from "./agent.ts"
import { DeviceWorkspace } from "./device/device-workspace.ts"
import { contextAt } from "../../test/workspace/in-memory-workspace.ts"

const task = (n: number, more: Record<string, unknown> = {}): Task =>
  ({
    ...{ id: `t${n}`, projectId: null, title: `Task ${n}`, description: null, status: "todo", priority: "low" },
    ...{ assignee: null, dueDate: null, isAiSuggested: 0, isApproved: 1, createdAt: n },
    ...more,
  }) as Task
const tasks = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => task(from + i))

type Answers = (call: DeviceCall, asked: number) => CallOutcome | Error

/** A device that answers every read as `answers` says. */
function device(answers: Answers, knows: readonly DeviceKnowledge[] = ["pages"]) {
  const asked: DeviceCall[] = []
  const context = contextAt({ site: "device", deviceId: "laptop" })
  const calls = {
    async call(_place: unknown, call: DeviceCall) {
      asked.push(call)
      const answer = answers(call, asked.length)
      if (answer instanceof Error) throw answer
      return answer
    },
    outcome: async () => "not-applied" as const,
    isReachable: () => true,
    knows: (_place: unknown, what: DeviceKnowledge) => knows.includes(what),
  }
  const open = () => new DeviceWorkspace(calls, context)
  const { tools } = workspaceAgent(open)
  const use = async (name: string, input: Record<string, unknown> = {}) => tools.find(name)!.run(input, context)
  return { workspace: open(), asked, use }
}

describe("a list of a device that knows pages", () => {
  test("is asked for as many rows as are shown, without what no line shows, and says how many there are", async () => {
    const { use, asked } = device(() => ({ rows: tasks(1, 100), next: "100 t100", total: 8000 }))
    const { text, data } = await use("list_tasks")
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({
      action: "select",
      limit: 100,
      columns: expect.not.arrayContaining(["description"]),
    })
    expect(text).toMatch(/^Found 8000 task\(s\):\n- Task 1 /)
    expect(text).toContain("There are 7900 more.")
    expect(data).toMatchObject({ total: 8000, tasks: expect.objectContaining({ length: 100 }) })
  })

  test("is read on where a page holds fewer than are shown, and whole where all are needed", async () => {
    const pages: CallOutcome[] = [
      { rows: tasks(1, 2), next: "a" },
      { rows: tasks(3, 4), next: "b" },
      { rows: tasks(5, 5) },
    ]
    const { workspace, asked } = device((_, n) => pages[n - 1]!)
    expect(await workspace.select("tasks")).toEqual(tasks(1, 5))
    expect(asked.map(({ after }) => after)).toEqual([undefined, "a", "b"])
  })

  test("may overlap, shrink and answer without pages in between: no row is missing and none comes twice", async () => {
    const pages: CallOutcome[] = [
      { rows: tasks(1, 4), next: "a", total: 9 },
      { rows: tasks(3, 5), next: "b", total: 7 },
      { rows: tasks(1, 7) }, // it is an older program by now, which answers with everything
    ]
    const { workspace } = device((_, n) => pages[n - 1]!)
    const { rows, total } = await workspace.list("tasks")
    expect([rows, total]).toEqual([tasks(1, 7), 7])
  })

  test("without a total says that there is more, and does not make up how much", async () => {
    const { text, data } = await device(() => ({ rows: tasks(1, 100), next: "a" })).use("list_tasks")
    expect(text).toMatch(/^Found more than 100 task\(s\):/)
    expect(text).toContain("There are more. Ask for fewer with")
    expect(data).not.toHaveProperty("total")
  })

  test.each<[what: string, answers: Answers, says: string, most: number]>([
    ["repeats itself for ever", () => ({ rows: tasks(1, 3), next: "a" }), "the same rows again", 2],
    ["has empty pages for ever", () => ({ rows: [], next: "a" }), "the same rows again", 1],
    ["has rows without end", (_, n) => ({ rows: tasks(n * 5000, n * 5000 + 4999), next: "a" }), "too many at once", 2],
    ["has a row a page without end", (_, n) => ({ rows: tasks(n, n), next: `${n}` }), "too many at once", 100],
    ["has rows without ids", () => ({ rows: [{}, {}], next: "a" }), "too many at once", 100],
    [
      "has more text than is kept in memory",
      (_, n) => ({ rows: [task(n, { description: "x".repeat(1_000_000) })], next: "a" }),
      "too many at once",
      17,
    ],
    [
      "sends far more than asked for",
      () => ({ rows: Array(10_001).fill(task(1)), next: "a" }),
      "the limit is 10000",
      1,
    ],
    ["leaves between two pages", (_, n) => (n > 1 ? new Error("gone") : { rows: tasks(1, 3), next: "a" }), "gone", 2],
  ])("%s: an error after a bounded number of questions", async (_what, answers, says, most) => {
    const { workspace, asked } = device(answers)
    await expect(workspace.select("tasks")).rejects.toThrow(says)
    expect(asked.length).toBeLessThanOrEqual(most)
  })
})

test("a device that does not know pages is asked for one row more than is shown, and may answer with all it has", async () => {
  const { use, asked } = device(() => ({ rows: tasks(1, 150), next: "not for us" }), [])
  const { text } = await use("list_tasks")
  expect(asked.map(({ callId: _, ...call }) => call)).toEqual([
    { action: "select", table: "tasks", filters: {}, limit: 101 },
  ])
  expect(text).toMatch(/^Found 150 task\(s\):/)
  expect(text).toContain("There are 50 more.")
})

describe("a row that is odd", () => {
  const odd: [what: string, row: object, words: string[]][] = [
    ["a state there is not", { ...task(2), status: "lost" }, ['row 2 (id: "t2", "Task 2")', "status", 'it is "lost"']],
    ["a column that is missing", { ...task(2), title: undefined }, ['row 2 (id: "t2")', "title", "it is missing"]],
    ["an id that is a number", { ...task(2), id: 2 }, ['row 2 (id: 2, "Task 2")', "id: ", "it is 2"]],
    ["no id", { ...task(2), id: undefined }, ['row 2 (no id, "Task 2")', "id: ", "it is missing"]],
    [
      "another table's",
      { id: "p1", clientId: null, name: "House", status: "active", aiSummary: null, createdAt: 1 },
      ['row 2 (id: "p1", "House")', "another table"],
    ],
  ]

  test.each(odd)("%s: the others are shown, and this one is named with what is odd", async (_what, row, words) => {
    for (const knows of [[], ["pages"]] as const) {
      const { use } = device(() => ({ rows: [task(1), row as Task, task(3)] }), knows)
      const { status, text, data } = await use("list_tasks")
      expect(status).toBe("ok")
      expect(text).toMatch(/^Found 2 task\(s\):\n- Task 1 .*\n- Task 3 .*\n1 task\(s\) on the device cannot be read/)
      for (const word of words) expect(text).toContain(word)
      expect(data).toMatchObject({ tasks: [{ id: "t1" }, { id: "t3" }], total: 2, odd: [{ place: 2 }] })
    }
  })

  test("a row that does not fit the filter is one", async () => {
    const { use } = device(() => ({ rows: [task(1), task(2, { status: "done" })] }))
    const { text } = await use("list_tasks", { status: "todo" })
    expect(text).toMatch(/^Found 1 task\(s\):/)
    expect(text).toContain('row 2 (id: "t2", "Task 2"): status: it is "done", which does not match the request')
  })

  test("and so are ten thousand: ten are named, the rest are counted", async () => {
    const { use } = device(() => ({ rows: Array.from({ length: 10_000 }, (_, n) => ({ id: n })) }))
    const { text } = await use("list_tasks")
    expect(text).toMatch(/^No tasks found\.\n10000 task\(s\) on the device cannot be read/)
    expect(text).toContain("row 10 (id: 9)")
    expect(text).toContain("and 9990 more")
  })

  test("a caller that needs every row gets the position of the malformed one", async () => {
    const { workspace } = device(() => ({ rows: [task(1), { ...task(2), status: "lost" } as unknown as Task] }))
    await expect(workspace.select("tasks")).rejects.toThrow('row 2 (id: "t2", "Task 2")')
  })

  test.each([
    ["a state there is not", { ...task(2), title: "Task 1", status: "lost" }],
    ["an id that is a number", { ...task(2), title: "Task 1", id: 2 }],
  ])("is not worked on by its name, and is named instead: %s", async (_what, row) => {
    const rows = [row as unknown as Task]
    const { use } = device(({ action, data }) => {
      if (action === "select") return { rows }
      return { row: data?.id === row.id ? rows[0]! : null }
    }, [])
    const words = await use("list_task_comments", { task_id: "Task 1" }).then(
      ({ text }) => text,
      (error: Error) => error.message,
    )
    expect(words).toContain("cannot be read")
    expect(words).toContain(JSON.stringify(row.id))
  })

  test("is no reason to guess: where another has the same name, neither is taken", async () => {
    const lost = { ...task(2), title: "Task 1", status: "lost" } as unknown as Task
    const { use } = device(({ action }) => (action === "get" ? { row: null } : { rows: [task(1), lost] }), [])
    const { status, text } = await use("list_task_comments", { task_id: "Task 1" })
    expect([status, text]).toEqual(["error", expect.stringContaining("2 tasks are called")])
  })
})

test("names are found without the rows they belong to; the row that is meant is read whole", async () => {
  const {
    workspace: _,
    use,
    asked,
  } = device(({ action, data }) => {
    if (action === "select")
      return {
        rows: [
          { id: "t1", title: "Task 1" },
          { id: "t12", title: "Task 12" },
        ],
      }
    return { row: data?.id === "t1" ? task(1) : null }
  })
  const { text } = await use("list_task_comments", { task_id: "task 1" })
  expect(asked[1]).toMatchObject({ action: "select", filters: { search: "task 1" }, columns: ["title"] })
  expect(asked[2]).toMatchObject({ action: "get", data: { id: "t1" } })
  expect(text).toContain("cannot be read") // the rows that stand for comments here are none
})
