import { expect, test } from "vitest"
import { silentLog } from "../../core/shared/log.ts"
import { InProcessBus } from "../../core/bus/in-process.ts"
import { newId } from "../../core/protocol/ids.ts"
import type { Conversations } from "../../core/server/conversation/ports.ts"
import { onWithdrawn } from "../../core/server/stream/send-message.ts"

test("a message that another node has withdrawn unnoticed is found missing at the next read of the record", async () => {
  const [id, message, bus] = [newId("conv"), newId("msg"), new InProcessBus()]
  const looked = Promise.withResolvers<void>()
  let isThere = true
  const placeOf = async () => {
    looked.resolve()
    return isThere ? ("waiting" as const) : undefined
  }
  const withdrawn = Promise.withResolvers<string>()
  const ports = { bus, log: silentLog, conversations: { placeOf } as unknown as Conversations }
  const waits = { begun: () => false, withdraw: () => withdrawn.resolve("withdrawn") }
  const leave = onWithdrawn(ports, { id, message }, waits)
  await looked.promise
  isThere = false
  bus.publish(id, { type: "recorded", position: 1, atWork: true })
  expect(await withdrawn.promise).toBe("withdrawn")
  leave()
  expect([...bus.watched().conversations]).toEqual([])
})
