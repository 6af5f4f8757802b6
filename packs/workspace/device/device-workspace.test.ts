import { describe, expect, test } from "vitest"
import {
  type CallOutcome,
  type DeviceCall,
  failure,
  newId,
  type Task,
  type WorkspaceClient,
} from "../../../core/pack.ts"
import { DeviceWorkspace } from "./device-workspace.ts"

const task: Task = {
  ...{ id: "t1", projectId: null, title: "Roof", description: null, status: "todo", priority: "low", assignee: null },
  ...{ dueDate: null, isAiSuggested: 0, isApproved: 1, createdAt: 5 },
}
const project = { id: "p1", clientId: null, name: "House", status: "active", aiSummary: null, createdAt: 1 }
const client: WorkspaceClient = { id: "c1", parentId: null, name: "Acme", industry: null, createdAt: 1 }

type Deal = CallOutcome | Error
/** A device that returns the given answers in order; `later` is its report on a previous call. */
function devices(
  deals: Deal[],
  later: CallOutcome | "not-applied" | Error = "not-applied",
  { knowsDays = true, knowsExpect = false, timeZone = "Europe/Berlin" } = {},
) {
  const asked: (DeviceCall & { effect: string })[] = []
  const workspace = new DeviceWorkspace(
    {
      async call(_place, call, { effect }) {
        asked.push({ ...call, effect })
        const deal = deals.shift()
        if (!deal) throw new Error("asked for more than expected")
        if (deal instanceof Error) throw deal
        return deal
      },
      async outcome() {
        if (later instanceof Error) throw later
        return later
      },
      isReachable: () => true,
      knows: (_place, what) => (what === "days" && knowsDays) || (what === "expect" && knowsExpect),
    },
    {
      ...{
        user: newId("user"),
        conversation: newId("conv"),
        callId: newId("call"),
        site: "device",
        deviceId: "laptop",
      },
      timeZone,
      signal: new AbortController().signal,
    },
  )
  const sent = () => asked.map(({ callId: _, ...call }) => call)
  return { workspace, asked, sent }
}

const call = newId("call")
const inDoubt = { code: "outcome_unknown" }

describe("exactly the approved arguments are sent", () => {
  test("reads", async () => {
    const { workspace, sent } = devices([{ rows: [task] }, { row: task }, { results: [] }, { results: [] }])
    await workspace.select("tasks", { status: "todo", projectId: null, search: undefined })
    await workspace.get("tasks", "t1")
    const vector = { embedder: "e", numbers: [1, 0.5] }
    await workspace.nearest(vector, { limit: 3 })
    await workspace.nearest(vector, { limit: 3, projectId: "p1" })
    const search = { action: "vector_search", table: "notes", vector: [1, 0.5], limit: 3, effect: "read" }
    expect(sent()).toEqual([
      { action: "select", table: "tasks", filters: { status: "todo" }, limit: 10_001, effect: "read" },
      { action: "get", table: "tasks", data: { id: "t1" }, effect: "read" },
      search,
      { ...search, filters: { projectId: "p1" } },
    ])
  })

  test("a write is sent with the id of its call; a vector with a derived id", async () => {
    const changed = { ...task, title: "Door" }
    const { workspace, asked, sent } = devices([
      { row: task },
      { row: task },
      { row: changed, before: task },
      { row: changed },
      { deleted: true, row: changed, with: {} },
      { rows: [task] },
      { ok: true },
    ])
    const { id: _, createdAt: __, ...data } = task
    await workspace.write({ action: "insert", table: "tasks", data: { title: "Roof", priority: "low" } }, call)
    const [updates, expected] = [{ title: "Door" }, { title: "Roof" }]
    await workspace.write({ action: "update", table: "tasks", id: "t1", updates, expect: expected }, call)
    await workspace.write({ action: "delete", table: "tasks", id: "t1", expect: updates, along: {} }, call)
    await workspace.write({ action: "restore", table: "tasks", rows: [task], with: {} }, call)
    await workspace.upsertVector({ id: "n1", projectId: null, content: "c" }, { embedder: "e", numbers: [1] })
    const look = { action: "get", table: "tasks", data: { id: "t1" }, effect: "read" }
    expect(sent()).toEqual([
      { action: "insert", table: "tasks", data, effect: "write" },
      look,
      { action: "update", table: "tasks", data: { id: "t1", updates, expect: expected }, effect: "write" },
      look,
      { action: "delete", table: "tasks", data: { id: "t1" }, effect: "write" },
      { action: "restore", table: "tasks", data: { rows: [task], with: {} }, effect: "write" },
      {
        action: "vector_upsert",
        table: "notes",
        data: { id: "n1", projectId: null, content: "c" },
        vector: [1],
        effect: "write",
      },
    ])
    const ids = asked.filter(({ effect }) => effect === "write").map(({ callId }) => callId)
    expect(ids.slice(0, 4)).toEqual(Array(4).fill(call))
    expect(ids[4]).toMatch(/^call_/)
    expect(ids[4]).not.toBe(call)
  })
})

