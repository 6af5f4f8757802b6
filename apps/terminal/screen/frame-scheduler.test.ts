import { expect, test, vi } from "vitest"
import { FrameScheduler } from "./frame-scheduler.ts"

test("a change after the end draws nothing and does not keep the process alive", () => {
  vi.useFakeTimers()
  try {
    const frames = new FrameScheduler(() => frames.tick())
    frames.onChange()
    frames.stop()
    frames.onChange()
    frames.tick()
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
