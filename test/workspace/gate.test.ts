import { describe, expect, test } from "vitest"
import { taskTable } from "../../packs/workspace/tables/task.ts"
import { updateTool } from "../../packs/workspace/update-tool.ts"
import { type ConversationId, newId, type UserId } from "../../core/protocol/ids.ts"
import type { Workspace } from "../../core/protocol/workspace.ts"
import { tableNames, type TableName } from "../../core/protocol/workspace-tables.ts"
import { calls, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { startOf } from "../../core/workspace/days.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { openWorld, TurnedClock, type World } from "../support/loop/world.ts"

type Call = readonly [tool: string, input: Record<string, unknown>]

const edit = ({ store, user }: World, id: string, updates: Record<string, unknown>) =>
  store.workspaceOf(user).write({ action: "update", table: "tasks", id, updates }, newId("call"))
const insert = async ({ store, user }: World, title: string) => {
  const { after } = await store
    .workspaceOf(user)
    .write({ action: "insert", table: "tasks", data: { title } }, newId("call"))
  return after as { id: string }
}

describe.each(anyDatabase)("the workspace's gate on $name", ({ create }) => {
  const open = async (script: readonly ScriptedReply[], clock?: TurnedClock) => {
    const database = await create()
    const face = await Face.open({ url: database.url, model: scripted(...script), ...(clock ? { clock } : {}) })
    const ada = await face.as("ada")
    const { id: user } = await face.store.people.ensure("ada", 0)
    const workspace = face.store.workspaceOf(user)
    const add = async (table: TableName, data: Record<string, unknown>, of: Workspace = workspace) =>
      (await of.write({ action: "insert", table, data }, newId("call"))).after as { id: string }
    const commit = (id: string) => ada.post(`/api/agent/proposals/${id}/commit`)
    const undoNewest = async () => {
      const [{ id }] = (await ada.get("/api/agent/audit")).body.items
      return (await ada.post(`/api/agent/audit/${id}/undo`)).body
    }
    /** All rows of all tables. */
    const state = async () => {
      const tables = await Promise.all(
        tableNames.map((name) => workspace.select(name, name === "projects" ? { includeArchived: true } : {})),
      )
      return tables.map((rows) => rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    }
    return {
      ...{ face, ada, user, workspace, add, commit, undoNewest, state },
      async [Symbol.asyncDispose]() {
        await face[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  /** Lets the model make a call. Returns the proposal, or the result if there is none. */
  const ask = async ({ ada }: Awaited<ReturnType<typeof open>>, body = {}) => {
    const id = await ada.begin(body)
    const { proposals, messages, run } = (await ada.say(id, "go", { timeZone: "Europe/Berlin" })).body
    return {
      id,
      run,
      proposal: proposals[0],
      result: messages.find(({ role }: { role: string }) => role === "tool")?.content,
    }
  }

  test("confirmed: exactly the shown change is applied, once, and audited", async () => {
    await using world = await open([calls("create_task", { title: "Buy milk", due_date: "2027-01-31" }), says("Done.")])
    const { proposal } = await ask(world)
    expect(proposal).toMatchObject({
      summary: 'Create task "Buy milk" (status: todo, priority: medium, due: Sunday 31 January 2027)',
      diff: { before: null, after: { title: "Buy milk", isAiSuggested: true, isApproved: true } },
      undoable: true,
    })
    expect(await world.workspace.select("tasks")).toEqual([])
    expect((await world.commit(proposal.id)).body.status).toBe("applied")
    expect((await world.commit(proposal.id)).body.code).toBe("proposal_decided")
    const tasks = await world.workspace.select("tasks")
    expect(tasks).toMatchObject([{ title: "Buy milk", dueDate: "2027-01-31", isAiSuggested: 1, isApproved: 1 }])
    expect((await world.ada.get("/api/agent/audit")).body.items).toMatchObject([{ before: null, after: tasks[0] }])
  })

  test("an edit creates a new proposal with its own date; an invalid date is refused and leaves the old proposal open", async () => {
    await using world = await open([calls("create_task", { title: "Buy milk", due_date: "2027-01-31" }), says("Done.")])
    const { proposal } = await ask(world)
    const edit = (due_date: string) =>
      world.ada.post(`/api/agent/proposals/${proposal.id}/edit`, { arguments: { title: "Buy oat milk", due_date } })
    expect((await edit("whenever")).body).toMatchObject({ status: 400, code: "bad_request" })
    const { body: successor } = await edit("1 February 2027")
    expect(successor.summary).toContain("due: Monday 1 February 2027")
    expect((await world.commit(proposal.id)).body.code).toBe("proposal_decided")
    expect((await world.commit(successor.id)).body.status).toBe("applied")
    expect(await world.workspace.select("tasks")).toMatchObject([{ title: "Buy oat milk", dueDate: "2027-02-01" }])
  })

  test("rejected: nothing changes, and the model gets the reason", async () => {
    await using world = await open([calls("delete_task", { task_id: "Buy milk" }), says("As you like.")])
    const task = await world.add("tasks", { title: "Buy milk" })
    const { id, proposal } = await ask(world)
    await world.ada.post(`/api/agent/proposals/${proposal.id}/reject`, { reason: "I still need it" })
    await world.ada.post(`/api/conversations/${id}/resume`)
    expect(await world.workspace.select("tasks")).toEqual([task])
    expect(JSON.stringify((await world.ada.get(`/api/conversations/${id}`)).body.messages)).toContain("I still need it")
  })

  test.each<[string, Call]>([
    ["a row that was changed since", ["update_task", { task_id: "Buy milk", title: "Buy oat milk" }]],
    ["a row that was changed since and would be deleted", ["delete_task", { task_id: "Buy milk" }]],
  ])("stale: %s is left unchanged", async (_, [tool, input]) => {
    await using world = await open([calls(tool, input), says("It has changed.")])
    const { id } = await world.add("tasks", { title: "Buy milk" })
    const { proposal } = await ask(world)
    await world.workspace.write({ action: "update", table: "tasks", id, updates: { priority: "high" } }, newId("call"))
    const before = await world.state()
    const { status, body } = await world.commit(proposal.id)
    expect([status, body.code, body.proposal.status]).toEqual([409, "proposal_stale", "failed"])
    expect(await world.state()).toEqual(before)
  })

  test("stale: a name that has moved to another row is not followed", async () => {
    await using world = await open([calls("delete_task", { task_id: "Buy milk" }), says("It has changed.")])
    const { id } = await world.add("tasks", { title: "Buy milk" })
    const { proposal } = await ask(world)
    await world.workspace.write(
      { action: "update", table: "tasks", id, updates: { title: "Done with" } },
      newId("call"),
    )
    await world.add("tasks", { title: "Buy milk" })
    expect((await world.commit(proposal.id)).body.code).toBe("proposal_stale")
    expect(await world.workspace.select("tasks")).toHaveLength(2)
  })

  test("stale: a comment added since would have been deleted unseen", async () => {
    await using world = await open([calls("delete_task", { task_id: "Buy milk" }), says("It has changed.")])
    const { id } = await world.add("tasks", { title: "Buy milk" })
    const { proposal } = await ask(world)
    await world.add("taskComments", { taskId: id, author: "Bob", content: "Wait!" })
    expect((await world.commit(proposal.id)).body.code).toBe("proposal_stale")
  })

  test.each<[string, (world: World, id: string) => Promise<unknown>]>([
    ["the row itself", (world, id) => edit(world, id, { priority: "high" })],
    [
      "the name, which another row has now",
      (world, id) => edit(world, id, { title: "Other" }).then(() => insert(world, "t")),
    ],
  ])("stale: a change between the last read and the write: %s", async (_, meddle) => {
    await using database = await create()
    let world: World | undefined
    let looks = 0
    /** Another writer changes the row after the tool's last read, or just before it. */
    const openMeddled = ({ user }: { user: UserId }): Workspace => {
      const workspace = world!.store.workspaceOf(user)
      const meddled: Partial<Workspace> = {
        list: (table, filters, options) => workspace.list(table, filters, options),
        get: async (table, id) => {
          const row = await workspace.get(table, id)
          if (row && ++looks === 2) await meddle(world!, (await workspace.select("tasks"))[0]!.id)
          return row
        },
        write: (write, callId) => workspace.write(write, callId),
      }
      return meddled as Workspace
    }
    const tools = [updateTool(taskTable, taskTable.update!, openMeddled)]
    const model = scripted(calls("update_task", { task_id: "t", status: "done" }), says("It has changed."))
    world = await openWorld({ url: database.url, model, tools })
    await using _closing = world
    const { id: task } = await insert(world, "t")
    const id = await world.begin("go")
    await world.decide(id, (await world.proposals(id))[0]!.proposed.id, "commit")
    expect(looks).toBe(3)
    const end = (await world.events(id)).find((event) => event.type === "tool_end")
    expect(end).toMatchObject({ status: "error", code: "proposal_stale" })
    const rows = await world.store.workspaceOf(world.user).select("tasks")
    expect(rows.map(({ status }) => status)).not.toContain("done")
    expect(rows.map((row) => row.id)).toContain(task)
  })

  test("tomorrow is the day that was shown, also if approved after midnight", async () => {
    const clock = new TurnedClock(Date.UTC(2026, 10, 19, 22, 55)) // five to midnight in Berlin
    await using world = await open([calls("create_task", { title: "x", due_date: "tomorrow" }), says("Done.")], clock)
    const { proposal } = await ask(world)
    expect(proposal.summary).toContain("due: Friday 20 November 2026)")
    await clock.turn(10 * 60_000)
    expect((await world.commit(proposal.id)).body.status).toBe("applied")
    expect(await world.workspace.select("tasks")).toMatchObject([{ dueDate: "2026-11-20" }])
  })

  test.each(["America/New_York", "Pacific/Kiritimati", "America/Los_Angeles"])(
    "a task due on 20 November created in Berlin is due on the 20th in %s too, and today when that is today there",
    async (elsewhere) => {
      const clock = new TurnedClock(Date.UTC(2026, 10, 15, 12))
      const script = [
        calls("create_task", { title: "Fly", due_date: "20 November" }),
        says("Done."),
        ...[calls("list_tasks", { order_by: "due_date" }), says("There.")],
        ...[calls("list_tasks_due_today"), says("Not yet.")],
        ...[calls("list_tasks_due_today"), says("Today.")],
      ]
      await using world = await open(script, clock)
      const { id, proposal } = await ask(world)
      await world.commit(proposal.id)
      await world.face.pawl.runtime.rest(id as ConversationId)
      const tell = async () => {
        const other = await world.ada.begin()
        const { messages } = (await world.ada.say(other, "what is due?", { timeZone: elsewhere })).body
        return messages.find(({ role }: { role: string }) => role === "tool").content as string
      }
      expect(await tell()).toContain("due: Friday 20 November 2026,")
      const midnight = startOf("2026-11-20", elsewhere)
      clock.shift(midnight - 1 - clock.now())
      expect(await tell()).toBe("No tasks found due today.")
      await clock.turn(1)
      expect(await tell()).toContain("Fly")
    },
  )

  /** A project with a row in every table that refers to it, and a client without one. */
  const fill = async ({ add }: Awaited<ReturnType<typeof open>>) => {
    const client = await add("clients", { name: "Acme" })
    const project = await add("projects", { name: "Website", clientId: client.id })
    const task = await add("tasks", { title: "Buy milk", projectId: project.id, assignee: '["Ada"]' })
    await add("tasks", { title: "Loose" })
    await add("taskComments", { taskId: task.id, author: "Ada", content: "Two litres" })
    await add("taskComments", { taskId: task.id, author: "Bob", content: "Oat" })
    await add("notes", { title: "Steps", content: "# Push", projectId: project.id })
    await add("checkpoints", { title: "Launch", date: 5, projectId: project.id })
    await add("clients", { name: "Lonely", industry: "Steel" })
  }

  test.each<Call>([
    ["create_task", { title: "New", project_id: "Website", due_date: "tomorrow" }],
    ["add_task_comment", { task_id: "Buy milk", author: "Ada", content: "New" }],
    ["update_task", { task_id: "Buy milk", title: "X", due_date: "tomorrow", assignees: [], project_id: "none" }],
    ["update_project", { project_id: "Website", status: "archived", client_id: "none" }],
    ["update_checkpoint", { checkpoint_id: "Launch", date: "2027-01-31" }],
    ["update_client", { client_id: "Lonely", industry: "" }],
    ["delete_task", { task_id: "Buy milk" }],
    ["delete_project", { project_id: "Website" }],
    ["delete_client", { client_id: "Lonely" }],
  ])("undo of %s, undo of the undo, and so on", async (tool, input) => {
    await using world = await open([calls(tool, input), says("Done.")])
    await fill(world)
    const before = await world.state()
    const { id, proposal } = await ask(world)
    expect((await world.commit(proposal.id)).body.status).toBe("applied")
    await world.ada.post(`/api/conversations/${id}/resume`)
    const after = await world.state()
    expect(after).not.toEqual(before)
    for (const expected of [before, after, before]) {
      const undo = await world.undoNewest()
      expect(undo.status).toBe("pending")
      expect((await world.commit(undo.id)).body.status).toBe("applied")
      await world.face.pawl.runtime.rest(id as never)
      expect(await world.state()).toEqual(expected)
    }
  })

  test("undo of a changed note brings back its text", async () => {
    await using world = await open([calls("update_note", { note_id: "Steps", content: "gone" }), says("Done.")])
    await fill(world)
    const { id, proposal } = await ask(world)
    expect(proposal).toMatchObject({
      action: "destructive_update",
      diff: { before: { content: "# Push" }, after: { content: "gone" } },
    })
    await world.commit(proposal.id)
    await world.ada.post(`/api/conversations/${id}/resume`)
    await world.commit((await world.undoNewest()).id)
    expect(await world.workspace.select("notes")).toMatchObject([{ title: "Steps", content: "# Push" }])
  })

  test("deleting a project shows how many rows go along; a client with a project cannot be deleted", async () => {
    await using world = await open([
      calls(["delete_project", { project_id: "Website" }], ["delete_client", { client_id: "Acme" }]),
    ])
    await fill(world)
    const { proposal, result } = await ask(world)
    for (const count of ["1 task(s)", "2 comment(s)", "1 note(s)", "1 checkpoint(s)"])
      expect(proposal.summary).toContain(count)
    expect(result).toContain("still has 1 project(s): move or delete them first")
  })

  test.each<[string, Record<string, unknown>]>([
    ["create_task", { title: "x" }],
    ["list_tasks", {}],
    ["get_project", {}],
    ["update_project", { name: "Mine" }],
    ["delete_project", {}],
    ["create_checkpoint", { title: "x", date: "today" }],
  ])("another person's project gets the same answer as a missing one: %s", async (tool, input) => {
    let project = "proj_missing"
    const call = () => calls(tool, { ...input, project_id: project })
    await using world = await open([call, says("No."), call, says("No."), call, says("No.")])
    const { id: eve } = await world.face.store.people.ensure("eve", 0)
    const theirs = world.face.store.workspaceOf(eve)
    const secret = await world.add("projects", { name: "Secret" }, theirs)
    const results: string[] = []
    for (project of ["proj_missing", secret.id, "Secret"]) {
      const { result, proposal } = await ask(world)
      expect(proposal).toBeUndefined()
      results.push(String(result).replaceAll(project, "ID"))
    }
    expect(results[0]).toMatch(/There is no project|not found/)
    expect(new Set(results).size).toBe(1)
    expect(await theirs.select("projects")).toEqual([secret])
  })

  test("SQL in a filter is plain text, an unknown filter is an error that names it, null is absent", async () => {
    const search = "x' OR '1'='1"
    await using world = await open([
      calls(
        ["list_tasks", { search }],
        ["list_tasks", { owner: "eve" }],
        ["list_tasks", { status: null, search: null }],
      ),
      says("Well."),
    ])
    await world.add("tasks", { title: "Buy milk" })
    const id = await world.ada.begin()
    const { messages } = (await world.ada.say(id, "go")).body
    const [sql, unknown, all] = messages.flatMap(({ role, content }: { role: string; content: string }) =>
      role === "tool" ? [content] : [],
    )
    expect(sql).toBe(`No tasks found that mention "${search}".`)
    expect(unknown).toContain("owner")
    expect(all).toContain("Found 1 task(s)")
  })
})
