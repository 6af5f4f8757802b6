import { describe, expect, test } from "vitest"
import { fork } from "../../core/engine/fork.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { createTool } from "../../packs/workspace/create-tool.ts"
import { taskTable } from "../../packs/workspace/tables/task.ts"
import type { UserId } from "../../core/protocol/ids.ts"
import type { Store } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"
import { of, openChecked } from "../support/loop/checked-world.ts"

describe.each(databases)("on $name", ({ create }) => {
  test("deleting a fork does not make the first conversation forget which of its writes were applied", async () => {
    await using database = await create()
    let store: Store | undefined
    const open = ({ user }: { user: UserId }) => store!.workspaceOf(user)
    const model = scripted(calls("create_task", { title: "Buy milk" }), says("Done."), says("And on."))
    await using world = await openChecked({ url: database.url, model, tools: [createTool(taskTable, open)] })
    store = world.store
    const id = await world.begin("milk", { mode: "auto" })
    const [begun] = of(await world.events(id), "tool_start")
    const workspace = world.store.workspaceOf(world.user)
    // Also from the position where the tool call started and did not end: there a user may still retry it.
    for (const position of [begun!.position, (await world.load(id)).position]) {
      const made = await fork(world.pawl.ports, id, position)
      expect(of(await world.events(made.id), "tool_end")).toHaveLength(1)
      expect(await world.store.retention.eraseConversation(world.user, made.id)).toBe(true)
      expect(await workspace.outcome(begun!.callId)).toMatchObject({ after: { title: "Buy milk" } })
    }
    const made = await fork(world.pawl.ports, id, (await world.load(id)).position)
    await world.send(made.id, "And?")
    expect((await world.load(made.id)).run).toMatchObject({ status: "completed" })
  })
})
