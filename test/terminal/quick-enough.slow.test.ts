import { existsSync, readFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { expect, test } from "vitest"
import { chatChunk, sse } from "../../core/models/providers/server.fixture.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { keys, TerminalProcess } from "./terminal.ts"
import { folder, provided } from "./terminal-world.ts"
import { asUsual } from "../support/worked.ts"

/** A delay that a person does not notice, with room for garbage collection. */
const MAX_TURN_MS = 1000
/** Nine when this was written. Several threads compile the code, so a person waits for half of that. */
const MAX_TIMES = 12
const WATCH = new URL("../support/processes/longest-turn.ts", import.meta.url).href

/** Reports the processor time of its process on request and at the end, over all threads, because several compile the code. */
const TELL = `
  import { writeFileSync } from "node:fs"
  const tell = () => {
    const { user, system } = process.cpuUsage()
    writeFileSync(process.env.WORK_FILE, String((user + system) / 1000))
  }
  process.on("SIGUSR2", tell).on("exit", tell)`
const telling = (file: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(TELL)}`,
  WORK_FILE: file,
})

/** Reads what a process has written to the file. */
async function told(file: string): Promise<string> {
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toBeTruthy()
  return readFileSync(file, "utf8")
}

test("a long reply stays responsive, scrolls away whole, and leaves what was pasted and typed through a resize", async () => {
  const lines = Array.from({ length: 2000 }, (_, index) => `Line ${index} of the reply.`)
  const half = Promise.withResolvers<ServerResponse>()
  await using world = await provided(async (response) => {
    for (const line of lines.slice(0, 1000))
      response.write(sse(chatChunk({ role: "assistant", content: `${line}\n\n` })))
    response.write(sse(chatChunk({ content: "Half of it" })))
    half.resolve(response)
  })
  const turns = join(world.cwd, "turns")
  await using terminal = world.open([], { NODE_OPTIONS: `--import=${WATCH}`, LONGEST_TURN_FILE: turns })
  await terminal.shows("lists keys and commands")
  terminal.type("write much", keys.enter)
  const response = await half.promise
  await terminal.shows("Half of it")
  terminal.paste("two\nlines")
  await terminal.shows("> two\n  lines")
  response.write(sse(chatChunk({ content: " is done.\n\n" })))
  for (const line of lines.slice(1000)) response.write(sse(chatChunk({ content: `${line}\n\n` })))
  terminal.type(" typed meanwhile")
  await terminal.shows("lines typed meanwhile")
  response.end(sse(chatChunk({}, "stop"), "[DONE]"))
  await terminal.shows("Line 1999 of the reply.")
  await terminal.showsNoMore("Esc stops")
  await terminal.settles((_, all) => {
    const found = [...all.matchAll(/^Line (\d+) of the reply\.$/gm)].map(([, number]) => Number(number))
    expect(found).toEqual(lines.map((_, index) => index))
    expect(all.match(/^Half of it is done\.$/gm)).toHaveLength(1)
  })
  // Key presses are handled whatever was drawn.
  terminal.signal("SIGUSR2")
  const [, turn] = /: (\d+) ms/.exec(await told(turns)) ?? []

  expect(asUsual(Number(turn))).toBeLessThan(MAX_TURN_MS)
  // The output is in proportion to the text, without the whole screen again for each piece.
  expect(terminal.output.length).toBeLessThan(1_000_000)
  // away.slow.test.ts tests resizing while a reply is written.
  terminal.resize(60, 15)
  await terminal.shows(/> two\n {2}lines typed meanwhile\n.*ask first/)
  terminal.resize(100, 30)
  await terminal.shows(/> two\n {2}lines typed meanwhile\n.*ask first/)
})

test("the prompt appears for at most twelve times the work of an empty Node program", async () => {
  const settings = { PAWL_DATA: dataFolder() }
  {
    // Node stores the compile cache when a process exits normally.
    await using terminal = new TerminalProcess(["chat", "--trust"], settings, { cwd: folder() })
    await terminal.shows("lists keys and commands")
    terminal.type(keys.endOfInput)
    await terminal.ended
  }
  let [nothing, prompt] = [Infinity, Infinity]
  // Takes the least of several rounds, because other programs share the machine; more rounds if the result is unclear.
  for (let round = 0; round < 3 || (prompt / nothing >= MAX_TIMES && round < 15); round++) {
    const [ofNothing, ofPrompt] = ["nothing", "prompt"].map((name) => join(folder(), name)) as [string, string]
    await using node = new TerminalProcess([], telling(ofNothing), { run: ["-e", "0"] })
    await node.ended
    nothing = Math.min(nothing, Number(await told(ofNothing)))
    await using terminal = new TerminalProcess(
      ["chat", "--trust"],
      { ...settings, ...telling(ofPrompt) },
      { cwd: folder() },
    )
    await terminal.shows(/^> ?$/m)
    terminal.signal("SIGUSR2")
    prompt = Math.min(prompt, Number(await told(ofPrompt)))
  }
  expect(prompt / nothing).toBeLessThan(MAX_TIMES)
})
