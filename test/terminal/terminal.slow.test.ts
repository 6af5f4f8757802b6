import { existsSync, readdirSync, readFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { expect, test } from "vitest"
import { TrustedFolders } from "../../apps/cli/open/trusted-folders.ts"
import { chatChunk, chatReply, sse } from "../../core/models/providers/server.fixture.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder, pawl, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"
import { keys, TerminalProcess } from "./terminal.ts"
import { APPROVAL_PROMPT, calls, provided } from "./terminal-world.ts"

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
  await terminal.shows("lists keys and commands")
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

  // Enter alone decides nothing; a word does.
  terminal.type("I need milk", keys.enter)
  await terminal.shows(APPROVAL_PROMPT)
  await terminal.shows(/Adds · write_file\n {2}Create milk\.txt.*\n {2}@@ line 1\n {2}\+Buy milk\n/)
  await terminal.shows('path: "milk.txt"')
  terminal.type(keys.enter)
  await terminal.shows("Enter alone decides nothing. Type yes or no.")
  terminal.type("no", keys.enter)
  expect(await terminal.shows("Then not.")).toMatch(/✗ Create milk\.txt.* · rejected/)
  expect(existsSync(join(world.cwd, "milk.txt"))).toBe(false)
  terminal.type("and bread", keys.enter)
  await terminal.shows(APPROVAL_PROMPT)
  terminal.type("edit", keys.enter)
  await terminal.shows("Edit the arguments, then press Enter")
  terminal.type("\x1b[A\x1b[F", "\x15", '  "content": "Rye bread\\n"', keys.enter)
  await terminal.shows("+Rye bread")
  terminal.type("yes", keys.enter)
  await terminal.shows(/✓ Create bread\.txt.* · \+1 −0 · done · \d+ ms\n+Bread is on your list\./)
  expect(readFileSync(join(world.cwd, "bread.txt"), "utf8")).toBe("Rye bread\n")

  // During a run, Enter steers and Alt+Enter queues.
  terminal.type("work", keys.enter)
  const response = await working.promise
  await terminal.shows("Esc stops")
  terminal.type("later this", keys.altEnter)
  await terminal.shows("queued: later this")
  terminal.type("rather that", keys.enter)
  await terminal.shows("next step: rather that")
  response.end(chatReply("Worked."))
  await terminal.shows("Steered.")
  await terminal.settles((screen) => {
    expect(screen).toMatch(/> work[^]*Worked\.[^]*> later this[^]*> rather that[^]*Steered\./)
    expect(screen).not.toMatch(/waits:|steers:/)
  })

  terminal.type(keys.shiftTab)
  await terminal.shows("automatic · ")
  terminal.type(keys.shiftTab)
  await terminal.shows("read only · ")

  terminal.type("endless", keys.enter)
  await terminal.shows("Without an end")
  terminal.type(keys.escape)
  await terminal.shows("! Stopped.")
  await terminal.showsNoMore("Esc stops")

  terminal.type(keys.up)
  await terminal.shows("> endless\nread only")
  terminal.type(keys.interrupt)
  await terminal.shows("Press Ctrl-C again to quit.")
  await terminal.shows(/^>\s*\nread only/m)
  terminal.type(keys.interrupt)
  expect((await terminal.ended).code).toBe(0)
  expect(terminal.output).toContain('To continue this conversation, run "pawl chat --continue".')
})

test("chat names a change that waits in another conversation of its folder", async () => {
  await using world = await provided(calls("write_file", { path: "milk.txt", content: "Buy milk\n" }))
  const exec = (text: string) => command(["exec", "--dir", ".", text], world.settings, "", world.cwd)
  expect((await exec("I need milk")).code).toBe(2)
  {
    await using terminal = world.open(["--continue"])
    await terminal.shows(APPROVAL_PROMPT)
    expect(terminal.output).not.toContain("another conversation")
  }
  expect((await exec("hello")).code).toBe(0)
  const told =
    /! A change waits for your approval in another conversation of this\s+folder,\s+"I\s+need\s+milk"\s+\(\/conversations\s+lists\s+it\):\s+Create\s+milk\.txt/
  {
    await using terminal = world.open()
    await terminal.shows(told)
  }
  await using terminal = world.open(["--continue"])
  await terminal.shows(told)
  terminal.type("/conversations", keys.enter)
  await terminal.shows(/2 {2}I need milk · .*waits for you/)
  terminal.type("/conversations 2", keys.enter)
  await terminal.shows(APPROVAL_PROMPT)
})

