import { expect, test } from "vitest"
import { readConfig } from "../settings/config.ts"
import { withTerminalLimit } from "./client.ts"

test("a run may work for hours in the terminal, for half an hour on a server, and as long as a setting says in both", () => {
  const seconds = (environment: Record<string, string>) => {
    const config = readConfig({ HOME: "/home/ada", ...environment })
    return [config, withTerminalLimit(config)].map(({ limits }) => limits.runSeconds)
  }
  expect(seconds({})).toEqual([30 * 60, 8 * 60 * 60])
  expect(seconds({ PAWL_RUN_SECONDS: "60" })).toEqual([60, 60])
})
