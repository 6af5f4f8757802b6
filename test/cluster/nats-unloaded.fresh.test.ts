import { createRequire } from "node:module"
import { expect, test } from "vitest"
import { settingsIn } from "../../core/compose/settings.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { composeServer } from "../../core/compose/compose-server.ts"
import { scripted } from "../../core/testing.ts"

test("a server without NATS loads nothing of its client", async () => {
  const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes("@nats-io"))
  await using server = await composeServer(settingsIn(dataFolder()), { model: scripted() })
  expect(server.bus.hearsOthers()).toBe(false)
  expect(loaded()).toEqual([])
  await import("@nats-io/transport-node")
  expect(loaded()).not.toEqual([]) // or this test would show nothing
})
