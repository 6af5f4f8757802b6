import { describe, expect, test } from "vitest"
import { feedFrames } from "../../core/protocol/frames.ts"
import { newId } from "../../core/protocol/ids.ts"
import { tableNames } from "../../core/protocol/workspace-tables.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { readFrames, type SeenFrame } from "../support/server/stream.ts"
import { countWork } from "../support/worked.ts"
import { TurnedClock } from "../support/loop/world.ts"

const at = (table: string, id = "") => `/api/workspace/${table}${id ? `/${id}` : ""}`

describe.each(databasesInTurn(import.meta.filename))("changes by hand to a workspace on $name", ({ create }) => {
  const open = async () =>
    Face.open({
      url: (await create()).url,
      model: scripted(calls("create_task", { title: "By a run" }), says("Done.")),
    })
  const add = async (visitor: Visitor, table: string, columns: object) => {
    const { status, text, body } = await visitor.post(at(table), columns)
    if (status !== 201) throw new Error(text)
    return body
  }
  const list = async (visitor: Visitor, table: string, query = "") =>
    (await visitor.get(`${at(table)}?${query}`)).body.items
  const everything = async (visitor: Visitor) => (await visitor.get(at("export"))).body

  test("adds, lists, finds, changes and deletes rows, and puts them back", async () => {
    await using face = await open()
    const ada = await face.as("ada")
    const project = await add(ada, "projects", { name: "House" })
    const task = await add(ada, "tasks", { title: "Roof", projectId: project.id, dueDate: 20 })
    await add(ada, "tasks", { title: "Äpfel", status: "done" })
    const comment = await add(ada, "taskComments", { taskId: task.id, author: "Ada", content: "Soon" })
    expect(await list(ada, "tasks", `projectId=${project.id}&dueDateFrom=20&dueDateTo=20&status=`)).toEqual([task])
    expect(await list(ada, "tasks", "search=%C3%84PF&orderBy=title")).toMatchObject([{ title: "Äpfel" }])
    expect((await ada.get(at("tasks", task.id))).body).toEqual(task)
    const changed = await ada.patch(at("tasks", task.id), { updates: { title: "Door" }, expect: { title: "Roof" } })
    expect([changed.status, changed.body]).toEqual([200, { ...task, title: "Door" }])
    const gone = await ada.delete(at("projects", project.id))
    expect([gone.status, gone.body]).toEqual([
      200,
      { row: project, with: { tasks: [changed.body], taskComments: [comment] } },
    ])
    expect((await ada.get(at("tasks", task.id))).status).toBe(404)
    const back = await ada.post(at("projects", "restore"), { rows: [gone.body.row], with: gone.body.with })
    expect([back.status, back.body]).toEqual([200, { rows: [project], with: gone.body.with }])
    expect(await list(ada, "taskComments", `taskId=${task.id}`)).toEqual([comment])
    // No change was proposed, and no agent acted.
    expect((await ada.get("/api/agent/audit")).body.items).toEqual([])
  })

  test("archived projects are listed on request", async () => {
    await using face = await open()
    const ada = await face.as("ada")
    await add(ada, "projects", { name: "old", status: "archived" })
    expect(await list(ada, "projects")).toEqual([])
    expect(await list(ada, "projects", "includeArchived=false")).toEqual([])
    expect(await list(ada, "projects", "includeArchived=true")).toHaveLength(1)
    expect((await ada.get(`${at("projects")}?includeArchived=maybe`)).status).toBe(400)
  })

  test("invalid input is refused, and nothing has changed", async () => {
    await using face = await open()
    const ada = await face.as("ada")
    const task = await add(ada, "tasks", { title: "Roof" })
    const client = await add(ada, "clients", { name: "Acme" })
    await add(ada, "projects", { name: "House", clientId: client.id })
    const before = await everything(ada)
    const asked: [method: string, path: string, body: unknown, status: number, code: string][] = [
      ["POST", at("tasks"), { title: "x", colour: "red" }, 400, "bad_request"],
      ["POST", at("tasks"), { title: "x", id: "task_mine" }, 400, "bad_request"],
      ["POST", at("tasks"), { title: "x", projectId: "proj_none" }, 400, "bad_request"],
      ["POST", at("tasks"), { title: "a\0b" }, 400, "unstorable_text"],
      ["POST", at("tasks"), { title: "x", dueDate: 8.65e15 }, 400, "bad_request"],
      ["POST", at("tasks"), "[]", 400, "bad_request"],
      ["POST", at("secrets"), { title: "x" }, 404, "not_found"],
      ["GET", `${at("tasks")}?colour=red`, undefined, 400, "bad_request"],
      ["GET", `${at("tasks")}?clientId=x`, undefined, 400, "bad_request"],
      ["GET", `${at("tasks")}?dueDateFrom=soon`, undefined, 400, "bad_request"],
      ["GET", `${at("tasks")}?orderBy=person`, undefined, 400, "bad_request"],
      ["PATCH", at("tasks", task.id), { updates: { title: "x" }, expect: { title: "y" } }, 409, "row_stale"],
      ["PATCH", at("tasks", task.id), { title: "x" }, 400, "bad_request"],
      ["PATCH", at("tasks", "task_none"), { updates: { title: "x" } }, 404, "not_found"],
      ["DELETE", `${at("tasks", task.id)}?expect=${encodeURIComponent('{"title":"y"}')}`, undefined, 409, "row_stale"],
      ["DELETE", `${at("tasks", task.id)}?expect=y`, undefined, 400, "bad_request"],
      ["DELETE", `${at("tasks", task.id)}?expected=y`, undefined, 400, "bad_request"],
      ["DELETE", at("clients", client.id), undefined, 400, "bad_request"],
      ["POST", at("tasks", "restore"), { rows: [task] }, 400, "bad_request"],
      ["POST", at("tasks", "restore"), { rows: [{ ...task, id: "mine" }] }, 400, "bad_request"],
      ["POST", at("tasks", "restore"), { rows: [] }, 400, "bad_request"],
      [
        "POST",
        at("tasks", "restore"),
        { rows: [{ ...task, id: newId("task") }], with: { person: [{}] } },
        400,
        "bad_request",
      ],
    ]
    for (const [method, path, body, status, code] of asked) {
      const reply = await ada.ask(method, path, { body })
      expect([reply.status, reply.body.code], `${method} ${path} ${JSON.stringify(body)}`).toEqual([status, code])
    }
    expect(await everything(ada)).toEqual(before)
  })

  test("a token that may only read changes nothing", async () => {
    await using face = await open()
    const [ada, reader] = [await face.as("ada"), await face.as("ada", "read")]
    const task = await add(ada, "tasks", { title: "Roof" })
    expect((await reader.get(at("tasks", task.id))).status).toBe(200)
    const replies = await Promise.all([
      reader.post(at("tasks"), { title: "x" }),
      reader.patch(at("tasks", task.id), { updates: { title: "x" } }),
      reader.delete(at("tasks", task.id)),
      reader.post(at("tasks", "restore"), { rows: [task] }),
      reader.post(at("import"), {}),
      reader.post(at("sample")),
      reader.delete(at("sample")),
    ])
    expect(replies.map(({ status }) => status)).toEqual(Array(7).fill(403))
    expect(await list(ada, "tasks")).toEqual([task])
  })

  test("another person's row is missing, byte for byte", async () => {
    await using face = await open()
    const [ada, bob] = [await face.as("ada"), await face.as("bob")]
    const task = await add(ada, "tasks", { title: "Roof" })
    for (const ask of [
      (id: string) => bob.get(at("tasks", id)),
      (id: string) => bob.patch(at("tasks", id), { updates: { title: "x" }, expect: { title: "Roof" } }),
      (id: string) => bob.delete(at("tasks", id)),
    ]) {
      const [theirs, none] = [await ask(task.id), await ask(newId("task"))]
      expect([theirs.status, theirs.text]).toEqual([404, none.text])
    }
    expect(await list(bob, "tasks")).toEqual([])
    expect(await list(ada, "tasks")).toEqual([task])
  })

  test("an export imported by another person is the same workspace under other ids; a partial one is refused whole", async () => {
    await using face = await open()
    const [ada, bob] = [await face.as("ada"), await face.as("bob")]
    await ada.post(at("sample"))
    await add(ada, "projects", { name: "old", status: "archived" })
    const file = await everything(ada)
    const counts = Object.fromEntries(tableNames.map((name) => [name, file[name].length]))
    const reply = await bob.post(at("import"), file)
    expect([reply.status, reply.body]).toEqual([201, counts])
    const copy = await everything(bob)
    expect(namesOf(copy)).toEqual(namesOf(file))
    const ids = (of: typeof file) => tableNames.flatMap((name) => of[name].map(({ id }: { id: string }) => id))
    expect(ids(copy).filter((id) => ids(file).includes(id))).toEqual([])

    const broken: [file: object, says: string][] = [
      [{ ...file, projects: [] }, "not in the file"],
      [{ ...file, tasks: [...file.tasks, file.tasks[0]] }, "is there twice"],
      [{ ...file, tasks: [{ ...file.tasks[0], colour: "red" }] }, "colour"],
      [{ ...file, secrets: [] }, "secrets"],
      [{ ...file, version: 2 }, "version"],
      [
        {
          notes: Array(10_001).fill({ id: "n", projectId: null, title: "", content: "", createdAt: 1, updatedAt: 1 }),
        },
        "at most 10000 are taken",
      ],
      [
        {
          clients: [
            { id: "a", parentId: "b", name: "a", industry: null, createdAt: 1 },
            { id: "b", parentId: "a", name: "b", industry: null, createdAt: 1 },
          ],
        },
        "a part of itself",
      ],
    ]
    for (const [sent, says] of broken) {
      const refused = await bob.post(at("import"), sent)
      expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining(says)])
    }
    expect(await everything(bob)).toEqual(copy)
    expect((await bob.post(at("import"), {})).status).toBe(201)
  })

  test("a workspace of megabytes can be exported and imported, though a message of that size is refused", async () => {
    await using face = await open()
    const ada = await face.as("ada")
    const row = (n: number) => ({
      id: `n${n}`,
      projectId: null,
      title: `${n}`,
      content: "x".repeat(2000),
      createdAt: n,
      updatedAt: n,
    })
    const file = { notes: Array.from({ length: 1500 }, (_, n) => row(n)) }
    expect((await ada.post(at("import"), file)).body).toMatchObject({ notes: 1500, tasks: 0 })
    expect((await everything(ada)).notes.map(({ title }: { title: string }) => title)).toEqual(
      file.notes.map(({ title }) => title),
    )
    expect((await ada.post(at("notes"), { title: "x", content: "x".repeat(2_000_000) })).status).toBe(400)
    expect((await ada.post(at("import"), { notes: [{ ...row(1), content: "x".repeat(9_000_000) }] })).status).toBe(400)
  })

  test("a file with only bad rows is refused after the first few, without reading the rest", async () => {
    await using face = await open()
    const ada = await face.as("ada")
    const worked = countWork()
    // As many values as a file may have: each row lacks every column of its table. A row and its comma count one each.
    const tooMany = await ada.post(at("import"), { tasks: Array(124_000).fill({}) })
    const bad = await ada.post(at("import"), { tasks: Array(10_000).fill({}) })
    const ids = await ada.post("/api/conversations/conv_1/decide", {
      decision: "yes",
      proposalIds: Array(49_000).fill(1),
    })
    expect([tooMany.status, bad.status, ids.status]).toEqual([400, 400, 400])
    expect(tooMany.body.detail).toContain("tasks: there are 124000, and at most 10000 are taken")
    expect(bad.body.detail).toContain("tasks.0.id")
    expect(worked()).toBeLessThan(2000) // plain lists took 16 s
  })

  test("a day stays the same day in an export and an import, also in old files, and a query takes a time zone", async () => {
    await using face = await open()
    const [ada, bob] = [await face.as("ada"), await face.as("bob")]
    const day = await add(ada, "tasks", { title: "day", dueDate: "2026-11-20" })
    const old = await add(ada, "tasks", { title: "old", dueDate: Date.UTC(2026, 10, 19, 23) }) // its midnight in Berlin
    expect([day.dueDate, old.dueDate]).toEqual(["2026-11-20", Date.UTC(2026, 10, 19, 23)])
    const on = async (zone: string) =>
      (await list(ada, "tasks", `dueDateFrom=2026-11-20&dueDateTo=2026-11-20&timeZone=${zone}`)).map(
        ({ title }: { title: string }) => title,
      )
    expect(await on("Europe/Berlin")).toEqual(["day", "old"])
    expect(await on("America/New_York")).toEqual(["day"])
    await bob.post(at("import"), await everything(ada))
    const copied = (await everything(bob)).tasks as { dueDate: unknown }[]
    expect(copied.map(({ dueDate }) => dueDate)).toEqual([day.dueDate, old.dueDate])
    for (const query of ["dueDateFrom=2026-02-30", "dueDateFrom=soon", "timeZone=Mars/Olympus"])
      expect((await ada.get(`${at("tasks")}?${query}`)).status, query).toBe(400)
    const stale = await ada.patch(at("tasks", day.id), { updates: { title: "x" }, expect: { dueDate: old.dueDate } })
    expect(stale.body.code).toBe("row_stale")
  })

  test.each([
    ["Pacific/Kiritimati", "2026-11-16"],
    ["America/Los_Angeles", "2026-11-15"],
    ["Europe/Berlin", "2026-11-15"],
  ])("the sample has a task due today in the person's time zone: %s", async (timeZone, today) => {
    const clock = new TurnedClock(Date.UTC(2026, 10, 15, 17, 30))
    await using face = await Face.open({ url: (await create()).url, model: scripted(), clock })
    const ada = await face.as("ada")
    expect((await ada.post(`${at("sample")}?timeZone=Mars/Olympus`)).status).toBe(400)
    expect((await ada.post(`${at("sample")}?timeZone=${timeZone}`)).status).toBe(201)
    const due = await list(ada, "tasks", `dueDateFrom=${today}&dueDateTo=${today}&timeZone=${timeZone}`)
    expect(due).toMatchObject([{ title: "Take photos of the new shelves", dueDate: today }])
    expect(await list(ada, "tasks", `dueDateTo=${today}&timeZone=${timeZone}`)).toHaveLength(2)
    expect((await ada.delete(at("sample"))).body.left).toEqual([])
  })

  describe("the sample", () => {
    test("is loaded once, removed whole, and can be loaded again", async () => {
      await using face = await open()
      const ada = await face.as("ada")
      const mine = await add(ada, "tasks", { title: "Mine" })
      const loaded = await ada.post(at("sample"))
      expect(loaded.status).toBe(201)
      for (const name of tableNames) expect(loaded.body[name], name).toBeGreaterThan(0)
      const again = await ada.post(at("sample"))
      expect([again.status, again.body.code]).toEqual([409, "sample_loaded"])
      const removed = await ada.delete(at("sample"))
      expect([removed.status, removed.body]).toEqual([200, { removed: loaded.body, left: [] }])
      const { version: _, ...rest } = await everything(ada)
      expect(rest).toEqual({ ...Object.fromEntries(tableNames.map((name) => [name, []])), tasks: [mine] })
      expect((await ada.delete(at("sample"))).body.left).toEqual([])
      expect((await ada.post(at("sample"))).status).toBe(201)
    })

    test("keeps rows that were changed, and rows that these or the person's own rows belong to", async () => {
      await using face = await open()
      const ada = await face.as("ada")
      await ada.post(at("sample"))
      const before = await everything(ada)
      const named = (table: string, name: string) =>
        before[table].find((row: { title?: string; name?: string }) => (row.title ?? row.name) === name)
      const [shop, menu] = [named("projects", "Online shop"), named("projects", "Summer menu")]
      const mine = await add(ada, "tasks", { title: "Mine", projectId: menu.id })
      const note = named("notes", "Call with the owner")
      const ideas = named("notes", "Ideas")
      await ada.patch(at("notes", note.id), { updates: { content: "Mine now." } })
      await ada.patch(at("notes", ideas.id), { updates: { content: "else" } })
      await ada.patch(at("notes", ideas.id), { updates: { content: ideas.content } })
      await ada.delete(at("tasks", named("tasks", "Water the plants").id))
      const { left, removed } = (await ada.delete(at("sample"))).body
      const reasons = Object.fromEntries(left.map(({ id, because }: { id: string; because: string }) => [id, because]))
      const [harbour, cafe] = [named("clients", "Harbour Books"), named("clients", "Harbour Books Café")]
      expect(reasons).toEqual({
        ...{ [note.id]: "changed", [shop.id]: "in_use", [menu.id]: "in_use" },
        ...{ [harbour.id]: "in_use", [cafe.id]: "in_use" },
      })
      expect(removed).toMatchObject({
        tasks: before.tasks.length - 1,
        notes: before.notes.length - 1,
        projects: 0,
        clients: 0,
      })
      const after = await everything(ada)
      expect(after.tasks).toEqual([mine])
      expect(after.notes).toMatchObject([{ id: note.id, content: "Mine now." }])
      // From now on the remaining rows belong to the person, not to the sample.
      expect((await ada.delete(at("sample"))).body.left).toEqual([])
      expect((await ada.post(at("sample"))).status).toBe(201)
    })

    test("is loaded once even by two concurrent requests", async () => {
      await using face = await open()
      const ada = await face.as("ada")
      const replies = await Promise.all([1, 2, 3].map(() => ada.post(at("sample"))))
      expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    })
  })

  describe("the feed", () => {
    const watch = async (visitor: Visitor, enough: (seen: SeenFrame[]) => boolean) => {
      const ready = Promise.withResolvers<void>()
      const frames = readFrames(await visitor.send("GET", "/api/feed"), (seen) => {
        ready.resolve()
        return enough(seen)
      })
      await ready.promise
      return async () =>
        (await frames).filter(({ type }) => type === "workspace").map(({ data }) => feedFrames.workspace.parse(data))
    }

    test("sends changes, by hand or by a run, to every tab of the person and to no other person", async () => {
      await using face = await open()
      const [ada, bob] = [await face.as("ada"), await face.as("bob")]
      const last = (title: string) => (seen: SeenFrame[]) =>
        JSON.stringify(seen.at(-1)?.data.rows ?? []).includes(title)
      const tabs = [await watch(ada, last("By a run")), await watch(ada, last("By a run"))]
      const stranger = await watch(bob, last("of bob"))
      const task = await add(ada, "tasks", { title: "By hand" })
      await ada.delete(at("tasks", task.id))
      const id = await ada.begin({ mode: "auto" })
      await ada.say(id, "go")
      for (const tab of tabs) {
        const frames = await tab()
        // The current state, however many changes led to it: a row that was created and deleted may only be reported as deleted.
        const deleted = frames.flatMap((frame) => frame.deleted ?? [])
        expect([...new Set(deleted)]).toEqual([task.id])
        expect(frames.at(-1)).toMatchObject({ table: "tasks", rows: [{ title: "By a run" }] })
      }
      await add(bob, "tasks", { title: "of bob" })
      expect(await stranger()).toMatchObject([{ rows: [{ title: "of bob" }] }])
    })

    test("only reports the table if too many rows have changed", async () => {
      await using face = await open()
      const ada = await face.as("ada")
      const tab = await watch(ada, (seen) => seen.some(({ type }) => type === "workspace"))
      const note = (n: number) => ({
        id: `n${n}`,
        projectId: null,
        title: `${n}`,
        content: "",
        createdAt: n,
        updatedAt: n,
      })
      await ada.post(at("import"), { notes: Array.from({ length: 51 }, (_, n) => note(n)) })
      expect(await tab()).toEqual([{ table: "notes" }])
    })
  })
})

/** Everything except what an import generates again. */
function namesOf(file: Record<string, Record<string, unknown>[]>): unknown {
  return tableNames.map((name) => {
    return file[name]!.map(({ id: _, projectId, clientId, taskId, parentId, ...row }) => ({
      ...row,
      belongs: [projectId, clientId, taskId, parentId].map((link) => nameOf(file, link)),
    }))
  })
}

function nameOf(file: Record<string, Record<string, unknown>[]>, id: unknown): unknown {
  const row = ["projects", "clients", "tasks"].flatMap((name) => file[name]!).find((other) => other.id === id)
  return row ? (row.name ?? row.title) : null
}
