import { expect, test } from "vitest"
import { systemClock } from "../../src/agent/clock.ts"
import { DeviceWorkspace } from "../../src/packs/workspace/device/workspace.ts"
import { newId } from "../../src/protocol/ids.ts"
import { CLOSE } from "../../src/protocol/socket.ts"
import { Devices } from "../../src/server/socket/devices.ts"
import { scripted } from "../../src/testing.ts"
import { databases } from "../support/databases.ts"
import { connect, Machine } from "../support/server/device.ts"
import { openServer } from "../support/server/socket.ts"

const HUGE = { row: { id: "t1", title: "x".repeat(5_000_000) } }

test("five megabytes from a device cost it its connection: a read fails, a write is in doubt, the next one is served", async () => {
  const [database] = databases
  const devices = new Devices(systemClock)
  await using server = await openServer({ database: database!, model: scripted(), devices })
  const { id: user } = await server.face.store.people.ensure("ada", 0)
  const token = await server.tokenFor("ada")
  const machine = new Machine()
  const join = (deals?: () => typeof HUGE) =>
    connect(machine, { url: server.url, token, deviceId: "laptop", ledger: false, ...(deals ? { deals } : {}) })
  const workspace = new DeviceWorkspace(devices, {
    ...{ user, conversation: newId("conv"), callId: newId("call"), site: "device", deviceId: "laptop" },
    signal: new AbortController().signal,
  })
  const insert = { action: "insert", table: "tasks", data: { title: "x" } } as const

  using first = await join(() => HUGE)
  await expect(workspace.get("tasks", "t1")).rejects.toThrow("disconnected")
  expect(await first.close()).toMatchObject({ code: CLOSE.tooLarge })
  using second = await join(() => HUGE)
  await expect(workspace.write(insert, newId("call"))).rejects.toMatchObject({ code: "outcome_unknown" })
  expect(await second.close()).toMatchObject({ code: CLOSE.tooLarge })
  using _third = await join()
  expect((await workspace.write(insert, newId("call"))).after).toMatchObject({ title: "x" })
})