test("a device that compares by itself receives what was shown: the row, and its dependents", async () => {
  const answers = [{ deleted: true, row: task, with: {} }]
  const { workspace, sent } = devices(answers, "not-applied", { knowsExpect: true })
  const along = { taskComments: ["k1"] }
  await workspace.write({ action: "delete", table: "tasks", id: "t1", expect: { ...task }, along }, call)
  const data = { id: "t1", expect: task, with: along }
  expect(sent()).toEqual([{ action: "delete", table: "tasks", data, effect: "write" }])
})

describe("a malformed answer to a read is refused with the problem", () => {
  test.each<[what: string, answer: CallOutcome, says: string]>([
    ["another row", { row: { ...task, id: "t2" } }, "t2 when asked for t1"],
    ["a row of another table", { row: project }, "another table"],
    ["no title", { row: { ...task, title: undefined } }, "title"],
    ["a state there is not", { row: { ...task, status: "lost" } }, "status"],
    ["a date that is text", { row: { ...task, dueDate: "tomorrow" } }, "dueDate"],
    ["nothing", {}, "cannot be read"],
    ["rows", { rows: [task] }, "cannot be read"],
  ])("get: %s", async (_what, answer, says) => {
    await expect(devices([answer]).workspace.get("tasks", "t1")).rejects.toThrow(says)
  })

  test("a project is not accepted as a client, although it has all columns of a client", async () => {
    await expect(devices([{ row: project }]).workspace.get("clients", "p1")).rejects.toThrow("another table")
    const more = { ...client, status: "active" }
    expect(await devices([{ row: more }]).workspace.get("clients", "c1")).toEqual(client)
  })

  test.each<[what: string, answer: CallOutcome, says: string]>([
    ["no rows", { row: task }, "no rows"],
    ["rows that do not fit the filter", { rows: [{ ...task, status: "done" }] }, "does not match the request"],
    ["a row of another table among them", { rows: [task, project] }, "another table"],
    ["far too many", { rows: Array(10_001).fill(task) }, "the limit is 10000"],
  ])("select: %s", async (_what, answer, says) => {
    await expect(devices([answer]).workspace.select("tasks", { status: "todo" })).rejects.toThrow(says)
  })

  test.each<[what: string, answer: CallOutcome]>([
    ["none", {}],
    [
      "more than asked for",
      {
        results: [
          { id: "a", content: "", score: 1 },
          { id: "b", content: "", score: 1 },
        ],
      },
    ],
  ])("vector_search: %s", async (_what, answer) => {
    const { workspace } = devices([answer])
    await expect(workspace.nearest({ embedder: "e", numbers: [1] }, { limit: 1 })).rejects.toThrow(
      "results that were not requested",
    )
  })

  test("missing nullable columns are null", async () => {
    const { id, title, status, priority, createdAt } = task
    const row = { id, title, status, priority, createdAt, colour: "red" }
    expect(await devices([{ row }]).workspace.get("tasks", "t1")).toEqual(task)
  })
})

