import { readFileSync, watch, writeFileSync } from "node:fs"
import { once } from "node:events"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { chatChunk, sse } from "../../core/models/providers/server.fixture.ts"
import { pawl, PawlProcess } from "../support/processes/pawl-process.ts"
import { folder, provided } from "../terminal/terminal-world.ts"

vi.setConfig({ testTimeout: 300_000 })

const NAMES = Array.from({ length: 12 }, (_, index) => `name${index}_`)
const BEFORE = NAMES.map((name) => `let ${name} = 1\n`).join("")
/** Each would show if it were made twice. */
const AFTER = NAMES.map((name) => `let x = 0; let ${name} = 1\n`).join("")

const toCall = (name: string, index: number) => ({
  ...{ index, id: `c${index}`, type: "function" },
  function: {
    name: "edit_file",
    arguments: JSON.stringify({ path: "cart.js", old_text: `let ${name}`, new_text: `let x = 0; let ${name}` }),
  },
})

const EDITS = sse(
  chatChunk({ role: "assistant", tool_calls: NAMES.map(toCall) }),
  chatChunk({}, "tool_calls"),
  "[DONE]",
)

const ROUNDS = 4

test("a process that is killed with SIGKILL between edits of one file in one reply has made each exactly once after it continues", async () => {
  const between: boolean[] = []
  for (let round = 0; round < ROUNDS && !between.includes(true); round++) {
    await using world = await provided(EDITS)
    const cwd = folder()
    const file = join(cwd, "cart.js")
    const read = () => readFileSync(file, "utf8")
    writeFileSync(file, BEFORE)
    const watcher = watch(cwd)
    const running = new PawlProcess(["exec", "--dir", ".", "--trust", "--mode", "auto", "change all"], world.settings, {
      cwd,
    })
    while (read() === BEFORE) await once(watcher, "change")
    await running.kill("SIGKILL")
    watcher.close()
    between.push(read() !== AFTER)
    const words = ["exec", "--dir", cwd, "--continue", "go on"]
    const { code, stderr } = await pawl(words, world.settings)
    expect([code, read()], stderr).toEqual([0, AFTER])
  }
  expect(between, "at least one was killed before the last edit").toContain(true)
})
