import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { systemClock } from "../../core/shared/time/clock.ts"
import type { DeviceCalls } from "../../core/engine/devices.ts"
import { LocalDevice } from "../../client/device/local-device.fixture.ts"
import { DeviceWorkspace } from "../../packs/workspace/device/device-workspace.ts"
import { newId, type UserId } from "../../core/protocol/ids.ts"
import type { WorkspaceCall } from "../../core/protocol/workspace.ts"
import { tableNames } from "../../core/protocol/workspace-tables.ts"
import { Devices } from "../../core/server/socket/devices.ts"
import { SqlNoteVectors } from "../../core/store/workspace/note-vectors.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { scripted } from "../../core/testing.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { databases, databasesInTurn } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"
import { Desk, describeWorkspace } from "./contract.ts"

const asked = (user: UserId, deviceId: string): WorkspaceCall => ({
  user,
  deviceId,
  ...{ conversation: newId("conv"), callId: newId("call"), site: "device" },
  signal: new AbortController().signal,
})
const closing = (desk: Desk, close: () => Promise<void>): Desk & AsyncDisposable =>
  Object.assign(desk, { [Symbol.asyncDispose]: close })

for (const { name, create } of databasesInTurn(import.meta.filename)) {
  // One store for all tests, because no person in it sees another person's data.
  let opened: Promise<Store> | undefined
  const open = async () => {
    let now = 1_000
    const clock = { now: () => now++, alarm: () => () => {} }
    const store = await openStore({ url: (await create()).url, durability: "normal", clock })
    store.workspaces.vectors = new SqlNoteVectors(store.engine, "test", { clock })
    return store
  }
  afterAll(async () => (await opened)?.[Symbol.asyncDispose]())
  describeWorkspace(`in the server's database on ${name}`, async () => {
    const { workspaceOf } = await (opened ??= open())
    return closing(new Desk(workspaceOf(newId("user"))), async () => {})
  })
}

for (const [which, knows] of [
  ["", ["days", "expect"]],
  [" of an older program", ["days"]],
] as const) {
  describeWorkspace(`in a device's own file${which}`, async () => {
    const device = new LocalDevice()
    const workspace = new DeviceWorkspace(withoutServer(device, knows), asked(newId("user"), "here"))
    const desk = new Desk(workspace, { comparesAlong: knows.some((what) => what === "expect") })
    return closing(desk, async () => device[Symbol.dispose]())
  })
}

/** Calls a device as a server does, without a server. */
function withoutServer(device: LocalDevice, knows: readonly string[]): DeviceCalls {
  let reads = 0
  return {
    async call(_place, { callId, ...call }, { effect }) {
      const id = effect === "write" ? callId : `${callId}.${++reads}`
      const outcome = await device.calls.perform({ type: "tool_call", id, ...call })
      if (!outcome || outcome.error !== undefined) throw new Error(outcome?.error ?? "no answer")
      return outcome
    },
    async outcome(_place, callId) {
      const report = device.calls.report(callId)
      return report?.status === "applied" && report.outcome.error === undefined ? report.outcome : "not-applied"
    },
    isReachable: () => true,
    knows: (_place, what) => knows.includes(what),
  }
}

const [database] = databases
if (database) {
  const devices = new Devices(systemClock)
  let server: Awaited<ReturnType<typeof openServer>>
  let process: PawlProcess
  let far: { readonly user: UserId; readonly deviceId: string }

  beforeAll(async () => {
    server = await openServer({ database, model: scripted(), devices })
    const { id: user } = await server.face.store.people.ensure("ada", 0)
    const words = ["device", "--server", server.url, "--db", join(dataFolder(), "device.db")]
    process = new PawlProcess(words, { PAWL_TOKEN: await server.tokenFor("ada") })
    const [, deviceId = ""] = await process.says(/connected to \S+ as (\S+),/)
    far = { user, deviceId }
  }, 120_000)

  afterAll(async () => {
    await process[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  describeWorkspace("on a device in another process, over a socket", async () => {
    const desk = new Desk(new DeviceWorkspace(devices, asked(far.user, far.deviceId)))
    for (const table of ["projects", "tasks", "notes"] as const)
      for (const { id } of await desk.all(table)) await desk.delete(table, id).catch(() => {})
    while ((await desk.all("clients")).length > 0)
      for (const { id } of await desk.all("clients")) await desk.delete("clients", id).catch(() => {})
    for (const table of tableNames) if ((await desk.all(table)).length > 0) throw new Error(`${table} are left`)
    return closing(desk, async () => {})
  })
}
