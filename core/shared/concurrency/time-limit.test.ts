import { getEventListeners } from "node:events"
import { describe, expect, it } from "vitest"
import { whenAborted } from "./time-limit.ts"

describe("whoever waits for a signal", () => {
  it("is told once, when it aborts, and not who has stopped waiting", () => {
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

  it("adds one listener to it, however many wait", () => {
    const { signal } = new AbortController()
    for (let i = 0; i < 20; i++) whenAborted(signal, () => {})()
    expect(getEventListeners(signal, "abort")).toHaveLength(1)
  })

  it("may stop waiting, or have another stop, while all are told", () => {
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
