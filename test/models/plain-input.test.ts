import { describe, expect, test } from "vitest"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { newId } from "../../core/protocol/ids.ts"
import { calls, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

describe.each(anyDatabase)("loosely typed arguments of small models on $name", ({ create }) => {
  const open = async (...script: ScriptedReply[]) => {
    const database = await create()
    const model = scripted(...script)
    const face = await Face.open({ url: database.url, model })
    const ada = await face.as("ada")
    const { id: user } = await face.store.people.ensure("ada", 0)
    const workspace = face.store.workspaceOf(user)
    const data = { title: "Buy milk", dueDate: "2026-11-20", description: "Two" }
    await workspace.write({ action: "insert", table: "tasks", data }, newId("call"))
    return {
      ...{ face, ada, model, workspace },
      async [Symbol.asyncDispose]() {
        await face[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }
  const loose = {
    ...{ task_id: "Buy milk", priority: "High", assignees: "Ben", is_approved: "no" },
    ...{ due_date: "", project_id: "", status: "" },
  }
  const meant = { task_id: "Buy milk", priority: "high", assignees: ["Ben"], is_approved: false }

  test("are shown, approved and applied as they were understood; the model gets what it wrote", async () => {
    await using world = await open(calls("update_task", loose), says("Done."))
    const { ada, face, model, workspace } = world
    const id = (await ada.begin()) as ConversationId
    const { proposals } = (await ada.say(id, "go")).body
    expect(proposals[0]).toMatchObject({ arguments: meant, diff: { after: { priority: "high", assignee: ["Ben"] } } })
    expect((await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)).body.status).toBe("applied")
    await face.pawl.runtime.rest(id)
    // The arguments leave out the date, so it stays.
    expect(await workspace.select("tasks")).toMatchObject([
      {
        priority: "high",
        assignee: '["Ben"]',
        isApproved: 0,
        dueDate: "2026-11-20",
        description: "Two",
        status: "todo",
      },
    ])
    const history = model.received[1]?.history ?? []
    expect(JSON.stringify(history)).toContain(JSON.stringify(loose))
    expect(JSON.stringify(history.at(-1))).not.toContain("The person changed")
    expect((await ada.get("/api/agent/audit")).body.items).toMatchObject([{ arguments: meant }])
  })

  test("that a user has edited are reported as changed by them", async () => {
    await using world = await open(calls("update_task", loose), says("Done."))
    const id = (await world.ada.begin()) as ConversationId
    const { proposals } = (await world.ada.say(id, "go")).body
    const edited = await world.ada.post(`/api/agent/proposals/${proposals[0].id}/edit`, {
      arguments: { ...meant, priority: "low" },
    })
    expect((await world.ada.post(`/api/agent/proposals/${edited.body.id}/commit`)).body.status).toBe("applied")
    await world.face.pawl.runtime.rest(id)
    expect(JSON.stringify(world.model.received[1]?.history.at(-1))).toContain("The person changed the arguments")
  })

  test("errors suggest similar names: of a tool, an argument, a choice and a row", async () => {
    const wrong: [string, Record<string, unknown>][] = [
      ["creat_task", { title: "x" }],
      ["create_task", { titel: "x" }],
      ["update_task", { task_id: "Buy milk", status: "in progres" }],
      ["update_task", { task_id: "By milk", status: "done" }],
      ["x".repeat(60) + "create_task", {}],
    ]
    await using world = await open(calls(...wrong), says("I see."))
    const { messages } = (await world.ada.say(await world.ada.begin(), "go")).body
    const told = messages.filter(({ role }: { role: string }) => role === "tool")
    expect(told.map(({ content }: { content: string }) => /Did you mean "(.*?)"/.exec(content)?.[1])).toEqual([
      ...["create_task", "title", "in_progress", "Buy milk", undefined],
    ])
  })
})
