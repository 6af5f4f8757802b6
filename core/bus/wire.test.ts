import { expect, test } from "vitest"
import type { NodeMessages } from "../protocol/node-messages.ts"
import { silentLog } from "../shared/log.ts"
import type { Delivery, BusTransport } from "./wire.ts"
import { DirectMessages } from "./wire.ts"

const message = { type: "device_stop", id: "ask" } as const

test.each<[Delivery, mailed: boolean, says: boolean, mails: number]>([
  ["taken", true, true, 0],
  ["nobody", true, true, 1],
  ["nobody", false, false, 1],
  // It may have arrived: that it was surely not sent would be untrue.
  ["unknown", false, true, 1],
])("by the wire %s and by mail %s: it may have been handed over is %s", async (delivery, mailed, says, mails) => {
  let sent = 0
  const mail: NodeMessages = { self: "a", send: async () => (sent++, mailed), subscribe: () => () => {} }
  const wire = { self: "a", deliver: async () => delivery, onDelivery() {} } as Partial<BusTransport> as BusTransport
  expect(await new DirectMessages(wire, { mail, log: silentLog }).send("b", message)).toBe(says)
  expect(sent).toBe(mails)
})
