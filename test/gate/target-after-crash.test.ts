import { describe, expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { deleteTool } from "../../packs/workspace/delete-tool.ts"
import { taskTable } from "../../packs/workspace/tables/task.ts"
import { newId, type UserId } from "../../core/protocol/ids.ts"
import type { Workspace, WorkspaceWrite } from "../../core/protocol/workspace.ts"
import type { Store } from "../../core/store/store.ts"
import { openChecked } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { Mortal } from "../support/loop/faults.ts"
import { proposalRows } from "./note.ts"
import { openWorld } from "../support/loop/world.ts"

const milk = (more: object = {}): WorkspaceWrite => {
  return { action: "insert", table: "tasks", data: { title: "Buy milk", ...more } }
}

describe.each(databases)("on $name", ({ create }) => {
  test("a write that a crash kept from its target is not applied to a later row in its place", async () => {
    await using database = await create()
    let store: Store | undefined
    const mortal = new Mortal()
    const open = ({ user }: { user: UserId }): Workspace => {
      const workspace = store!.workspaceOf(user)
      const mortally: Partial<Workspace> = {
        list: (table, filters, options) => workspace.list(table, filters, options),
        get: (table, id) => workspace.get(table, id),
        hanging: (table, id) => workspace.hanging(table, id),
        outcome: (id) => workspace.outcome(id),
        bar: (id) => workspace.bar(id),
        async write(write, callId) {
          if (first) mortal.kill()
          if (first) throw new Error("killed before it was done")
          return workspace.write(write, callId)
        },
      }
      return mortally as Workspace
    }
    let first = true
    const tools = [deleteTool(taskTable, open)]
    const model = scripted(calls("delete_task", { task_id: "Buy milk" }))
    const id = await (async () => {
      await using world = await openWorld({ url: database.url, model, tools, between: mortal.between })
      store = world.store
      const workspace = world.store.workspaceOf(world.user)
      const { after: shown } = await workspace.write(milk(), newId("call"))
      const id = await world.begin("Delete it.")
      const [open] = await world.proposals(id)
      expect(open?.proposed.target).toBe(shown?.id)
      await world.decide(id, open!.proposed.id, "commit")
      await workspace.write({ action: "delete", table: "tasks", id: shown!.id }, newId("call"))
      return id
    })()
    first = false
    await using next = await openChecked({ url: database.url, model: scripted(says("Well.")), tools })
    store = next.store
    const workspace = next.store.workspaceOf(next.user)
    const { after: other } = await workspace.write(milk({ description: "Another one." }), newId("call"))
    await next.pawl.runtime.recover()
    await next.pawl.runtime.rest(id)
    expect(await workspace.select("tasks")).toEqual([other])
    // Its own table has reported that it was not done, so the write is not in doubt.
    expect(await proposalRows(next)).toMatchObject([{ status: "failed", code: "proposal_stale" }])
    expect(await next.types(id)).not.toContain("in_doubt")
  })
})
