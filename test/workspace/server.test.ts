import { describe, expect, test } from "vitest"
import { newId } from "../../core/protocol/ids.ts"
import type { RowChange } from "../../core/protocol/workspace.ts"
import type { WorkspaceFile } from "../../core/protocol/workspace-file.ts"
import type { Task } from "../../core/protocol/workspace-tables.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Desk } from "./contract.ts"
import { TurnedClock } from "../support/loop/world.ts"

describe.each(databasesInTurn(import.meta.filename))("workspaces of several people on $name", ({ create }) => {
  const open = (url: string) => openStore({ url, durability: "normal" })
  const [ada, bob] = [newId("user"), newId("user")]

  test("another person's row is missing for reads, changes, references and restores", async () => {
    await using store = await open((await create()).url)
    const [mine, theirs] = [new Desk(store.workspaceOf(ada)), new Desk(store.workspaceOf(bob))]
    const project = await mine.insert("projects", { name: "House" })
    const task = await mine.insert("tasks", { title: "Roof", projectId: project.id })
    const before = await mine.everything()
    expect(await theirs.workspace.get("tasks", task.id)).toBeUndefined()
    expect(await theirs.column("tasks", "id")).toEqual([])
    expect(await theirs.workspace.hanging("projects", project.id)).toEqual({})
    const missing = { code: "row_missing" }
    await expect(theirs.update("tasks", task.id, { title: "x" })).rejects.toMatchObject(missing)
    await expect(theirs.delete("projects", project.id)).rejects.toMatchObject(missing)
    await expect(theirs.insert("tasks", { title: "x", projectId: project.id })).rejects.toMatchObject({
      code: "bad_request",
      message: `There is no project ${project.id}.`,
    })
    await expect(theirs.restore("tasks", [{ ...(task as Task), projectId: null }])).rejects.toMatchObject({
      code: "bad_request",
    })
    expect(await mine.everything()).toEqual(before)
    expect(await theirs.column("tasks", "id")).toEqual([])
  })

  test("the outcome of a call is returned to its person only", async () => {
    await using store = await open((await create()).url)
    const call = newId("call")
    await new Desk(store.workspaceOf(ada)).apply({ action: "insert", table: "tasks", data: { title: "x" } }, call)
    expect(await store.workspaceOf(ada).outcome(call)).toMatchObject({ after: { title: "x" } })
    expect(await store.workspaceOf(bob).outcome(call)).toBeUndefined()
  })

  test("a call that comes many times at once is applied once", async () => {
    const { url } = await create()
    await using first = await open(url)
    await using second = await open(url)
    const call = newId("call")
    const insert = (store: Store, n: number) =>
      store.workspaceOf(ada).write({ action: "insert", table: "tasks", data: { title: `${n}` } }, call)
    const all = await Promise.all([1, 2, 3, 4].flatMap((n) => [insert(first, n), insert(second, n + 4)]))
    expect(new Set(all.map(({ after }) => after?.id)).size).toBe(1)
    expect(await first.workspaceOf(ada).select("tasks")).toHaveLength(1)
  })

  test("two concurrent processes leave no row without a parent, and lose no write", async () => {
    const { url } = await create()
    await using one = await open(url)
    await using other = await open(url)
    const [here, there] = [new Desk(one.workspaceOf(ada)), new Desk(other.workspaceOf(ada))]
    for (let round = 0; round < 6; round++) {
      const { id: projectId } = await here.insert("projects", { name: "House" })
      const kept = await here.insert("tasks", { title: "kept" })
      const adding = [1, 2, 3].map((n) => there.insert("tasks", { title: `${n}`, projectId }))
      const changing = there.update("tasks", kept.id, { title: "changed" })
      const deleting = here.delete("projects", projectId)
      await Promise.allSettled(adding)
      await Promise.all([changing, deleting])
      expect(await here.column("tasks", "title")).toEqual(["changed"])
      await here.delete("tasks", kept.id)
    }
    const { id } = await here.insert("tasks", { title: "0" })
    const race = [here, there].flatMap((desk) =>
      [1, 2, 3].map((n) => desk.update("tasks", id, { title: `${n}` }, { title: "0" })),
    )
    const won = (await Promise.allSettled(race)).filter(({ status }) => status === "fulfilled")
    expect(won).toHaveLength(1)
  })

  test("changes are reported after the commit, and not at all if nothing changed", async () => {
    await using store = await open((await create()).url)
    const told: [string, readonly RowChange[]][] = []
    const stop = store.workspaces.onChange((person, changes) => void told.push([person, changes]))
    store.workspaces.onChange(() => {
      throw new Error("a listener's defect")
    })
    process.once("warning", () => {})
    const desk = new Desk(store.workspaceOf(ada))
    const project = await desk.insert("projects", { name: "House" })
    const task = await desk.insert("tasks", { title: "Roof", projectId: project.id })
    await desk.update("tasks", task.id, {})
    await desk.update("tasks", task.id, { title: "x" }, { title: "y" }).catch(() => {})
    const gone = await desk.delete("projects", project.id)
    stop()
    await desk.restore("projects", [project], gone.with)
    expect(told).toEqual([
      [ada, [{ table: "projects", id: project.id, row: project }]],
      [ada, [{ table: "tasks", id: task.id, row: task }]],
      [
        ada,
        [
          { table: "projects", id: project.id, row: null },
          { table: "tasks", id: task.id, row: null },
        ],
      ],
    ])
  })

  test("vectors of deleted notes are deleted in the same transaction, or the notes stay", async () => {
    await using store = await open((await create()).url)
    const forgotten: string[][] = []
    let fails = true
    store.workspaces.vectors = {
      upsert: async () => {},
      nearest: async () => [],
      progress: async () => ({ waiting: 0, all: 0 }),
      follow: (_person, { action, with: others }) => {
        if (action !== "delete") return []
        forgotten.push((others.notes ?? []).map(({ id }) => id))
        return fails ? [{ sql: "UPDATE note SET title = 'x' WHERE id = ?", values: ["none"], mustChange: true }] : []
      },
    }
    const desk = new Desk(store.workspaceOf(ada))
    const { id: projectId } = await desk.insert("projects", { name: "House" })
    const note = await desk.insert("notes", { title: "n", projectId })
    await expect(desk.delete("projects", projectId)).rejects.toMatchObject({ code: "bad_request" })
    expect(await desk.all("notes")).toEqual([note])
    fails = false
    await desk.delete("projects", projectId)
    expect(await desk.all("notes")).toEqual([])
    expect(forgotten).toEqual([[note.id], [note.id]])
  })

  test("a note has the time of its last change, and is listed in that order", async () => {
    const clock = new TurnedClock()
    await using store = await openStore({ url: (await create()).url, durability: "normal", clock })
    const desk = new Desk(store.workspaceOf(ada))
    const first = await desk.insert("notes", { title: "first" })
    await clock.turn(5)
    await desk.insert("notes", { title: "second" })
    await clock.turn(5)
    const { after } = await desk.update("notes", first.id, { content: "more" })
    expect(after).toMatchObject({ createdAt: first.createdAt, updatedAt: first.createdAt + 10 })
    expect(await desk.column("notes", "title", { orderBy: "updatedAt" })).toEqual(["second", "first"])
  })

  test("an export shows one moment, also while another process writes", async () => {
    const { url } = await create()
    await using one = await open(url)
    await using other = await open(url)
    const desk = new Desk(other.workspaceOf(ada))
    const { engine } = one
    const query = engine.query.bind(engine)
    let writes = 2
    engine.query = async <Row>(sql: string, values: readonly unknown[]) => {
      if (sql.includes("FROM task WHERE") && writes-- > 0) {
        const { id: projectId } = await desk.insert("projects", { name: "late" })
        await desk.insert("tasks", { title: "late", projectId })
      }
      return query<Row>(sql, values)
    }
    const pieces = await Array.fromAsync(await one.workspaceOf(ada).export())
    const { projects, tasks } = JSON.parse(pieces.join("")) as WorkspaceFile
    expect([projects.length, tasks.length]).toEqual([2, 2])
    expect(tasks.map(({ projectId }) => projectId).sort()).toEqual(projects.map(({ id }) => id).sort())
  })

  test("a due day is returned until a program that only writes timestamps has changed it", async () => {
    await using store = await open((await create()).url)
    const desk = new Desk(store.workspaceOf(ada))
    const task = await desk.insert("tasks", { title: "Roof", dueDate: "2026-11-20" })
    const older = async (dueDate: number | null) => {
      const write = { sql: "UPDATE task SET due_date = ? WHERE id = ?", values: [dueDate, task.id] }
      await store.engine.change({ type: "statements", statements: [write] })
      return (await desk.workspace.get("tasks", task.id))?.dueDate
    }
    const rows = await store.engine.query("SELECT due_date, due_day FROM task WHERE id = ?", [task.id])
    // At that moment nearly every calendar shows this day.
    expect(rows[0]).toMatchObject({ due_date: Date.UTC(2026, 10, 20, 12), due_day: "2026-11-20" })
    expect(await older(Date.UTC(2026, 10, 21))).toBe(Date.UTC(2026, 10, 21))
    expect(await older(null)).toBeNull()
    expect((await desk.update("tasks", task.id, { dueDate: "2026-11-22" })).after).toMatchObject({
      dueDate: "2026-11-22",
    })
  })

  test("values stored before there were six tables are still understood", async () => {
    await using store = await open((await create()).url)
    const desk = new Desk(store.workspaceOf(ada))
    const task = (await desk.insert("tasks", { title: "Roof" })) as Task
    const call = newId("call")
    const sql = "INSERT INTO applied_call (call_id, answer, at, person) VALUES (?, ?, 1, NULL)"
    const statements = [{ sql, values: [call, JSON.stringify(task)] }]
    await store.engine.change({ type: "statements", statements })
    expect(await store.workspaceOf(ada).outcome(call)).toMatchObject({ action: "insert", after: task })
    await desk.delete("tasks", task.id)
    expect(await store.workspaceOf(ada).outcome(call)).toMatchObject({ action: "delete", before: task })
  })
})
