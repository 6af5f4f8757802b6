import { expect, test, vi } from "vitest"
import { composeServer } from "../../src/compose/compose-server.ts"
import { settingsIn } from "../../src/compose/settings.ts"
import { scripted } from "../../src/testing.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

// What the zones are called takes 25 ms to load, which is much of a start.
test("a server asks what zone its machine is in when it needs to know, and not to be there", async () => {
  const asked = vi.spyOn(Intl, "DateTimeFormat")
  try {
    await using server = await composeServer(settingsIn(dataFolder()), { model: scripted() })
    expect(asked).not.toHaveBeenCalled()
    const { ports } = server.pawl
    expect(ports.timeZone).toBe(ports.timeZone)
    expect(asked).toHaveBeenCalledTimes(1)
  } finally {
    asked.mockRestore()
  }
})
