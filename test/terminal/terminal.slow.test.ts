import { existsSync, readdirSync, readFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { expect, test } from "vitest"
import { chatChunk, chatReply, sse } from "../../src/models/providers/server.fixture.ts"
import { dataFolder, pawl, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"
import { keys } from "../support/terminal/terminal.ts"
import { ASKED, calls, provided } from "../support/terminal/terminal-world.ts"

const LONG = `printf %s ${"x".repeat(16_000)} > long.txt`

const MARKDOWN = `# A plan

Some **bold** words, \`code\` and a [link](https://example.org/x).

- first
- second

| name | number |
|------|-------:|
| ada  |      1 |

\`\`\`ts
const a = 1
\`\`\`

The end.`

test("a conversation from the first prompt to Ctrl-C twice, in 80 × 24", async () => {
  const working = Promise.withResolvers<ServerResponse>()
  await using world = await provided(
    chatReply(MARKDOWN),
    calls("write_file", { path: "milk.txt", content: "Buy milk\n" }),
    chatReply("Then not."),
    calls("write_file", { path: "bread.txt", content: "Buy bread\n" }),
    chatReply("Bread is on your list."),
    (response) => working.resolve(response),
    chatReply("Steered."),
    (response) => response.write(sse(chatChunk({ role: "assistant", content: "Without an end" }))),
  )
  await using terminal = world.open()
  await terminal.shows("what can be done")
  await terminal.hasCursorAt(2, 2)

  terminal.type("make a plan", keys.enter)
  await terminal.shows("The end.")
  for (const line of [
    "> make a plan",
    "# A plan",
    "Some bold words, code and a link (https://example.org/x).",
    "• first",
    "name  number",
    "ada        1",
    "  const a = 1",
  ])
    await terminal.settles((screen) => expect(screen.split("\n")).toContain(line))

  // Nothing is no, and a word decides.
  terminal.type("I need milk", keys.enter)
  await terminal.shows(ASKED)
  await terminal.shows(/Adds · write_file\n {2}Create milk\.txt.*\n {2}@@ line 1\n {2}\+Buy milk\n/)
  await terminal.shows('path: "milk.txt"')
  terminal.type(keys.enter)
  expect(await terminal.shows("Then not.")).toMatch(/✗ Create milk\.txt.* · rejected/)
  expect(existsSync(join(world.cwd, "milk.txt"))).toBe(false)
  terminal.type("and bread", keys.enter)
  await terminal.shows(ASKED)
  terminal.type("edit", keys.enter)
  await terminal.shows("Change it, then Enter")
  terminal.type("\x1b[A\x1b[F", "\x15", '  "content": "Rye bread\\n"', keys.enter)
  await terminal.shows("+Rye bread")
  terminal.type("yes", keys.enter)
  await terminal.shows(
    /✓ Create bread\.txt.* · done · \d+ ms\n {2}@@ line 1\n {2}\+Rye bread[^]*Bread is on your list\./,
  )
  expect(readFileSync(join(world.cwd, "bread.txt"), "utf8")).toBe("Rye bread\n")

  // While it works: Enter steers, Alt+Enter queues.
  terminal.type("work", keys.enter)
  const response = await working.promise
  await terminal.shows("Esc stops")
  terminal.type("later this", keys.altEnter)
  await terminal.shows("waits: later this")
  terminal.type("rather that", keys.enter)
  await terminal.shows("steers: rather that")
  response.end(chatReply("Worked."))
  await terminal.shows("Steered.")
  await terminal.settles((screen) => {
    expect(screen).toMatch(/> work[^]*Worked\.[^]*> later this[^]*> rather that[^]*Steered\./)
    expect(screen).not.toMatch(/waits:|steers:/)
  })

  terminal.type(keys.shiftTab)
  await terminal.shows("auto · ")
  terminal.type(keys.shiftTab)
  await terminal.shows("read-only · ")

  terminal.type("endless", keys.enter)
  await terminal.shows("Without an end")
  terminal.type(keys.escape)
  await terminal.shows("! Stopped.")
  await terminal.showsNoMore("Esc stops")

  terminal.type(keys.up)
  await terminal.shows("> endless\nread-only")
  terminal.type(keys.interrupt)
  await terminal.shows("Ctrl-C again quits.")
  await terminal.shows(/^>\s*\nread-only/m)
  terminal.type(keys.interrupt)
  expect((await terminal.ended).code).toBe(0)
  expect(terminal.output).toContain("pawl chat --continue goes on here.")
})

test("killed while a change waits, --continue shows it and goes on with the answer", async () => {
  await using world = await provided(
    calls("write_file", { path: "milk.txt", content: "Buy milk\n" }),
    chatReply("Milk is on your list."),
    chatReply("Here again."),
  )
  {
    await using terminal = world.open(["--mode", "confirm"])
    await terminal.shows("what can be done")
    terminal.type("I need milk", keys.enter)
    await terminal.shows(ASKED)
    await terminal.kill("SIGKILL")
  }
  await using terminal = world.open(["--continue"])
  for (const each of [ASKED, "> I need milk", "+Buy milk"]) await terminal.shows(each)
  expect(readdirSync(world.cwd)).toEqual([])
  terminal.type("yes", keys.enter)
  expect(await terminal.shows("Milk is on your list.")).toMatch(/✓ Create milk\.txt.* · done/)
  expect(readdirSync(world.cwd)).toEqual(["milk.txt"])

  // Taken back, branched off, listed, left.
  terminal.type("/undo", keys.enter)
  await terminal.shows(/-Buy milk[^]*\[no\] \/ yes/)
  terminal.type("yes", keys.enter)
  await terminal.shows(/✓[^\n]*milk\.txt[^\n]* · done[^\n]*\n *@@[^\n]*\n *-Buy milk/)
  expect(readdirSync(world.cwd)).toEqual([])
  terminal.type("/fork 2", keys.enter)
  await terminal.shows("This is a branch")
  await terminal.shows(/> I need milk\nconfirm/)
  terminal.type("\x15", "/conversations", keys.enter)
  expect(await terminal.shows("/conversations N goes to one.")).toMatch(
    / 1 {2}I need milk · [^\n]* · here · \/\S+\n 2 {2}I need milk · [^\n]* · \/\S+\n/,
  )
  terminal.type("/model offline", keys.enter)
  await terminal.shows("confirm · offline · files · ")
  terminal.type("/agent workspace", keys.enter)
  await terminal.shows("confirm · offline · workspace · ")
  terminal.type("/nothing", keys.enter)
  await terminal.shows("! There is no /nothing.")
  terminal.type("/quit", keys.enter)
  expect((await terminal.ended).code).toBe(0)
})

const HOSTILE =
  "red \x1b[31mX\x1b[0m title \x1b]0;owned\x07 clear \x1b[2J csi \x9b2J bidi \u202eevil\u2066 zero \u200b tag \u{e0041}."

test("no order to the terminal gets through, and no colour where none is wanted", async () => {
  await using world = await provided(
    chatReply(`${HOSTILE}\n\n\`\`\`\n${HOSTILE}\n\`\`\`\n\n| a |\n|---|\n| ${HOSTILE} |\n\nEnd of it.`),
    calls("write_file", { path: "odd\x1b[2J\u202ename\n.txt", content: `one\n${HOSTILE}\nlong` }),
    chatReply("Done."),
  )
  await using terminal = world.open([], { NO_COLOR: "1" })
  await terminal.shows("what can be done")
  terminal.type("be bad", keys.enter)
  await terminal.shows("End of it.")
  await terminal.shows("red ⟨U+001B⟩[31mX⟨U+001B⟩[0m")
  terminal.type("and now a file", keys.enter)
  await terminal.shows(/⟨U\+202E⟩[^]*\[no\] \/ yes/)
  await terminal.shows("⟨U+009B⟩2J")
  terminal.paste(`pasted ${HOSTILE}`)
  await terminal.shows("> pasted red ⟨U+001B⟩[31mX")
  terminal.type("\x15", "/conversations", keys.enter)
  await terminal.showed("/conversations N goes to one.")

  const { output } = terminal
  expect(output).not.toMatch(/\x1b\]|\x07|\x9b|\x1b\[2J|[\u202e\u2066\u200b]|\u{e0041}/u)
  expect(output, "no colour, no bold, nothing").not.toMatch(/\x1b\[[\d;]*m/)
})

test("nobody agrees to what they have not had on the screen", async () => {
  const content = Array.from({ length: 60 }, (_, index) => `step ${index}`).join("\n")
  await using world = await provided(calls("write_file", { path: "long.txt", content }), chatReply("All done."))
  await using terminal = world.open([], { TERM: "dumb" })
  await terminal.shows("what can be done")
  terminal.type("a long one", keys.enter)
  await terminal.shows(/lines 1–\d+ of \d+ · Space or PgDn/)
  terminal.type("yes", keys.enter)
  await terminal.shows("Read it to its end first")
  for (let pages = 0; !/PgUp: back/.test(terminal.screen) && pages < 30; pages++) {
    const lines = /lines \d+–(\d+) of/
    const [, end] = lines.exec(await terminal.shows(lines)) ?? []
    terminal.type(" ")
    await terminal.showsNoMore(`–${end} of`)
    await terminal.shows(lines)
  }
  await terminal.shows("step 59")
  terminal.type("y", keys.enter)
  await terminal.shows("All done.")
  expect(terminal.output, "a terminal without colours gets none").not.toMatch(/\x1b\[[\d;]*m/)
})

test("over --server this machine does it, and what is decided in the page is live here", async () => {
  await using world = await provided(
    calls("write_file", { path: "milk.txt", content: "Buy milk\n" }),
    chatReply("Milk is on your list."),
    calls("run_command", { command: LONG }),
    chatReply("It ran."),
  )
  await using server = new PawlProcess(["serve"], { PAWL_PORT: "0", ...world.settings })
  const [, url = ""] = await server.says(/listening on (\S+)\n/)
  const token = await tokenFor(world.settings)
  await using terminal = world.open(["--server", url], { PAWL_TOKEN: token, PAWL_DATA: dataFolder() })
  await terminal.shows("what can be done")
  terminal.type("I need milk", keys.enter)
  await terminal.shows(ASKED)
  const page = new Visitor(fetch, token, url)
  const [proposal] = (await page.get("/api/agent/proposals?status=pending")).body.items
  await page.post(`/api/agent/proposals/${proposal.id}/commit`)
  await terminal.shows("Milk is on your list.")
  await terminal.showsNoMore(ASKED)
  expect(readFileSync(join(world.cwd, "milk.txt"), "utf8")).toBe("Buy milk\n")

  // A long command is shown whole, and is what runs.
  terminal.type("run it", keys.enter)
  await terminal.shows(/lines 1–\d+ of \d{3,}/)
  await terminal.shows(new RegExp(`\\(${LONG.length}\\s+characters`))
  const [command] = (await page.get("/api/agent/proposals?status=pending")).body.items
  expect(command.arguments.command === LONG).toBe(true)
  await page.post(`/api/agent/proposals/${command.id}/commit`)
  await terminal.shows("It ran.")
  expect(readFileSync(join(world.cwd, "long.txt"), "utf8")).toHaveLength(16_000)
})

test("a pipe is not a terminal", async () => {
  const { code, stderr } = await pawl(["chat"], { PAWL_DATA: dataFolder() })
  expect([code, stderr]).toEqual([1, expect.stringContaining("Use pawl exec")])
})
