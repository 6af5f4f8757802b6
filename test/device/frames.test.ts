import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { openDevice } from "../../client/device/index.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { anyDatabase } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"

describe.each(anyDatabase)("the cost of a change on a device, with a server on $name", (database) => {
  test.each([
    ["a delete", calls("delete_task", { task_id: "t1" }), 7],
    ["an update", calls("update_task", { task_id: "t1", status: "done" }), 7],
  ] as const)("%s of a task in a project, with a comment", async (what, tool, most) => {
    await using server = await openServer({ database, model: scripted(tool, says("Done.")) })
    const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
    const asked: string[] = []
    class Watched extends WebSocket {
      override send(text: string): void {
        const frame = JSON.parse(text) as { type: string }
        if (frame.type === "tool_result") asked.push(text)
        super.send(text)
      }
    }
    const ready = Promise.withResolvers<void>()
    await using device = openDevice({
      ...{ server: server.url, token, db: join(dataFolder(), "device.db"), embedsNotes: false, WebSocket: Watched },
      onState: ({ state }) => state === "connected" && ready.resolve(),
    })
    await ready.promise
    const { id: projectId } = device.tables.insert("projects", { name: "House" })
    const task = { id: "t1", projectId, title: "Roof", description: null, status: "todo", priority: "low" } as const
    const more = { assignee: null, dueDate: null, isAiSuggested: 0, isApproved: 1, createdAt: 1 }
    device.tables.restore("tasks", { rows: [{ ...task, ...more }] })
    device.tables.insert("taskComments", { taskId: "t1", author: "Ada", content: "Soon" })
    const id = await ada.begin({ site: "device" })
    const { proposals } = (await ada.say(id, "do it")).body
    expect((await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)).body.status).toBe("applied")
    expect(device.tables.get("tasks", "t1")?.status).toBe(what === "an update" ? "done" : undefined)
    expect(asked.length).toBeLessThanOrEqual(most)
  })

  test("a row changed in the last moment is stale: the device compares, and deletes nothing", async () => {
    await using server = await openServer({ database, model: scripted(calls("delete_task", { task_id: "Roof" })) })
    const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
    const ready = Promise.withResolvers<void>()
    await using device = openDevice({
      ...{ server: server.url, token, db: join(dataFolder(), "device.db"), embedsNotes: false },
      onState: ({ state }) => state === "connected" && ready.resolve(),
      // The person writes between the last read and the deletion, which comes next.
      WebSocket: class extends WebSocket {
        override addEventListener(type: string, listener: unknown): void {
          super.addEventListener(type, (event: Event) => {
            const { data } = event as MessageEvent
            if (type === "message" && String(data).includes('"action":"delete"'))
              device.tables.update("tasks", { id: task.id, updates: { title: "Another" } })
            ;(listener as (event: Event) => void)(event)
          })
        }
      },
    })
    await ready.promise
    const task = device.tables.insert("tasks", { title: "Roof" })
    const id = await ada.begin({ site: "device" })
    const { proposals } = (await ada.say(id, "do it")).body
    const refused = (await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)).body
    expect(refused).toMatchObject({ code: "proposal_stale", proposal: { status: "failed" } })
    expect(device.tables.get("tasks", String(task.id))).toMatchObject({ title: "Another" })
  })
})
