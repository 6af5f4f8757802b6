import { describe, expect, test } from "vitest"
import { databases } from "../../test/databases.ts"
import { newId } from "../protocol/ids.ts"
import { type NewTask, Task } from "../protocol/workspace.ts"
import { openStore } from "./store.ts"

const milk: NewTask = {
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

describe.each(databases)("the workspace on $name", ({ create }) => {
  async function open() {
    const database = await create()
    let now = 1_000
    const clock = { now: () => now++, alarm: () => () => {} }
    const store = await openStore({ url: database.url, durability: "normal", clock })
    const workspace = store.workspaceOf(newId("user"))
    const add = (data: Partial<NewTask>) => workspace.create({ ...milk, ...data }, newId("call"))
    const titles = async (filters: Parameters<typeof workspace.list>[0]) =>
      (await workspace.list(filters)).map((task) => task.title)
    return { store, workspace, add, titles, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
  }

  test("gives back every field of a task as it was made", async () => {
    await using world = await open()
    const data: NewTask = {
      projectId: "p1",
      title: "Ring 'Ada' – \"now\" 🔔",
      description: "50%_\\",
      status: "in_progress",
      priority: "high",
      assignee: '["Ada","Bob"]',
      dueDate: 1_800_000_000_000,
      isAiSuggested: 1,
      isApproved: 0,
    }
    const made = await world.workspace.create(data, newId("call"))
    expect(made).toEqual({ ...data, id: expect.stringMatching(/^task_/), createdAt: expect.any(Number) })
    expect(Task.parse(await world.workspace.get(made.id))).toEqual(made)
    expect(await world.workspace.list({})).toEqual([made])
  })

  test("applies a call once, however often and however much at once it comes", async () => {
    await using world = await open()
    const call = newId("call")
    expect(await world.workspace.outcome(call)).toBeUndefined()
    const made = await Promise.all([1, 2, 3, 4, 5].map((n) => world.workspace.create({ ...milk, title: `${n}` }, call)))
    const later = await world.workspace.create({ ...milk, title: "later" }, call)
    expect(new Set([...made, later].map((task) => task.id)).size).toBe(1)
    expect(await world.workspace.list({})).toEqual([later])
    expect(await world.workspace.outcome(call)).toEqual(later)
  })

  test("deletes a task and puts it back as it was, each once for a call", async () => {
    await using world = await open()
    const { workspace } = world
    const made = await world.add({ description: "2 litres", dueDate: 5 })
    const other = await world.add({ title: "Other" })
    const [first, second] = [newId("call"), newId("call")]
    expect(await Promise.all([1, 2, 3].map(() => workspace.delete(made.id, first)))).toEqual([made, made, made])
    expect(await workspace.list({})).toEqual([other])
    expect(await workspace.outcome(first)).toEqual(made)
    expect(await workspace.delete(made.id, newId("call"))).toBeUndefined()
    expect(await Promise.all([1, 2, 3].map(() => workspace.restore(made, second)))).toEqual([made, made, made])
    expect(await workspace.list({})).toEqual([made, other])
    // What was deleted stays applied: asking again does not delete it again.
    expect(await workspace.delete(made.id, first)).toEqual(made)
    expect(await workspace.list({})).toHaveLength(2)
  })

  test("puts nothing back over a task that is there, and touches nobody else's", async () => {
    await using world = await open()
    const made = await world.add({})
    const stranger = world.store.workspaceOf(newId("user"))
    const call = newId("call")
    expect(await world.workspace.restore({ ...made, title: "Mine" }, call)).toBeUndefined()
    expect(await stranger.restore({ ...made, title: "Mine" }, newId("call"))).toBeUndefined()
    expect(await stranger.delete(made.id, newId("call"))).toBeUndefined()
    expect(await world.workspace.list({})).toEqual([made])
    expect(await world.workspace.outcome(call)).toBeUndefined()
  })

  test("leaves no trace of a call whose task could not be written", async () => {
    await using world = await open()
    const call = newId("call")
    await expect(world.workspace.create({ ...milk, title: null as never }, call)).rejects.toThrow()
    expect(await world.workspace.outcome(call)).toBeUndefined()
    expect((await world.workspace.create(milk, call)).title).toBe("Buy milk")
  })

  test("shows nobody what is somebody else's", async () => {
    await using world = await open()
    const made = await world.add({})
    const other = world.store.workspaceOf(newId("user"))
    expect(await other.list({})).toEqual([])
    expect(await other.get(made.id)).toBeUndefined()
  })

  test("finds by state, project and words in any case, null being the same as absent", async () => {
    await using world = await open()
    await world.add({ title: "Buy milk" })
    await world.add({ title: "Öl kaufen", status: "done", projectId: "p1" })
    await world.add({ title: "Call", description: "about the MILK", status: "in_progress", projectId: "p1" })
    expect(await world.titles({ projectId: null, status: null, search: null, orderBy: null })).toHaveLength(3)
    expect(await world.titles({ status: "done" })).toEqual(["Öl kaufen"])
    expect(await world.titles({ projectId: "p1" })).toEqual(["Öl kaufen", "Call"])
    expect(await world.titles({ search: "milk" })).toEqual(["Buy milk", "Call"])
    expect(await world.titles({ search: "öL" })).toEqual(["Öl kaufen"])
    expect(await world.titles({ search: "%" })).toEqual([])
    expect(await world.titles({ search: "milk", projectId: "p1" })).toEqual(["Call"])
  })

  test("orders by what it is told, oldest first otherwise", async () => {
    await using world = await open()
    await world.add({ title: "b", priority: "low", dueDate: 20 })
    await world.add({ title: "C", priority: "high" })
    await world.add({ title: "a", priority: "medium", dueDate: 10 })
    expect(await world.titles({})).toEqual(["b", "C", "a"])
    expect(await world.titles({ orderBy: "title" })).toEqual(["a", "b", "C"])
    expect(await world.titles({ orderBy: "priority" })).toEqual(["C", "a", "b"])
    expect(await world.titles({ orderBy: "dueDate" })).toEqual(["a", "b", "C"])
  })
})
