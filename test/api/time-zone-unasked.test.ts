import { expect, test, vi } from "vitest"
import { composeServer } from "../../core/compose/compose-server.ts"
import { settingsIn } from "../../core/compose/settings.ts"
import { scripted } from "../../core/testing.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

// Loading the names of time zones takes 25 ms, a large share of the start.
test.each([
  ["Europe/Berlin", 1],
  ["UTC", 0],
])("a server on %s looks up its machine's time zone only when needed, %i times", async (zone, times) => {
  const { TZ } = process.env
  process.env.TZ = zone
  const asked = vi.spyOn(Intl, "DateTimeFormat")
  try {
    await using server = await composeServer(settingsIn(dataFolder()), { model: scripted() })
    expect(asked).not.toHaveBeenCalled()
    const { ports } = server.pawl
    expect([ports.timeZone, ports.timeZone]).toEqual([zone, zone])
    expect(asked).toHaveBeenCalledTimes(times)
  } finally {
    asked.mockRestore()
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  }
})
