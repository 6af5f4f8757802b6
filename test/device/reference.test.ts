import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type DeviceOptions, type DeviceState, openDevice } from "../../client/device/index.ts"
import { calls, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { anyDatabase } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"

const MILK = { title: "Buy milk" }

describe.each(anyDatabase)("the reference device and a server on $name", (database) => {
  const open = async (...script: readonly ScriptedReply[]) => {
    const server = await openServer({ database, model: scripted(...script) })
    const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
    const db = join(dataFolder(), "device.db")
    const connect = async (more: Partial<DeviceOptions> = {}) => {
      const ready = Promise.withResolvers<void>()
      const onState = ({ state }: DeviceState) => state === "connected" && ready.resolve()
      const device = openDevice({ server: server.url, token, db, onState, ...more })
      await ready.promise
      return device
    }
    const toolResults = async (id: string): Promise<string[]> => {
      const { messages } = (await ada.get(`/api/conversations/${id}`)).body
      const results = messages.filter(({ role }: { role: string }) => role === "tool")
      return results.map(({ content }: { content: string }) => content)
    }
    const revoke = async () => {
      const me = await fetch(`${server.url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })
      const { credential } = (await me.json()) as { credential: { id: string } }
      expect((await ada.delete(`/api/tokens/${credential.id}`)).status).toBe(204)
    }
    return { server, ada, connect, toolResults, revoke, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }

  test("a read, an approved write, and the rows on the person's machine", async () => {
    await using world = await open(
      calls("list_tasks"),
      calls("create_task", { ...MILK, priority: "high" }),
      calls("list_tasks", { search: "MILK" }),
      says("It is on your list."),
    )
    const { ada } = world
    await using device = await world.connect()
    expect((await ada.get("/api/devices")).body.items).toMatchObject([
      { deviceId: device.deviceId, ledger: true, offers: ["workspace"] },
    ])
    device.tables.insert("tasks", { title: "Call Bob" })
    const id = await ada.begin({ site: "device" })
    const { proposals } = (await ada.say(id, "milk")).body
    expect(device.tables.select("tasks")).toHaveLength(1)
    expect((await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)).body.status).toBe("applied")
    await ada.post(`/api/conversations/${id}/resume`)
    const [read, written, readAgain] = await world.toolResults(id)
    expect(read).toContain("Call Bob")
    expect(written).toContain("Task created: Buy milk")
    const [, milk] = device.tables.select("tasks")
    expect(milk).toMatchObject({ ...MILK, priority: "high", isApproved: 1 })
    expect(readAgain).toContain(`Found 1 task(s)`)
    expect(readAgain).toContain(milk?.id)
    // The server has none of these rows.
    const elsewhere = await ada.begin()
    expect((await ada.get(`/api/conversations/${elsewhere}`)).body.site).toBe("server")
  })

  test("a delete, and an undo that brings the task back under its id", async () => {
    await using world = await open(calls("delete_task", { task_id: "Buy milk" }), says("Gone."))
    const { ada } = world
    await using device = await world.connect()
    const task = device.tables.insert("tasks", MILK)
    const id = await ada.begin({ site: "device" })
    const { proposals } = (await ada.say(id, "drop it")).body
    expect(proposals[0].diff.before).toMatchObject({ id: task.id, ...MILK, status: "todo" })
    expect((await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)).body.status).toBe("applied")
    expect(device.tables.select("tasks")).toEqual([])
    await ada.post(`/api/conversations/${id}/resume`)
    const [{ id: audit }] = (await ada.get("/api/agent/audit")).body.items
    const undo = (await ada.post(`/api/agent/audit/${audit}/undo`)).body
    expect((await ada.post(`/api/agent/proposals/${undo.id}/commit`)).body.status).toBe("applied")
    expect(device.tables.select("tasks")).toEqual([task])
  })

  test("a row deleted on the device makes a proposal stale, and nothing has changed", async () => {
    await using world = await open(calls("create_task", { ...MILK, project_id: "Home" }), says("It failed."))
    const { ada } = world
    await using device = await world.connect()
    const project = device.tables.insert("projects", { name: "Home" })
    const id = await ada.begin({ site: "device" })
    const { proposals } = (await ada.say(id, "milk")).body
    expect(proposals[0].summary).toContain("project: Home)")
    device.tables.delete("projects", String(project.id))
    const refused = (await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)).body
    expect(refused).toMatchObject({ code: "proposal_stale", proposal: { status: "failed" } })
    expect(device.tables.select("tasks")).toEqual([])
  })

  test("a row that the device never had is an error for the model, before a proposal", async () => {
    await using world = await open(calls("create_task", { ...MILK, project_id: "proj_none" }), says("It failed."))
    const { ada } = world
    await using device = await world.connect()
    const id = await ada.begin({ site: "device" })
    expect((await ada.say(id, "milk")).body.proposals).toEqual([])
    expect((await world.toolResults(id))[0]).toContain('There is no project "proj_none".')
    expect(device.tables.select("tasks")).toEqual([])
  })

  test("a token without the chat scope ends it with a sentence, a revoked one too", async () => {
    await using world = await open()
    const token = await world.server.tokenFor("ada", "read")
    const db = join(dataFolder(), "device.db")
    const refused = await openDevice({ server: world.server.url, token, db }).ended
    expect(refused?.message).toContain('does not have the scope "chat"')
    await using device = await world.connect()
    await world.revoke()
    expect((await device.ended)?.message).toContain("does not accept the token")
  })
})
