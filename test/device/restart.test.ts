import { describe, expect, test } from "vitest"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { connect, Machine } from "../support/server/device.ts"
import { openServer } from "../support/server/socket.ts"
import { TurnedClock } from "../support/loop/world.ts"

const BEFORE = Date.UTC(2026, 0, 1)

describe.each(anyDatabase)("right after a restart of the server on $name", (database) => {
  /** A conversation with a device, and the restarted server, to which the device has not reconnected yet. */
  const open = async (tool = calls("list_tasks")) => {
    const first = await openServer({ database, model: scripted(), clock: new TurnedClock(BEFORE) })
    const id = (await (await first.visitor("ada")).begin({ deviceId: "laptop", mode: "auto" })) as ConversationId
    const clock = new TurnedClock(BEFORE + 60_000)
    const model = scripted(tool, says("There."), tool, says("There."))
    const server = await openServer({ database, model, url: first.place, clock })
    const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
    const machine = new Machine()
    const waits = () => expect.poll(() => server.face.devices.size.awaited).toBe(1)
    return {
      ...{ ada, id, clock, machine, server, waits },
      connect: (deviceId = "laptop") => connect(machine, { url: server.url, token, deviceId }),
      toolResult: async (): Promise<string> => {
        const { messages } = (await ada.get(`/api/conversations/${id}`)).body
        return messages.find(({ role }: { role: string }) => role === "tool").content
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]()
        await first[Symbol.asyncDispose]()
      },
    }
  }

  test("a read waits for its device, and for no other", async () => {
    await using world = await open()
    const told = world.ada.say(world.id, "tasks")
    await world.waits()
    using _other = await world.connect("desktop")
    await world.waits()
    using _device = await world.connect()
    await told
    expect(await world.toolResult()).toBe("No tasks found.")
    expect(world.machine.calls).toHaveLength(1)
    expect(world.server.face.devices.size.awaited).toBe(0)
  })

  test("after 10 s the model learns that the device did not come, and from then on at once", async () => {
    await using world = await open()
    const told = world.ada.say(world.id, "tasks")
    await world.waits()
    await world.clock.turn(9900)
    await world.waits()
    await world.clock.turn(100)
    await told
    expect(await world.toolResult()).toContain('has waited 10 s for it, but the device "laptop" is not connected')
    const { messages } = (await world.ada.say(world.id, "and now?")).body
    const { content } = messages.find(({ role }: { role: string }) => role === "tool")
    expect(content).toMatch(/The device "laptop" is not connected/)
  })

  test("a conversation created since does not wait", async () => {
    await using world = await open()
    const id = await world.ada.begin({ deviceId: "laptop" })
    const { messages } = (await world.ada.say(id, "tasks")).body
    expect(messages.find(({ role }: { role: string }) => role === "tool").content).toContain("is not connected")
  })

  test("cancelling the run ends the wait", async () => {
    await using world = await open()
    const told = world.ada.say(world.id, "tasks")
    await world.waits()
    await world.ada.post(`/api/conversations/${world.id}/cancel`)
    await told
    await expect.poll(() => world.server.face.devices.size.awaited).toBe(0)
  })
})
