import { describe, expect, test } from "vitest"
import { workspaceAgent } from "../../packs/workspace/agent.ts"
import { failure } from "../../core/protocol/errors.ts"
import { newId, type UserId } from "../../core/protocol/ids.ts"
import type { Workspace } from "../../core/protocol/workspace.ts"
import type { TableName } from "../../core/protocol/workspace-tables.ts"
import type { Store } from "../../core/store/store.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { openChecked } from "../support/loop/checked-world.ts"
import { anyDatabase } from "../support/databases.ts"
import { Mortal } from "../support/loop/faults.ts"
import { proposalRows } from "../gate/note.ts"
import { auditRows } from "../support/loop/shelf.ts"
import { openWorld } from "../support/loop/world.ts"

describe.each(anyDatabase)("on $name", ({ create }) => {
  test.each<[string, Record<string, unknown>, string]>([
    ["create_task", { title: "New", project_id: "Home" }, "delete_task"],
    ["update_task", { task_id: "Buy milk", title: "Buy oat milk", due_date: "tomorrow" }, "update_task"],
    ["delete_project", { project_id: "Home" }, "restore_project"],
  ])("%s, done and then forgotten by a crash, is not done again and can be undone", async (tool, input, inverse) => {
    await using database = await create()
    const mortal = new Mortal()
    let store: Store | undefined
    let writes = 0
    const open = ({ user }: { user: UserId }): Workspace => {
      const workspace = store!.workspaceOf(user)
      const write: Workspace["write"] = async (given, callId) => {
        writes++
        const applied = await workspace.write(given, callId)
        mortal.kill()
        return applied
      }
      return new Proxy(workspace, {
        get: (target, key) => {
          const own = target[key as keyof Workspace]
          return key === "write" ? write : typeof own === "function" ? own.bind(target) : own
        },
      })
    }
    const tools = [...workspaceAgent(open).tools.visibleIn("auto")]
    const add = async (user: UserId, table: TableName, data: Record<string, unknown>) =>
      (await store!.workspaceOf(user).write({ action: "insert", table, data }, newId("call"))).after!.id
    const id = await (async () => {
      const model = scripted(calls(tool, input))
      await using world = await openWorld({ url: database.url, model, tools, between: mortal.between })
      store = world.store
      const project = await add(world.user, "projects", { name: "Home" })
      await add(world.user, "tasks", { title: "Buy milk", projectId: project })
      const id = await world.begin("go")
      await world.decide(id, (await world.proposals(id))[0]!.proposed.id, "commit")
      return id
    })()
    await using next = await openChecked({ url: database.url, model: scripted(says("Done.")), tools })
    store = next.store
    await next.pawl.runtime.recover()
    await next.pawl.runtime.rest(id)
    expect(writes).toBe(1)
    const [entry] = await auditRows(next)
    expect(entry).toMatchObject({ tool, undone_by: null })
    expect(JSON.parse(entry!.inverse!)).toMatchObject({ tool: inverse })
    if (tool === "update_task")
      expect(JSON.parse(entry!.inverse!).input).toMatchObject({ title: "Buy milk", due_date: "none" })
    if (tool === "delete_project")
      expect(JSON.parse(entry!.inverse!).input.with.tasks).toMatchObject([{ title: "Buy milk" }])
  })

  /** An approved change that creates a task, with control over what the workspace does. */
  async function agreed(url: string, meddle: (workspace: Workspace, key: "write" | "outcome") => unknown, more = {}) {
    let store: Store | undefined
    const open = ({ user }: { user: UserId }): Workspace => {
      const workspace = store!.workspaceOf(user)
      return new Proxy(workspace, {
        get: (target, key) => {
          if (key === "write" || key === "outcome") return meddle(target, key)
          const own = target[key as keyof Workspace]
          return typeof own === "function" ? own.bind(target) : own
        },
      })
    }
    const tools = [...workspaceAgent(open).tools.visibleIn("auto")]
    const begin = async (more: object) => {
      const world = await openWorld({
        url,
        model: scripted(calls("create_task", { title: "New" }), says("Done.")),
        tools,
        ...more,
      })
      store = world.store
      return world
    }
    const world = await begin(more)
    const id = await world.begin("go")
    const proposal = (await world.proposals(id))[0]!.proposed.id
    const titles = async (of = world) => (await of.store.workspaceOf(of.user).select("tasks")).map(({ title }) => title)
    return { world, id, titles, begin, commit: () => world.decide(id, proposal, "commit") }
  }

  const away = () => failure("store_unavailable", { problem: "the database cannot be reached" })

  test.each(["before", "after"] as const)(
    "a write to a table of our own, whose store fails %s its commit, is done once, and never in doubt",
    async (when) => {
      await using database = await create()
      let tries = 0
      const { world, id, titles, commit } = await agreed(database.url, (workspace, key) => async (...given: never) => {
        if (key === "outcome" || ++tries > 1) return (workspace[key] as (...all: never) => unknown)(...given)
        if (when === "after") await (workspace[key] as (...all: never) => unknown)(...given)
        throw away()
      })
      await using _ = world
      await commit()
      expect(await titles()).toEqual(["New"])
      expect(await proposalRows(world)).toMatchObject([{ status: "applied" }])
      expect(await world.types(id)).not.toContain("in_doubt")
      expect(await auditRows(world)).toHaveLength(1)
    },
  )

  test("an interrupted change is not in doubt if its outcome could not be read at first, or the run was cancelled meanwhile", async () => {
    await using database = await create()
    const mortal = new Mortal()
    let asked = 0
    let cancel: (() => Promise<unknown>) | undefined
    const first = await agreed(
      database.url,
      (workspace, key) =>
        async (...given: never) => {
          if (key === "outcome" && ++asked === 1) throw away()
          await cancel?.()
          const came = await (workspace[key] as (...all: never) => unknown)(...given)
          if (key === "write") mortal.kill()
          return came
        },
      { between: mortal.between },
    )
    await first.commit()
    await first.world[Symbol.asyncDispose]()
    await using next = await first.begin({})
    cancel = async () => {
      const stopped = next.pawl.runtime.submit(first.id, { type: "cancel", by: next.user })
      cancel = undefined
      await stopped
    }
    await next.pawl.runtime.recover()
    await next.pawl.runtime.rest(first.id)
    expect(asked).toBeGreaterThan(1)
    expect(await first.titles(next)).toEqual(["New"])
    expect(await proposalRows(next)).toMatchObject([{ status: "applied" }])
    expect(await next.types(first.id)).not.toContain("in_doubt")
  })

  test("a call that was barred because it was not done is not done by a late retry, and one that was done stays", async () => {
    await using database = await create()
    await using world = await openWorld({ url: database.url, model: scripted() })
    const workspace = world.store.workspaceOf(world.user)
    const task = { action: "insert", table: "tasks", data: { title: "Late" } } as const
    const [late, done] = [newId("call"), newId("call")]
    expect(await workspace.bar(late)).toBeUndefined()
    await expect(workspace.write(task, late)).rejects.toMatchObject({ code: "bad_request" })
    expect(await workspace.outcome(late)).toBeUndefined()
    const applied = await workspace.write(task, done)
    expect(await workspace.bar(done)).toEqual(applied)
    expect(await workspace.write(task, done)).toEqual(applied)
    expect(await workspace.select("tasks")).toHaveLength(1)
  })
})
