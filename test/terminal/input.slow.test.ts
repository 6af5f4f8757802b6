import { rmSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { expect, test, vi } from "vitest"
import { chatChunk, chatReply, sse } from "../../core/models/providers/server.fixture.ts"
import { keys } from "./terminal.ts"
import { APPROVAL_PROMPT, calls, provided } from "./terminal-world.ts"

vi.setConfig({ testTimeout: 180_000 })

/** The person's last message, as the provider received it. */
const said = (received: readonly { readonly body: { messages: { role: string; content: unknown }[] } }[]) =>
  received.at(-1)?.body.messages.findLast(({ role }) => role === "user")?.content

test("a message of several lines can be typed by every key that makes one, pasted, and found in the history of another session", async () => {
  await using world = await provided(chatReply("First."), chatReply("Second."), chatReply("Third."))
  {
    await using terminal = world.open()
    await terminal.shows("lists keys and commands")
    terminal.type("one", "\\")
    await terminal.shows("> one\\")
    terminal.type(keys.enter)
    await terminal.shows(/> one\n {2}\n?.*ask first/)
    terminal.type("two", keys.newline)
    await terminal.shows(/> one\n {2}two/)
    // Shift+Enter, as newer terminals send it.
    terminal.type("three", "\x1b[13;2u", "four")
    await terminal.shows("> one\n  two\n  three\n  four")
    terminal.type(keys.enter)
    await terminal.shows("First.")
    expect(said(world.provider.received)).toBe("one\ntwo\nthree\nfour")

    terminal.paste("a\r\nb\n\tc\n")
    await terminal.shows(/> a\n {2}b\n {6}c/)
    expect(world.provider.received, "what is pasted is not sent").toHaveLength(1)
    terminal.type("end", keys.enter)
    await terminal.shows("Second.")
    expect(said(world.provider.received)).toBe("a\nb\n\tc\nend")
    terminal.type(keys.endOfInput)
    expect((await terminal.ended).code).toBe(0)
  }
  await using terminal = world.open(["--continue"])
  await terminal.shows("Second.")
  terminal.type("a draft", keys.up)
  await terminal.shows(/> a\n {2}b\n {6}c\n {2}end\nask first/)
  terminal.type(keys.up, keys.up, keys.up, keys.up)
  await terminal.shows("> one\n  two\n  three\n  four\nask first")
  terminal.type(...Array.from({ length: 8 }, () => keys.down))
  await terminal.shows("> a draft\nask first")
  // Keys delete words and lines as in a shell, and Esc deletes all of it.
  terminal.type("\x17")
  await terminal.shows(/^> a ?\nask first/m)
  terminal.type("\x15b\x01a\x05c")
  await terminal.shows("> abc\nask first")
  terminal.type(keys.escape)
  await terminal.shows(/^> ?\nask first/m)
})

test("an answer can be stopped, forked, requested from another model and agent, and listed", async () => {
  const working = Promise.withResolvers<ServerResponse>()
  await using world = await provided((response) => {
    response.write(sse(chatChunk({ role: "assistant", content: "It begins" })))
    working.resolve(response)
  }, chatReply("Another answer."))
  await using terminal = world.open([], {}, { columns: 120, rows: 40 })
  await terminal.shows("lists keys and commands")
  terminal.type("/help", keys.enter)
  await terminal.shows("anything else")
  for (const command of ["model", "agent", "mode", "conversations", "new", "fork", "undo", "grants", "show", "unqueue"])
    await terminal.shows(new RegExp(`^/${command} `, "m"))
  terminal.type("tell me", keys.enter)
  await terminal.shows("It begins")
  terminal.type("wait for it", keys.altEnter)
  await terminal.shows("queued: wait for it")
  terminal.type("/unqueue", keys.enter)
  await terminal.shows(/> wait for it\n.*Esc stops/)
  terminal.type("\x15", keys.escape)
  await terminal.shows("! Stopped.")
  terminal.type("/fork 1", keys.enter)
  await terminal.shows(/This is a branch[^]*> tell me\n/)
  terminal.type(" more", keys.enter)
  await terminal.shows("Another answer.")
  expect(said(world.provider.received)).toBe("tell me more")
  terminal.type("/conversations", keys.enter)
  await terminal.shows(
    / 1 {2}tell me · \d\d:\d\d · this one · \/.*folder-\w+\n 2 {2}tell me · \d\d:\d\d · \/.*folder-\w+\n[^]*\/conversations N opens one\./,
  )
  terminal.type("/conversations 2", keys.enter)
  await terminal.shows(/── tell me\n\n> tell me\n\nIt begins\n/)
  terminal.type("/mode auto", keys.enter)
  await terminal.shows("automatic · ")
  terminal.type(keys.shiftTab)
  await terminal.shows("read only · ")
  terminal.type("/model nothing", keys.enter)
  await terminal.shows('! There is no model "nothing"')
  terminal.type("/model offline", keys.enter)
  await terminal.shows("read only · offline · files")
  terminal.type("/agent nothing", keys.enter)
  await terminal.shows(/There is no agent "nothing"[^]*\nworkspace +Finds your tasks/)
  terminal.type("/new", keys.enter)
  await terminal.shows("Your next message starts a new conversation.")
  // The folder is deleted during the conversation: the terminal shows an error and continues.
  rmSync(world.cwd, { recursive: true })
  terminal.type("list .", keys.enter)
  await terminal.shows(/✗ List directory/)
  terminal.type("/quit", keys.enter)
  expect((await terminal.ended).code).toBe(0)
})

test("making the window narrower leaves no old lines behind", async () => {
  await using world = await provided(calls("write_file", { path: "milk.txt", content: "Buy milk\n" }))
  // The screen of these tests is xterm.js, as in VS Code.
  await using terminal = world.open([], { TERM_PROGRAM: "vscode", NO_COLOR: "1" }, { columns: 100, rows: 30 })
  await terminal.shows("lists keys and commands")
  terminal.type("I need milk", keys.enter)
  await terminal.shows(APPROVAL_PROMPT)
  for (const columns of [44, 38, 30, 90, 40]) {
    terminal.resize(columns, 30)
    // Only the last line is cut, and shows for which width it was drawn; Ink cut the line drawn for the previous width before.
    await terminal.shows(new RegExp(columns === 90 ? "^[^…]*$" : `^[^…]*\\nask first · .{${columns - 13}}…$`))
    await terminal.settles((screen, all) => {
      expect(all.match(/Adds · write_file/g), `${columns} columns`).toHaveLength(1)
      expect(all.match(/yes \/ no \/ always/g), `${columns} columns`).toHaveLength(1)
      for (const line of screen.split("\n")) expect(line.length).toBeLessThanOrEqual(columns)
    })
  }
})