describe("a malformed answer to a write leaves it in doubt", () => {
  test.each<[what: string, answer: CallOutcome]>([
    ["nothing", {}],
    ["null", { row: null }],
    ["rows", { rows: [task] }],
    ["a row of another table", { row: project }],
    ["deleted", { deleted: true }],
    ["no id", { row: { ...task, id: undefined } }],
  ])("insert: %s", async (_what, answer) => {
    const write = { action: "insert", table: "tasks", data: { title: "x" } } as const
    await expect(devices([answer]).workspace.write(write, call)).rejects.toMatchObject(inDoubt)
    await expect(devices([], answer).workspace.outcome(call, write)).rejects.toMatchObject(inDoubt)
  })

  test.each<[what: string, answer: CallOutcome]>([
    ["nothing", {}],
    ["another row", { row: { ...task, id: "t2" } }],
    ["another row before it", { row: task, before: { ...task, id: "t2" } }],
    ["ok", { ok: true }],
  ])("update: %s", async (_what, answer) => {
    const { workspace } = devices([{ row: task }, answer])
    const write = { action: "update", table: "tasks", id: "t1", updates: { title: "x" } } as const
    await expect(workspace.write(write, call)).rejects.toMatchObject(inDoubt)
  })

  test.each<[what: string, answer: CallOutcome]>([
    ["nothing", {}],
    ["the row alone", { row: task }],
    ["another row", { deleted: true, row: { ...task, id: "t2" } }],
  ])("delete: %s", async (_what, answer) => {
    const { workspace } = devices([{ row: task }, answer])
    await expect(workspace.write({ action: "delete", table: "tasks", id: "t1" }, call)).rejects.toMatchObject(inDoubt)
  })

  test.each<[what: string, answer: CallOutcome]>([
    ["nothing", {}],
    ["other rows", { rows: [{ ...task, id: "t2" }] }],
    ["fewer rows", { rows: [] }],
    ["more rows", { rows: [task, { ...task, id: "t2" }] }],
  ])("restore: %s", async (_what, answer) => {
    const write = { action: "restore", table: "tasks", rows: [task], with: {} } as const
    await expect(devices([answer]).workspace.write(write, call)).rejects.toMatchObject(inDoubt)
  })
})

describe("a delete with malformed dependents is applied, as the device reports; an undo restores the valid ones", () => {
  const comment = { id: "k1", taskId: "t1", author: "Ada", content: "Tiles", createdAt: 2 }
  test.each<[what: string, along: CallOutcome["with"], kept: unknown, says: string]>([
    [
      "a row that lacks something",
      { taskComments: [comment, { id: "k2" }] },
      { taskComments: [comment] },
      '(id: "k2")',
    ],
    ["rows of another table", { taskComments: [{ ...project }] }, {}, '(id: "p1", "House")'],
    ["rows of no table", { secrets: [{ id: "x" }] }, {}, 'what it calls "secrets"'],
    ["no list", { taskComments: "many" as never }, {}, 'what it calls "taskComments"'],
  ])("%s", async (_what, along, kept, says) => {
    const answer = { deleted: true, row: task, with: along }
    const { workspace } = devices([{ row: task }, answer], answer)
    const gone = { action: "delete", table: "tasks", id: "t1" } as const
    for (const applied of [await workspace.write(gone, call), await workspace.outcome(call, gone)]) {
      expect(applied).toMatchObject({ before: task, after: null })
      expect(applied?.with).toEqual(kept)
      expect(applied?.remark).toContain("An undo does not restore")
      expect(applied?.remark).toContain(says)
    }
  })

  test("a deleted row that was read before only needs the same id", async () => {
    const gone = { action: "delete", table: "tasks", id: "t1" } as const
    const { workspace } = devices([{ row: task }, { deleted: true, row: { ...task, status: "gone" } }])
    expect(await workspace.write(gone, call)).toMatchObject({ before: task, after: null })
    const nobodyLooked = devices([], { deleted: true, row: { ...task, status: "gone" } }).workspace
    await expect(nobodyLooked.outcome(call, gone)).rejects.toMatchObject(inDoubt)
  })

  test("without malformed rows there is no remark", async () => {
    const { workspace } = devices([{ row: task }, { deleted: true, row: task, with: { taskComments: [comment] } }])
    const applied = await workspace.write({ action: "delete", table: "tasks", id: "t1" }, call)
    expect(applied).toEqual({
      action: "delete",
      table: "tasks",
      before: task,
      after: null,
      with: { taskComments: [comment] },
    })
  })
})

describe("a change since the preview", () => {
  const write = {
    action: "update",
    table: "tasks",
    id: "t1",
    updates: { title: "x" },
    expect: { title: "then" },
  } as const

  test("is detected by the server, also if the device does not support `expect`: the write is not sent", async () => {
    for (const later of ["not-applied", failure("outcome_unknown", { problem: "?" })] as const) {
      const { workspace, sent } = devices([{ row: task }], later)
      await expect(workspace.write(write, call)).rejects.toMatchObject({ code: "row_stale" })
      expect(sent()).toMatchObject([{ action: "get" }])
    }
    const { workspace, sent } = devices([{ row: task }])
    await expect(
      workspace.write({ action: "delete", table: "tasks", id: "t1", expect: { title: "then" } }, call),
    ).rejects.toMatchObject({ code: "row_stale" })
    expect(sent()).toMatchObject([{ action: "get" }])
  })

  test("is detected by the device between the check and the write", async () => {
    const { workspace } = devices([
      { row: { ...task, title: "then" } },
      new Error("stale: title of the task t1 changed"),
    ])
    await expect(workspace.write(write, call)).rejects.toMatchObject({ code: "row_stale" })
  })

  test("may be by the same call, which the device's ledger reports", async () => {
    const after = { ...task, title: "x" }
    const earlier = { row: after, before: { ...task, title: "then" } }
    const { workspace } = devices([{ row: after }], earlier)
    expect(await workspace.write(write, call)).toMatchObject({ before: { title: "then" }, after })
  })

  test("and a deleted row is reported as missing, also if another client deleted it first", async () => {
    const gone = { action: "delete", table: "tasks", id: "t1" } as const
    for (const deals of [[{ row: null }], [{ row: task }, { deleted: false }]])
      await expect(devices(deals).workspace.write(gone, call)).rejects.toMatchObject({ code: "row_missing" })
    const { workspace } = devices([{ row: null }], { deleted: true, row: task, with: {} })
    expect(await workspace.write(gone, call)).toMatchObject({ before: task, after: null })
  })
})

