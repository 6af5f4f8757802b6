import { expect, test } from "vitest"
import { TurnedClock } from "../../../test/support/loop/world.ts"
import type { DevicePlace } from "../../engine/devices.ts"
import type { CallEnd, DeviceLine } from "./ask-device.ts"
import { Devices, type LinesElsewhere } from "./devices.ts"

const user = "user_ada" as never
const place: DevicePlace = { user, conversation: "conv_1" as never, deviceId: "laptop", offer: "workspace" }
const introduced = { deviceId: "laptop", ledger: true, offers: ["workspace"], knows: [], takenAt: null }

/** A socket at another node that ends each write in one way. */
function lineOf(number: number, end: CallEnd) {
  const written: string[] = []
  const line: DeviceLine = {
    ...{ number, user, introduced, lineage: "tok_1", open: true },
    offers: () => true,
    read: async () => end,
    write: async ({ id }) => (written.push(id), end),
    report: async () => undefined,
    tellOfClaim: () => {},
  }
  return { line, written }
}

test("a socket elsewhere that is closed is not taken for the next one, though the record has it still", async () => {
  const [closed, next] = [lineOf(1, "closed"), lineOf(2, { row: { id: "t1" } })]
  const devices = new Devices(new TurnedClock())
  const elsewhere: Partial<LinesElsewhere> = {
    newest: async () => closed.line,
    watchFor: (_which, _here, tell) => {
      tell(closed.line)
      queueMicrotask(() => tell(next.line))
      return () => {}
    },
  }
  devices.join(elsewhere as LinesElsewhere)
  const call = { callId: "call_1" as never, action: "insert", table: "tasks" }
  const { signal } = new AbortController()
  expect(await devices.call(place, call, { effect: "write", signal })).toEqual({ row: { id: "t1" } })
  expect([closed.written, next.written]).toEqual([["call_1"], ["call_1"]])
})
