import { expect, test, vi } from "vitest"
import { Pictures } from "./pictures.ts"

test("what changes after the end is drawn no more, and keeps no process alive", () => {
  vi.useFakeTimers()
  try {
    const pictures = new Pictures(() => pictures.tick())
    pictures.changed()
    pictures.stop()
    pictures.changed()
    pictures.tick()
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
