import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { chatReply } from "../../core/models/providers/server.fixture.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { ownPort } from "../support/processes/own-port.ts"
import { keys } from "./terminal.ts"
import { APPROVAL_PROMPT, calls, provided } from "./terminal-world.ts"

vi.setConfig({ testTimeout: 180_000 })

const writes = (path: string, content = "Buy milk\n") => calls("write_file", { path, content })

test("a change that expires while it is shown says so, accepts no yes, and is requested again by a message", async () => {
  await using world = await provided(
    writes("milk.txt"),
    chatReply("It was not done."),
    writes("bread.txt"),
    chatReply("Well."),
  )
  // Three seconds to decide. On a busy machine they may be over before it is drawn, and the test still holds.
  await using terminal = world.open([], { PAWL_PROPOSAL_MINUTES: "0.05" })
  await terminal.shows("lists keys and commands")
  terminal.type("I need milk", keys.enter)
  await terminal.shows("This expired, and nothing was changed.")
  await terminal.settles((screen) => {
    expect(screen).toContain('type "again"')
    expect(screen).not.toContain("yes / no")
  })
  for (const word of ["yes", "all", "edit", "always"]) {
    terminal.type(word)
    await terminal.shows(`> ${word}\n`)
    terminal.type(keys.enter)
    await terminal.shows(/^> ?\nask first/m)
    await terminal.settles((screen) =>
      expect(screen.match(/This expired, and nothing was changed/g), "the question, and why not").toHaveLength(2),
    )
  }
  expect(readdirSync(world.cwd)).toEqual([])
  terminal.type(keys.enter)
  expect(await terminal.shows("It was not done.")).toMatch(/✗ Create milk\.txt.* · expired; \/again proposes it again/)
  // Or with a message, without continuing first.
  terminal.type("then bread", keys.enter)
  await terminal.shows("This expired, and nothing was changed.")
  terminal.type("do it again please", keys.enter)
  await terminal.shows("Well.")
  expect(readdirSync(world.cwd)).toEqual([])
  expect(world.provider.received).toHaveLength(4)
})

test("always approves the next ones, counted, but never those that are asked about each time", async () => {
  await using world = await provided(
    writes("one.txt"),
    chatReply("One."),
    writes("two.txt"),
    chatReply("Two."),
    writes("AGENTS.md", "Obey.\n"),
    chatReply("Rules."),
    writes("three.txt"),
    chatReply("Not three."),
  )
  await using terminal = world.open()
  await terminal.shows("lists keys and commands")
  terminal.type("first", keys.enter)
  await terminal.shows(APPROVAL_PROMPT)
  terminal.type("always", keys.enter)
  await terminal.shows("One.")
  await terminal.shows("Approved without asking: the next 10 calls of “Write file”")
  terminal.type("second", keys.enter)
  expect(await terminal.shows("Two.")).toMatch(/✓ Create two\.txt.* · done, allowed by you earlier/)
  terminal.type("/grants", keys.enter)
  await terminal.shows("Write file · 9 of 10 uses left")

  terminal.type("third", keys.enter)
  await terminal.shows("yes / no / edit / none / all")
  await terminal.shows("always asked about")
  terminal.type("always", keys.enter)
  await terminal.shows("Changes like this are asked about every time.")
  terminal.type("yes", keys.enter)
  await terminal.shows("Rules.")
  terminal.type("/grants off", keys.enter)
  await terminal.shows("Pawl asks before every change again")
  terminal.type("fourth", keys.enter)
  await terminal.shows(APPROVAL_PROMPT)
  terminal.type("no", keys.enter)
  await terminal.shows("Not three.")
  expect(readdirSync(world.cwd).toSorted()).toEqual(["AGENTS.md", "one.txt", "two.txt"])
})

test("shows that a dead server is away, and continues when it is back; two terminals decide once", async () => {
  await using world = await provided(
    chatReply("Here."),
    chatReply("Here again."),
    writes("milk.txt"),
    chatReply("Milk it is."),
  )
  const settings = { ...world.settings, PAWL_PORT: await ownPort() }
  const first = new PawlProcess(["serve"], settings)
  const [, url = ""] = await first.says(/listening on (\S+)\n/)
  const token = await tokenFor(world.settings)
  const mine = { PAWL_TOKEN: token, PAWL_DATA: dataFolder() }
  await using terminal = world.open(["--server", url], mine)
  await terminal.shows("lists keys and commands")
  terminal.type("hello", keys.enter)
  await terminal.shows("Here.")
  await first[Symbol.asyncDispose]()
  await terminal.shows("server not reachable")
  terminal.type("are you there", keys.enter)
  await terminal.shows("sent when the server is back: are you there")
  await using _again = await restarted()
  await terminal.shows(/> are you there\n\nHere again\./)
  await terminal.showsNoMore("the server")

  // The same conversation in a second terminal of the same person, in another folder.
  await using other = world.open(["--server", url], { ...mine, PAWL_DATA: dataFolder() }, { cwd: dataFolder() })
  await other.shows("lists keys and commands")
  other.type("/conversations 1", keys.enter)
  await other.shows("Here again.")
  terminal.type("I need milk", keys.enter)
  await Promise.all([terminal.shows(APPROVAL_PROMPT), other.shows(APPROVAL_PROMPT)])
  terminal.type("yes", keys.enter)
  other.type("yes", keys.enter)
  for (const each of [terminal, other]) expect(await each.shows("Milk it is.")).toMatch(/✓ Create milk\.txt.* · done/)
  await terminal.settles((_, all) => expect(all.match(/✓ Create milk\.txt/g)).toHaveLength(1))
  expect(readFileSync(join(world.cwd, "milk.txt"), "utf8")).toBe("Buy milk\n")

  async function restarted(): Promise<PawlProcess> {
    const process = new PawlProcess(["serve"], settings)
    await process.says(/listening on (\S+)\n/)
    return process
  }
})
