import { registerHooks } from "node:module"
import { expect, onTestFinished, test } from "vitest"
import { composeServer } from "../../core/compose/compose-server.ts"
import { settingsIn } from "../../core/compose/settings.ts"
import { scripted } from "../../core/testing.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { tellingTo } from "./exporting-server.ts"

test("a server that exports no traces loads nothing of OpenTelemetry", async () => {
  const loaded: string[] = []
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      if (found.url.includes("@opentelemetry")) loaded.push(found.url)
      return found
    },
  })
  onTestFinished(() => hooks.deregister())
  const settings = settingsIn(dataFolder())
  await using _server = await composeServer(settings, { model: scripted() })
  expect(loaded).toEqual([])
  const telemetry = tellingTo("http://127.0.0.1:1")
  await using _other = await composeServer({ ...settingsIn(dataFolder()), telemetry }, { model: scripted() })
  expect(loaded).not.toEqual([]) // or this test would show nothing
})
