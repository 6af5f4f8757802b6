import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test, vi } from "vitest"
import { chatReply } from "../../core/models/providers/server.fixture.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { keys } from "./terminal.ts"
import { calls, provided } from "./terminal-world.ts"

vi.setConfig({ testTimeout: 180_000 })

const KEY = "sk-of-the-operator-0123456789"

test("a command without a sandbox finds no key of ours in its parent, and a key that it finds is redacted", async () => {
  const PAWL_DATA = dataFolder()
  const made = randomBytes(32).toString("base64")
  writeFileSync(join(PAWL_DATA, "master.key"), `${made}\n`, { mode: 0o600 })
  const look = "/bin/cat /proc/$PPID/environ | /usr/bin/tr '\\0' '\\n'; /bin/cat found; echo looked"
  const command = `${look}; /bin/cat ${PAWL_DATA}/master.key`
  await using world = await provided(calls("run_command", { command }), chatReply("I have looked."))
  writeFileSync(join(world.cwd, "found"), `somewhere else: ${KEY}\n`)
  // A search path without bubblewrap.
  const PATH = mkdtempSync(join(tmpdir(), inject("testRun"), "empty-"))
  await using terminal = world.open([], { OPENAI_API_KEY: KEY, PATH, PAWL_DATA })
  await terminal.shows("lists keys and commands")
  terminal.type("look", keys.enter)
  await terminal.shows("yes / no")
  await terminal.shows(/without a\s+sandbox/)
  terminal.type("yes", keys.enter)
  await terminal.shows("I have looked.")
  const [, second = ""] = world.provider.received.map((request) => JSON.stringify(request))
  expect(second).toContain("looked")
  if (process.platform === "linux") expect(second).toMatch(/OPENAI_API_KEY=(\*{29}|\[hidden\])/)
  expect(second).toContain("somewhere else: [hidden]")
  expect(second).not.toContain(KEY)
  expect(second).not.toContain(made)
  expect(terminal.output).not.toContain(KEY)
  terminal.type(keys.endOfInput)
  await terminal.ended
  const databases = readdirSync(PAWL_DATA).filter((name) => name.startsWith("pawl.db"))
  expect(databases).not.toEqual([])
  for (const name of databases)
    for (const secret of [KEY, made]) expect(readFileSync(join(PAWL_DATA, name)).includes(secret), name).toBe(false)
})
