import type { ServerResponse } from "node:http"
import { expect, test } from "vitest"
import { chatChunk, sse } from "../../src/models/providers/server.fixture.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { keys, TerminalProcess } from "../support/terminal/terminal.ts"
import { folder, provided } from "../support/terminal/terminal-world.ts"
import { slownessOf } from "../support/slowness.ts"

test("a long reply stays responsive, scrolls away whole, and survives a resize and a paste", async () => {
  const lines = Array.from({ length: 2000 }, (_, index) => `Line ${index} of the reply.`)
  const half = Promise.withResolvers<ServerResponse>()
  await using world = await provided(async (response) => {
    for (const line of lines.slice(0, 1000))
      response.write(sse(chatChunk({ role: "assistant", content: `${line}\n\n` })))
    response.write(sse(chatChunk({ content: "Half of it" })))
    half.resolve(response)
  })
  await using terminal = world.open()
  await terminal.shows("what can be done")
  terminal.type("write much", keys.enter)
  const response = await half.promise
  await terminal.shows("Half of it")
  terminal.resize(60, 15)
  await terminal.shows(/Esc stops/)
  terminal.paste("two\nlines")
  await terminal.shows("> two\n  lines")
  const typed = performance.now()
  response.write(sse(chatChunk({ content: " is done.\n\n" })))
  for (const line of lines.slice(1000)) response.write(sse(chatChunk({ content: `${line}\n\n` })))
  terminal.type(" typed meanwhile")
  await terminal.shows("lines typed meanwhile")
  expect(performance.now() - typed).toBeLessThan(5000 * slownessOf())
  response.end(sse(chatChunk({}, "stop"), "[DONE]"))
  await terminal.shows("Line 1999 of the reply.")
  await terminal.showsNoMore("Esc stops")
  await terminal.settles((_, all) => {
    const found = [...all.matchAll(/^Line (\d+) of the reply\.$/gm)].map(([, number]) => Number(number))
    expect(found).toEqual(lines.map((_, index) => index))
    expect(all.match(/^Half of it is done\.$/gm)).toHaveLength(1)
  })
  // Much was sent for so much text, and not the screen again for each piece.
  expect(terminal.output.length).toBeLessThan(1_000_000)
  terminal.resize(100, 30)
  await terminal.shows(/> two\n {2}lines typed meanwhile\n.*confirm/)
})

test("the prompt is there in five times what Node takes to do nothing", async () => {
  const settings = { PAWL_DATA: dataFolder() }
  {
    // What was compiled is kept when a process ends in good order.
    await using terminal = new TerminalProcess(["chat"], settings, { cwd: folder() })
    await terminal.shows("what can be done")
    terminal.type(keys.endOfInput)
    await terminal.ended
  }
  let [nothing, prompt] = [Infinity, Infinity]
  // The quickest of each, because other programs run beside them; in doubt a few more.
  for (let round = 0; round < 5 || (prompt / nothing >= 5 && round < 15); round++) {
    const begun = performance.now()
    await using node = new TerminalProcess([], {}, { run: ["-e", "0"] })
    await node.ended
    nothing = Math.min(nothing, performance.now() - begun)
    const asked = performance.now()
    await using terminal = new TerminalProcess(["chat"], settings, { cwd: folder() })
    await terminal.shows(/^> ?$/m)
    prompt = Math.min(prompt, performance.now() - asked)
  }
  expect(prompt / nothing).toBeLessThan(5)
})
