import { describe, expect, test } from "vitest"
import { type CallOutcome, type DeviceCall, newId } from "../../core/pack.ts"
import { workspaceAgent } from "./agent.ts"
import { DeviceWorkspace } from "./device/device-workspace.ts"
import { contextAt } from "../../test/workspace/in-memory-workspace.ts"

const row = {
  ...{ id: "t1", projectId: null, title: "Roof", description: null, status: "todo", priority: "medium" },
  ...{ assignee: null, dueDate: null, isAiSuggested: 1, isApproved: 1, createdAt: 5 },
}
const call = newId("call")

/** A device with one row: `get` reads it, and a write returns the given answer. */
function device(
  kept: Record<string, unknown> | null,
  answer: CallOutcome,
  later: CallOutcome | "not-applied" = answer,
) {
  const asked: DeviceCall[] = []
  const context = contextAt({ site: "device", deviceId: "laptop", callId: call })
  const open = () =>
    new DeviceWorkspace(
      {
        async call(_place, call, { effect }) {
          asked.push(call)
          if (effect === "write") return answer
          return call.action === "get" ? { row: kept } : { rows: [] }
        },
        outcome: async () => later,
        isReachable: () => true,
      },
      context,
    )
  const { tools } = workspaceAgent(open)
  const tool = (name: string) =>
    tools.find(name) as Extract<ReturnType<typeof tools.find>, { afterCrash: "ask-target" }>
  return {
    workspace: open(),
    asked,
    context,
    tool,
    use: async (name: string, input: object) => tool(name).run(input, context),
  }
}

describe("an incomplete row is read back, and the write is not left in doubt", () => {
  const insert = { action: "insert", table: "tasks", data: { title: "Roof" } } as const
  const update = { action: "update", table: "tasks", id: "t1", updates: { title: "Roof" } } as const

  test.each([{ id: "t1" }, { ...row, status: undefined }, { ...row, createdAt: "now" }])(
    "insert: %j",
    async (given) => {
      const { workspace, asked } = device(row, { row: given })
      expect(await workspace.write(insert, call)).toMatchObject({ before: null, after: row })
      expect(asked.map(({ action }) => action)).toEqual(["insert", "get"])
      // And so it is when only the device's ledger is left to tell.
      expect(await workspace.outcome(call, insert)).toMatchObject({ before: null, after: row })
    },
  )

  test.each([{ id: "t1" }, {}, { title: "Roof" }])("update: %j", async (given) => {
    const { workspace, asked } = device(row, { row: given })
    expect(await workspace.write(update, call)).toMatchObject({ before: row, after: row })
    expect(asked.map(({ action }) => action)).toEqual(["get", "update", "get"])
  })

  test("what cannot be read the second time either, or is not there, is in doubt", async () => {
    for (const kept of [null, { id: "t1" }, { ...row, id: "t2" }]) {
      const { workspace } = device(kept, { row: { id: "t1" } })
      await expect(workspace.write(insert, call)).rejects.toMatchObject({ code: "outcome_unknown" })
    }
    const { workspace, asked } = device(row, { row: { id: "t2" } })
    await expect(workspace.write(update, call)).rejects.toMatchObject({ code: "outcome_unknown" })
    expect(asked.at(-1)?.action).toBe("update")
  })
})

describe("a stored row that differs from the approved one is reported, with the differences", () => {
  test("a new one, also when it is read back, and also when only the ledger tells", async () => {
    const stored = { ...row, priority: "high", assignee: '["Bob"]', title: "Roofs" }
    const input = { title: "Roof", assignees: ["Ada"], due_date: null }
    const words =
      "It differs from the approved change: title is Roofs, not Roof; priority is high, not medium; assigned to is Bob, not Ada."
    const { use, tool, context } = device(stored, { row: stored })
    expect((await use("create_task", input)).text).toContain(words)
    expect((await device(stored, { row: { id: "t1" } }).use("create_task", input)).text).toContain(words)
    const outcome = await tool("create_task").outcome(call, input, context)
    expect(outcome).toMatchObject({
      text: expect.stringContaining("title is Roofs, not Roof; assigned to is Bob, not Ada"),
    })
  })

  test("a changed one: what was to change and what was not", async () => {
    const { use } = device(row, { row: { ...row, title: "Door", description: "new" } })
    const { text, change } = await use("update_task", { task_id: "t1", title: "Window" })
    expect(text).toContain(
      "It differs from the approved change: title is Door, not Window; description is new, not none.",
    )
    expect(change).toMatchObject({ after: { title: "Door" } })
  })

  test("one that was deleted, and one that was put back", async () => {
    const gone = await device(row, { deleted: true, row: { ...row, title: "Door" } }).use("delete_task", {
      task_id: "t1",
    })
    expect(gone.text).toContain("It differs from the approved change: title is Door, not Roof.")
    const back = await device(null, { rows: [{ ...row, status: "done" }] }).use("restore_task", { task: row })
    expect(back.text).toContain("It differs from the approved change: status is done, not todo.")
  })

  test("the moment of a day is that day, on a device that knows only moments", async () => {
    const dueDate = Date.UTC(2027, 0, 30, 23) // midnight in Berlin
    for (const [due, words] of [
      [dueDate, /^Task created: [^.]*\.$/],
      [dueDate + 86_400_000, /It differs from the approved change: due is/],
    ] as const) {
      const stored = { ...row, dueDate: due }
      const { text } = await device(stored, { row: stored }).use("create_task", {
        title: "Roof",
        due_date: "2027-01-31",
      })
      expect(text).toMatch(words)
    }
  })

  test("one that holds what was agreed is not: times, text that was mended and lists written otherwise are no difference", async () => {
    const stored = { ...row, title: "Ro\ufffdof", assignee: '[ "Ada" ]', createdAt: 99 }
    const { text } = await device(stored, { row: stored }).use("create_task", { title: "Ro\0of", assignees: ["Ada"] })
    expect(text).toMatch(/^Task created: [^.]*\.$/)
  })
})
