import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test, vi } from "vitest"
import { chatReply } from "../../src/models/provider-server.fixture.ts"
import { keys } from "../terminal.ts"
import { calls, provided } from "../terminal-world.ts"

vi.setConfig({ testTimeout: 120_000 })

const KEY = "sk-of-the-operator-0123456789"

test("a command without a sandbox finds no key of ours with its parent, and one that it finds is not told on", async () => {
  const look = "/bin/cat /proc/$PPID/environ | /usr/bin/tr '\\0' '\\n'; /bin/cat found; echo looked"
  await using world = await provided(calls("run_command", { command: look }), chatReply("I have looked."))
  writeFileSync(join(world.cwd, "found"), `somewhere else: ${KEY}\n`)
  // A search path without bubblewrap.
  const PATH = mkdtempSync(join(tmpdir(), inject("testRun"), "empty-"))
  await using terminal = world.open([], { OPENAI_API_KEY: KEY, PATH })
  await terminal.shows("what can be done")
  terminal.type("look", keys.enter)
  expect(await terminal.shows("/ yes")).toMatch(/without a\s+sandbox/)
  terminal.type("yes", keys.enter)
  await terminal.shows("I have looked.")
  const [, second = ""] = world.provider.received.map((request) => JSON.stringify(request))
  expect(second).toContain("looked")
  if (process.platform === "linux") expect(second).toMatch(/OPENAI_API_KEY=(\*{29}|\[hidden\])/)
  expect(second).toContain("somewhere else: [hidden]")
  expect(second).not.toContain(KEY)
  expect(terminal.output).not.toContain(KEY)
  terminal.type(keys.endOfInput)
  await terminal.ended
  for (const name of readdirSync(world.settings.PAWL_DATA).filter((each) => each.startsWith("pawl.db")))
    expect(readFileSync(join(world.settings.PAWL_DATA, name)).includes(KEY), name).toBe(false)
})
