import { getEventListeners } from "node:events"
import { describe, expect, it } from "vitest"
import { whenAborted } from "./time-limit.ts"

describe("a callback for an aborted signal", () => {
  it("is called once, unless it was removed", () => {
    const controller = new AbortController()
    const other = new AbortController()
    const told: string[] = []
    whenAborted(controller.signal, () => told.push("first"))
    const stopWaiting = whenAborted(controller.signal, () => told.push("gone"))
    whenAborted(controller.signal, () => told.push(`last: ${controller.signal.reason}`))
    whenAborted(other.signal, () => told.push("other"))
    stopWaiting()
    controller.abort("cancel")
    controller.abort("again")
    expect(told).toEqual(["first", "last: cancel"])
  })

  it("needs one listener per signal, however many there are", () => {
    const { signal } = new AbortController()
    for (let i = 0; i < 20; i++) whenAborted(signal, () => {})()
    expect(getEventListeners(signal, "abort")).toHaveLength(1)
  })

  it("may be removed by another one while all are called", () => {
    const controller = new AbortController()
    const told: string[] = []
    let stopSecond = () => {}
    whenAborted(controller.signal, () => stopSecond())
    stopSecond = whenAborted(controller.signal, () => told.push("second"))
    whenAborted(controller.signal, () => told.push("third"))
    controller.abort()
    expect(told).toEqual(["third"])
  })
})
