import { describe, expect, test } from "vitest"
import { workspaceAgent } from "../src/packs/workspace/agent.ts"
import { newId, type UserId } from "../src/protocol/ids.ts"
import type { Workspace } from "../src/protocol/workspace-port.ts"
import type { TableName } from "../src/protocol/workspace-tables.ts"
import type { Store } from "../src/store/store.ts"
import { calls, says, scripted } from "../src/testing.ts"
import { openChecked } from "./checked-world.ts"
import { databases } from "./databases.ts"
import { Mortal } from "./mortal.ts"
import { auditRows } from "./shelf.ts"
import { openWorld } from "./world.ts"

describe.each(databases)("on $name", ({ create }) => {
  test.each<[string, Record<string, unknown>, string]>([
    ["create_task", { title: "New", project_id: "Home" }, "delete_task"],
    ["update_task", { task_id: "Buy milk", title: "Buy oat milk", due_date: "tomorrow" }, "update_task"],
    ["delete_project", { project_id: "Home" }, "restore_project"],
  ])(
    "%s, done and then forgotten by a crash, is not done again and can be taken back",
    async (tool, input, inverse) => {
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
    },
  )
})