test("killed while a change waits, --continue shows it and continues with the answer", async () => {
  await using world = await provided(
    calls("write_file", { path: "milk.txt", content: "Buy milk\n" }),
    chatReply("Milk is on your list."),
    chatReply("Here again."),
  )
  {
    await using terminal = world.open(["--mode", "confirm"])
    await terminal.shows("lists keys and commands")
    terminal.type("I need milk", keys.enter)
    await terminal.shows(APPROVAL_PROMPT)
    await terminal.kill("SIGKILL")
  }
  await using terminal = world.open(["--continue"])
  for (const each of [APPROVAL_PROMPT, "> I need milk", "+Buy milk"]) await terminal.shows(each)
  expect(readdirSync(world.cwd)).toEqual([])
  terminal.type("yes", keys.enter)
  expect(await terminal.shows("Milk is on your list.")).toMatch(/✓ Create milk\.txt.* · done/)
  expect(readdirSync(world.cwd)).toEqual(["milk.txt"])

  // Undone, forked, listed, closed.
  terminal.type("/undo", keys.enter)
  await terminal.shows(/-Buy milk[^]*yes \/ no/)
  terminal.type("yes", keys.enter)
  await terminal.shows(/✓[^\n]*milk\.txt[^\n]* · \+0 −1 · done/)
  expect(readdirSync(world.cwd)).toEqual([])
  terminal.type("/fork 2", keys.enter)
  await terminal.shows("This is a branch.")
  await terminal.shows(/> I need milk\nask first/)
  terminal.type("\x15", "/conversations", keys.enter)
  expect(await terminal.shows("/conversations N opens one.")).toMatch(
    / 1 {2}I need milk · [^\n]* · this one · \/\S+\n 2 {2}I need milk · [^\n]* · \/\S+\n/,
  )
  terminal.type("/model offline", keys.enter)
  await terminal.shows("ask first · offline · files · ")
  terminal.type("/agent workspace", keys.enter)
  await terminal.shows("ask first · offline · workspace · ")
  terminal.type("/nothing", keys.enter)
  await terminal.shows("! Unknown command /nothing.")
  // In the first row tmux would move the erased lines into its scrollback.
  expect(terminal.output).not.toMatch(/(?:\r|\x1b\[1?G|\x1b\[(?:1;1)?H)\x1b\[J/)
  terminal.type("/quit", keys.enter)
  expect((await terminal.ended).code).toBe(0)
})

const HOSTILE =
  "red \x1b[31mX\x1b[0m title \x1b]0;owned\x07 clear \x1b[2J csi \x9b2J bidi \u202eevil\u2066 zero \u200b tag \u{e0041}."

test("no control sequence in a text reaches the terminal, and no colour is sent if it is turned off", async () => {
  await using world = await provided(
    chatReply(`${HOSTILE}\n\n\`\`\`\n${HOSTILE}\n\`\`\`\n\n| a |\n|---|\n| ${HOSTILE} |\n\nEnd of it.`),
    calls("write_file", { path: "odd\x1b[2J\u202ename\n.txt", content: `one\n${HOSTILE}\nlong` }),
    chatReply("Done."),
  )
  await using terminal = world.open([], { NO_COLOR: "1" })
  await terminal.shows("lists keys and commands")
  terminal.type("be bad", keys.enter)
  await terminal.shows("End of it.")
  await terminal.shows("red ⟨U+001B⟩[31mX⟨U+001B⟩[0m")
  terminal.type("and now a file", keys.enter)
  await terminal.shows(/⟨U\+202E⟩[^]*yes \/ no/)
  await terminal.shows("⟨U+009B⟩2J")
  terminal.paste(`pasted ${HOSTILE}`)
  await terminal.shows("> pasted red ⟨U+001B⟩[31mX")
  terminal.type("\x15", "/conversations", keys.enter)
  await terminal.showed("/conversations N opens one.")

  const { output } = terminal
  expect(output).not.toMatch(/\x1b\]|\x07|\x9b|\x1b\[2J|[\u202e\u2066\u200b]|\u{e0041}/u)
  expect(output, "no colour, no bold, nothing").not.toMatch(/\x1b\[[\d;]*m/)
})

test("yes does not count until the whole change has been on the screen", async () => {
  const content = Array.from({ length: 60 }, (_, index) => `step ${index}`).join("\n")
  await using world = await provided(calls("write_file", { path: "long.txt", content }), chatReply("All done."))
  await using terminal = world.open([], { TERM: "dumb" })
  await terminal.shows("lists keys and commands")
  terminal.type("a long one", keys.enter)
  await terminal.shows(/lines 1–\d+ of \d+ · Space or PgDn/)
  terminal.type("yes", keys.enter)
  await terminal.shows(/\d+ lines not shown yet: PgDn shows them/)
  terminal.type(keys.enter)
  await terminal.shows(/> yes\n/)
  for (let pages = 0; !/PgUp: back/.test(terminal.screen) && pages < 30; pages++) {
    const lines = /lines \d+–(\d+) of/
    const [, end] = lines.exec(await terminal.shows(lines)) ?? []
    terminal.type(keys.pageDown)
    await terminal.showsNoMore(`–${end} of`)
    await terminal.shows(lines)
  }
  await terminal.shows("step 59")
  terminal.type(keys.enter)
  await terminal.shows("All done.")
  expect(terminal.output, "a terminal without colours gets none").not.toMatch(/\x1b\[[\d;]*m/)
})

test("with --server the folder stays on this machine, and decisions made in the page appear here", async () => {
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
  await terminal.shows("lists keys and commands")
  terminal.type("I need milk", keys.enter)
  await terminal.shows(APPROVAL_PROMPT)
  const page = new Visitor(fetch, token, url)
  const [proposal] = (await page.get("/api/agent/proposals?status=pending")).body.items
  await page.post(`/api/agent/proposals/${proposal.id}/commit`)
  await terminal.shows("Milk is on your list.")
  await terminal.showsNoMore(APPROVAL_PROMPT)
  expect(readFileSync(join(world.cwd, "milk.txt"), "utf8")).toBe("Buy milk\n")

  // A long command is shown whole, and the shown command runs.
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
  expect([code, stderr]).toEqual([1, expect.stringContaining("Run: pawl exec")])
})

test("asks once about a folder whether its files are trusted, and stores the answer with the data", async () => {
  await using world = await provided(chatReply("Hello."))
  const chat = (...words: string[]) => new TerminalProcess(["chat", ...words], world.settings, { cwd: world.cwd })
  const answers = () => new TrustedFolders(world.settings.PAWL_DATA).answerFor(world.cwd)
  {
    await using terminal = chat()
    await terminal.shows(`Do you trust the files in ${world.cwd}?`)
    terminal.type("perhaps", keys.enter)
    await terminal.shows("Type y or n, then Enter.")
    expect(answers()).toBeUndefined()
    terminal.type("n", keys.enter)
    await terminal.shows("lists keys and commands")
    terminal.type("hello", keys.enter)
    await terminal.shows("Hello.")
  }
  expect([answers(), readdirSync(world.cwd)]).toEqual([false, []])
  await using again = chat("--trust")
  await again.shows("lists keys and commands")
  expect(again.all).not.toContain("Do you trust")
  expect(answers()).toBe(true)
})
