import { expect, onTestFinished, test, vi } from "vitest"
import type { Live } from "../engine/ports.ts"
import { newId } from "../protocol/ids.ts"
import { InProcessBus } from "./in-process.ts"

const REST: Live = { type: "rest" }

test("a subscriber that throws affects neither the publisher nor other subscribers, and its error becomes a warning", async () => {
  const bus = new InProcessBus()
  const id = newId("conv")
  const seen: Live[] = []
  const defect = new Error("a watcher's own defect")
  bus.subscribe(id, () => {
    throw defect
  })
  bus.subscribe(id, (live) => void seen.push(live))
  const warn = vi.spyOn(process, "emitWarning").mockReturnValue()
  onTestFinished(() => warn.mockRestore())
  expect(() => bus.publish(id, REST)).not.toThrow()
  expect(seen).toEqual([REST])
  await Promise.resolve()
  expect(warn.mock.calls).toEqual([[defect]])
})

test("a subscriber only gets events of its conversation, and none after it has unsubscribed", () => {
  const bus = new InProcessBus()
  const [mine, other] = [newId("conv"), newId("conv")]
  const seen: Live[] = []
  const leave = bus.subscribe(mine, (live) => void seen.push(live))
  bus.publish(other, REST)
  expect(seen).toEqual([])
  bus.publish(mine, REST)
  leave()
  bus.publish(mine, REST)
  expect(seen).toEqual([REST])
})
