import { expect, test } from "vitest"
import { TurnedClock } from "../../../test/support/loop/world.ts"
import type { DevicePlace } from "../../engine/devices.ts"
import type { CallEnd, ConnectedDevice } from "./device-connection.ts"
import type { RemoteDevices } from "./device-connection.ts"
import { Devices } from "./devices.ts"

const user = "user_ada" as never
const place: DevicePlace = { user, conversation: "conv_1" as never, deviceId: "laptop", offer: "workspace" }
const introduced = { deviceId: "laptop", ledger: true, offers: ["workspace"], knows: [], takenAt: null }

/** A socket on another node that ends each write in this way. */
function remoteSocket(number: number, end: CallEnd) {
  const written: string[] = []
  const socket: ConnectedDevice = {
    ...{ number, user, introduced, lineage: "tok_1", open: true },
    offers: () => true,
    read: async () => end,
    write: async ({ id }) => (written.push(id), end),
    report: async () => undefined,
    notifyClaim: () => {},
  }
  return { socket, written }
}

test("a closed socket of another node is not taken for the next one, though it is still stored", async () => {
  const [closed, next] = [remoteSocket(1, "closed"), remoteSocket(2, { row: { id: "t1" } })]
  const devices = new Devices(new TurnedClock())
  const remote: Partial<RemoteDevices> = {
    newest: async () => closed.socket,
    watchFor: (_which, _here, onDevice) => {
      onDevice(closed.socket)
      queueMicrotask(() => onDevice(next.socket))
      return () => {}
    },
  }
  devices.join(remote as RemoteDevices)
  const call = { callId: "call_1" as never, action: "insert", table: "tasks" }
  const { signal } = new AbortController()
  expect(await devices.call(place, call, { effect: "write", signal })).toEqual({ row: { id: "t1" } })
  expect([closed.written, next.written]).toEqual([["call_1"], ["call_1"]])
})
