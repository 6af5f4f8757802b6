import type { ServerResponse } from "node:http"
import { expect, test, vi } from "vitest"
import { chatChunk, chatReply, sse } from "../../core/models/providers/server.fixture.ts"
import { beginsOnly, KilledServer } from "../support/processes/killed-server.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { keys } from "./terminal.ts"
import { provided } from "./terminal-world.ts"

vi.setConfig({ testTimeout: 180_000 })

test("shows that a server which dies during a run is away, and sends messages typed meanwhile once when it is back", async () => {
  const begins = beginsOnly()
  await using world = await provided(begins.reply, chatReply("Begun anew."), chatReply("And that, too."))
  await using server = await KilledServer.open(world.settings)
  const { url, token } = server
  await using terminal = world.open(["--server", url], { PAWL_TOKEN: token, PAWL_DATA: dataFolder() }, { columns: 120 })
  await terminal.shows(/ask first · qwen\/qwen3-8b · files/)
  terminal.type("work", keys.enter)
  await terminal.shows(/It begins[^]*working/)
  await begins.asked
  await server.kill()
  await terminal.shows("server not reachable, retrying · ask first")
  terminal.type("and that", keys.altEnter)
  await terminal.shows("sent when the server is back: and that")
  await server.comeBack()
  await terminal.shows(/Begun anew\.[^]*> and that[^]*And that, too\./)
  await terminal.showsNoMore(/no line|is sent when/)
  await terminal.settles((_, all) => expect(all.match(/^> and that/gm)).toHaveLength(1))
  expect(world.provider.received).toHaveLength(3)
})

test("resizing the window while a reply is written leaves no old lines behind", async () => {
  const working = Promise.withResolvers<ServerResponse>()
  await using world = await provided((response) => {
    response.write(sse(chatChunk({ role: "assistant", content: "" })))
    working.resolve(response)
  })
  // The screen of these tests is xterm.js, as in VS Code.
  await using terminal = world.open([], { TERM_PROGRAM: "vscode", NO_COLOR: "1" }, { columns: 100, rows: 30 })
  await terminal.shows("lists keys and commands")
  terminal.type("tell me", keys.enter)
  const response = await working.promise
  await terminal.shows("working")
  terminal.type("a draft")
  const word = (number: number) => `word${number} `
  const say = (text: string) => void response.write(sse(chatChunk({ content: text })))
  let said = 0
  for (const [columns, rows] of [
    [44, 30],
    [38, 20],
    [90, 30],
    [30, 12],
    [70, 30],
    [100, 30],
  ] as const) {
    for (let more = 0; more < 20; more++) say(word(++said))
    await terminal.shows(word(said).trim())
    terminal.resize(columns, rows)
    say(word(++said))
    await terminal.shows(word(said).trim())
    say(`\n\nParagraph ${columns}.\n\n`)
    await terminal.shows(`Paragraph ${columns}.`)
  }
  response.end(sse(chatChunk({ content: "The end." }), chatChunk({}, "stop"), "[DONE]"))
  await terminal.shows("The end.")
  await terminal.showsNoMore("working")
  // Waits between frames, because a redrawn line is gone from the screen for a moment.
  await terminal.settles((_, all) => {
    expect(all.match(/> a draft/g), all).toHaveLength(1)
    expect(all.match(/^> tell me/gm), all).toHaveLength(1)
    expect(all.match(/ask first ·/g), all).toHaveLength(1)
    expect(all, "of the line below").not.toMatch(/working|Esc stops/)
    for (let number = 1; number <= said; number++) {
      expect(all.match(new RegExp(`word${number}\\b`, "g")), `word${number} in ${all}`).toHaveLength(1)
    }
  })
})
