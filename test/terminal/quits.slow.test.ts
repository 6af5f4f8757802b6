import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { chatChunk, chatReply, sse } from "../../core/models/providers/server.fixture.ts"
import { launcher } from "../support/processes/package.ts"
import { isGone } from "../support/processes/processes.ts"
import { keys } from "./terminal.ts"
import { calls, provided } from "./terminal-world.ts"

vi.setConfig({ testTimeout: 180_000 })

/** Ignores signals to stop. The mark identifies its processes, also those in a sandbox. */
const endless = (mark: string) => `trap '' TERM HUP INT; touch begun; while :; do sleep 1; : ${mark}; done`
const running = (mark: string) => {
  const { stdout } = spawnSync("ps", ["-A", "-o", "args"], { encoding: "utf8" })
  return stdout.split("\n").filter((line) => line.includes(mark))
}

test.each([
  ["Ctrl-D", [keys.endOfInput]],
  ["Ctrl-C twice", [keys.interrupt, keys.interrupt]],
  ["/quit", ["/quit", keys.enter]],
])("%s while a command runs ends the command and returns to the shell", async (how, typed) => {
  const mark = `mark-${process.pid}-${how.replaceAll(/\W/g, "")}`
  await using world = await provided(calls("run_command", { command: endless(mark), seconds: 600 }), chatReply("Done."))
  await using terminal = world.open()
  await terminal.shows("lists keys and commands")
  terminal.type("run it", keys.enter)
  await terminal.shows("yes / no")
  terminal.type("yes", keys.enter)
  await expect.poll(() => existsSync(join(world.cwd, "begun")), { timeout: 60_000 }).toBe(true)
  expect(running(mark)).not.toEqual([])
  for (const key of typed) terminal.type(key)
  expect(await terminal.ended).toMatchObject({ code: 0 })
  expect(running(mark)).toEqual([])
})

test("quitting right after sending a message returns to the shell too", async () => {
  await using world = await provided((response) => response.flushHeaders()) // and then never says anything
  await using terminal = world.open()
  await terminal.shows("lists keys and commands")
  terminal.type("hello")
  await terminal.shows("> hello")
  terminal.type(keys.enter)
  await terminal.shows(/^> ?\nask first/m) // it is on its way, and nothing has come of it
  terminal.type(keys.endOfInput)
  expect(await terminal.ended).toMatchObject({ code: 0 })
})

test.each(["nothing is at work", "a reply is written"])(
  "closing the window ends it while %s, even if its parent ignores SIGHUP",
  async (when) => {
    const word = sse(chatChunk({ role: "assistant", content: "word " }))
    await using world = await provided((response) => {
      const timer = setInterval(() => response.write(word), 50)
      response.on("close", () => clearInterval(timer))
    })
    // The system signals the shell, which waits for its jobs.
    const ignoring = ["-c", `trap '' HUP; "$0" "$@"; exit 0`, process.execPath, launcher, "chat", "--trust"]
    await using terminal = world.open([], {}, { program: "/bin/sh", run: ignoring })
    await terminal.shows("lists keys and commands")
    if (when === "a reply is written") {
      terminal.type("talk", keys.enter)
      await terminal.shows("word word")
    }
    terminal.hangUp()
    await expect.poll(() => isGone(terminal.pid), { timeout: 30_000 }).toBe(true)
  },
)
