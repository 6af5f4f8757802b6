import { expect, test, vi } from "vitest"
import { chatReply } from "../../core/models/providers/server.fixture.ts"
import { keys } from "./terminal.ts"
import { provided } from "./terminal-world.ts"

vi.setConfig({ testTimeout: 180_000 })

test("a long paste is one word on the line and arrives whole; a paste above the server's limit is neither sent nor lost", async () => {
  await using world = await provided(chatReply("All of it."))
  await using terminal = world.open()
  await terminal.shows("lists keys and commands")
  const long = Array.from({ length: 2341 }, (_, index) => `line ${index} ${"x".repeat(40)}`).join("\n")
  expect(long.length).toBeGreaterThan(100_000)
  terminal.type("see ")
  await terminal.shows("> see")
  terminal.paste(long)
  await terminal.shows("> see [pasted 2,341 lines]\n")
  terminal.type(" please", keys.enter)
  await terminal.shows("All of it.")
  const said = world.provider.received.at(-1)?.body.messages.findLast(({ role }: { role: string }) => role === "user")
  expect(said?.content).toBe(`see ${long} please`)
  expect(terminal.all, "one's own words are not a book either").not.toContain("line 100 ")
  terminal.type("/all", keys.enter)
  await terminal.showed("line 2340 ")

  terminal.paste("y".repeat(1_100_000))
  await terminal.shows("> [pasted 1,100,000 characters]")
  terminal.type(keys.enter)
  await terminal.shows(/The message is too long by 53 kB[^]*> \[pasted 1,100,000 characters\]/)
  terminal.type(keys.backspace, "ok")
  await terminal.shows(/^> ok\nask first/m)
  expect(world.provider.received).toHaveLength(1)
})