test("a device's error is passed on, and the write is not in doubt", async () => {
  const write = { action: "insert", table: "tasks", data: { title: "x" } } as const
  const refused = devices([new Error("The disk is full.")]).workspace.write(write, call)
  await expect(refused).rejects.toThrow("The disk is full.")
  await expect(
    devices([], failure("outcome_unknown", { problem: "?" })).workspace.outcome(call, write),
  ).rejects.toMatchObject(inDoubt)
})

test("a call that is too large is not sent", async () => {
  const { workspace, sent } = devices([])
  const bad = { code: "bad_request" }
  await expect(workspace.select("tasks", { taskId: "x" })).rejects.toMatchObject(bad)
  await expect(workspace.write({ action: "insert", table: "tasks", data: { title: 5 } }, call)).rejects.toMatchObject(
    bad,
  )
  await expect(
    workspace.write({ action: "update", table: "tasks", id: "t1", updates: { id: "x" } }, call),
  ).rejects.toMatchObject(bad)
  expect(sent()).toEqual([])
})

describe("days", () => {
  const today = { dueDateFrom: "2026-03-29", dueDateTo: "2026-03-29", timeZone: "Europe/Berlin", orderBy: "dueDate" }
  const due = { ...task, dueDate: "2026-11-20" }

  test("are sent unchanged to a device that supports them", async () => {
    const { workspace, sent } = devices([{ rows: [due] }, { row: due }])
    expect(await workspace.select("tasks", today)).toEqual([due])
    await workspace.write({ action: "insert", table: "tasks", data: { title: "Roof", dueDate: "2026-11-20" } }, call)
    expect(sent()).toMatchObject([{ filters: today }, { data: { dueDate: "2026-11-20" } }])
  })

  test.each([
    ["Europe/Berlin", "2026-11-19T23:00Z"],
    ["America/Los_Angeles", "2026-11-20T08:00Z"],
    ["Pacific/Kiritimati", "2026-11-19T10:00Z"],
  ])("are sent as midnights in %s to other devices", async (timeZone, midnight) => {
    const dueDate = Date.parse(midnight)
    const old = { ...task, dueDate }
    const answers = [{ row: old }, { row: task }, { row: old, before: task }, { rows: [old] }]
    const { workspace, sent } = devices(answers, "not-applied", { knowsDays: false, timeZone })
    const day = { dueDate: "2026-11-20" }
    await workspace.write({ action: "insert", table: "tasks", data: { title: "Roof", ...day } }, call)
    const update = { action: "update", table: "tasks", id: "t1", updates: day, expect: { dueDate: null } } as const
    expect(await workspace.write(update, call)).toMatchObject({ before: task, after: old })
    await workspace.write({ action: "restore", table: "tasks", rows: [due], with: { tasks: [due] } }, call)
    expect(sent()).toMatchObject([
      { action: "insert", data: { dueDate } },
      { action: "get" },
      { action: "update", data: { updates: { dueDate }, expect: { dueDate: null } } },
      { action: "restore", data: { rows: [{ dueDate }], with: { tasks: [{ dueDate }] } } },
    ])
  })

  test("are requested from such a device as a range of moments, also on a day with 23 hours", async () => {
    const { workspace, sent } = devices([{ rows: [] }], "not-applied", { knowsDays: false })
    await workspace.select("tasks", today)
    const filters = {
      dueDateFrom: Date.UTC(2026, 2, 28, 23),
      dueDateTo: Date.UTC(2026, 2, 29, 22) - 1,
      orderBy: "dueDate",
    }
    expect(sent()).toEqual([{ action: "select", table: "tasks", filters, limit: 10_001, effect: "read" }])
  })
})
