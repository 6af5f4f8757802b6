import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { chatReply } from "../../core/models/providers/server.fixture.ts"
import { keys } from "./terminal.ts"
import { APPROVAL_PROMPT, calls, provided } from "./terminal-world.ts"

vi.setConfig({ testTimeout: 180_000 })

/** Waits for the last line of the frame, when everything above it is drawn. */
const AT_REST = /It did not run\.[^]*^>\s*\nask first/m

const writes = (path: string, content: string) => calls("write_file", { path, content })

test("applied, rejected and superseded changes read the same after --continue, with what was edited", async () => {
  await using world = await provided(
    writes("done.txt", "Buy milk\n"),
    chatReply("Done is done."),
    writes("rejected.txt", "Buy less\n"),
    chatReply("Then not."),
    writes("overtaken.txt", "Buy 50\n"),
    writes("five.txt", "Buy 5\n"),
    chatReply("Five it is."),
    calls("run_command", { command: "true" }),
    chatReply("It did not run."),
  )
  writeFileSync(join(world.cwd, "done.txt"), "Buy bread\n")
  let before: string
  {
    await using terminal = world.open([], {}, { columns: 100, rows: 60 })
    await terminal.shows("lists keys and commands")
    terminal.type("first", keys.enter)
    await terminal.shows(APPROVAL_PROMPT)
    terminal.type("yes", keys.enter)
    await terminal.shows("Done is done.")
    terminal.type("second", keys.enter)
    await terminal.shows(APPROVAL_PROMPT)
    terminal.type("no", keys.enter)
    await terminal.shows("Then not.")
    terminal.type("third", keys.enter)
    await terminal.shows(APPROVAL_PROMPT)
    terminal.type("make it 5, not 50", keys.enter)
    await terminal.shows(/\+Buy 5\n/)
    await terminal.shows(APPROVAL_PROMPT)
    terminal.type("yes", keys.enter)
    await terminal.shows("Five it is.")
    terminal.type("fourth", keys.enter)
    await terminal.shows(/^yes \/ no/m) // without a sandbox there is no "always"
    await terminal.settles((screen) => {
      expect(screen).toContain("? Runs a command · run_command")
      expect(screen).not.toContain("Overwrites")
    })
    terminal.type("no", keys.enter)
    before = (await terminal.shows(AT_REST)).replaceAll(/ · \d+ ms/g, "")
    terminal.type(keys.endOfInput)
    await terminal.ended
  }
  expect(readFileSync(join(world.cwd, "done.txt"), "utf8")).toBe("Buy milk\n")
  await using terminal = world.open(["--continue"], {}, { columns: 100, rows: 60 })
  const after = (await terminal.shows(AT_REST)).replaceAll(/ · \d+ ms/g, "")
  const told = (screen: string) => screen.split("\n").filter((line) => /^[✓✗]|^ {2}[@+-]/.test(line))
  expect(told(after)).toEqual(told(before))
  expect(after).toMatch(/✓ .*done\.txt.* · \+1 −1 · done\n/)
  expect(after).toMatch(/✗ .*rejected\.txt.* · rejected/)
  expect(after).toMatch(/✗ .*overtaken\.txt.* · not applied/)
  expect(after).not.toMatch(/replaced/)
})
