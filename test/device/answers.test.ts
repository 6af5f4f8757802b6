import { expect, test } from "vitest"
import { systemClock } from "../../core/shared/time/clock.ts"
import { DeviceWorkspace } from "../../packs/workspace/device/device-workspace.ts"
import { newId } from "../../core/protocol/ids.ts"
import { Devices } from "../../core/server/socket/devices.ts"
import { scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { connect, type Deals, Machine } from "../support/server/device.ts"
import { openServer } from "../support/server/socket.ts"

const HUGE = { row: { id: "t1", title: "x".repeat(12_000_000) } }

test("twelve megabytes from a device cost it one call: a read fails, a write is in doubt, the next one is served", async () => {
  const [database] = databases
  const devices = new Devices(systemClock)
  await using server = await openServer({ database: database!, model: scripted(), devices })
  const { id: user } = await server.face.store.people.ensure("ada", 0)
  const token = await server.tokenFor("ada")
  const machine = new Machine()
  const join = (deals: Deals) => connect(machine, { url: server.url, token, deviceId: "laptop", ledger: false, deals })
  const workspace = new DeviceWorkspace(devices, {
    ...{ user, conversation: newId("conv"), callId: newId("call"), site: "device", deviceId: "laptop" },
    signal: new AbortController().signal,
  })
  const insert = { action: "insert", table: "tasks", data: { title: "x" } } as const

  let isHuge = true
  using device = await join((call) => (isHuge ? HUGE : machine.deal(call)))
  await expect(workspace.get("tasks", "t1")).rejects.toThrow("11.4 MiB, and 8 MiB are the most")
  await expect(workspace.write(insert, newId("call"))).rejects.toMatchObject({ code: "outcome_unknown" })
  isHuge = false
  expect((await workspace.write(insert, newId("call"))).after).toMatchObject({ title: "x" })
  expect(device.closed).toBe(undefined)
})
