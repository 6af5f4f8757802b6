import { existsSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { chatChunk, chatReply, sse } from "../../core/models/providers/server.fixture.ts"
import { launcher } from "../support/processes/package.ts"
import { keys, TerminalProcess } from "./terminal.ts"
import { APPROVAL_PROMPT, calls, provided } from "./terminal-world.ts"

vi.setConfig({ testTimeout: 180_000 })

const control = (letter: string) => String.fromCharCode(letter.charCodeAt(0) & 0x1f)
const functionKeys = [
  ..."PQRS".split("").flatMap((each) => [`\x1bO${each}`, `\x1b[1;5${each}`, `\x1b[1;3${each}`]),
  ...[2, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34].flatMap((each) => [
    `\x1b[${each}~`,
    `\x1b[${each};2~`,
    `\x1b[${each};5~`,
  ]),
  ...["A", "B", "C", "D", "E"].map((each) => `\x1b[[${each}`),
]
/** Every combination with Ctrl or Alt, and every function key, that has no function. */
const UNBOUND = [
  ...[..."goqrstvxy\\]^_@"].map(control),
  ...[..."acdeghijklmnopqrstuvwxyzACYZ0123456789.,;/- "].map((each) => `\x1b${each}`),
  ...[..."acgoqrstvxyzl"].map((each) => `\x1b${control(each)}`),
  ...["A", "B", "H", "F"].map((each) => `\x1b[1;5${each}`),
  ...["121;5u", "121;3u", "121;9u", "121;7u", "13;5u", "57376u", "57441u"].map((each) => `\x1b[${each}`),
  ...functionKeys,
]

test("keys without a function do nothing, wherever they are pressed", async () => {
  const working = Promise.withResolvers<ServerResponse>()
  await using world = await provided(
    calls("write_file", { path: "milk.txt", content: "Buy milk\n" }),
    chatReply("Then not."),
    (response) => working.resolve(response),
  )
  await using terminal = world.open()
  // Also before the session is open.
  await terminal.shows("opening")
  terminal.type(...UNBOUND)
  await terminal.shows("lists keys and commands")
  const nothingIs = async (written: RegExp) => {
    // One key at a time, and then in one write, as fast typing arrives; the two letters show that all of them have come.
    for (const each of UNBOUND) terminal.type(each)
    terminal.type(UNBOUND.join(""), "ok")
    await terminal.shows(written)
    terminal.type(keys.backspace, keys.backspace)
  }
  await nothingIs(/^> ok\nask first/m)
  terminal.type("I need milk", keys.enter)
  await terminal.shows(APPROVAL_PROMPT)
  await nothingIs(/^> ok\nask first/m)
  terminal.type("edit", keys.enter)
  await terminal.shows("Edit the arguments, then press Enter")
  await nothingIs(/^ {2}}ok\nask first/m)
  terminal.type(keys.escape)
  await terminal.shows(APPROVAL_PROMPT)
  // Ctrl+Y, which other programs use for "redo", is not yes.
  terminal.type(control("y"), keys.enter)
  await terminal.shows("Enter alone decides nothing")
  terminal.type("no", keys.enter)
  await terminal.shows("Then not.")
  expect(existsSync(join(world.cwd, "milk.txt"))).toBe(false)
  terminal.type("work", keys.enter)
  await working.promise
  await terminal.shows("Esc stops")
  await nothingIs(/^> ok\nworking/m)
  terminal.type(keys.escape)
  await terminal.shows("! Stopped.")
  await terminal.settles((_, all) =>
    expect(all.match(/^> .*/gm)?.filter((each) => each.trim() !== ">")).toEqual(["> I need milk", "> work"]),
  )
})

/** An interactive shell, with `pawl chat` as its job. */
function openShell(world: Awaited<ReturnType<typeof provided>>) {
  const environment = { ...world.settings, PS1: "shell: ", NO_COLOR: "1" }
  const start = { cwd: world.cwd, program: "/bin/bash", run: ["--norc", "--noprofile", "--noediting", "-i"] }
  const terminal = new TerminalProcess([], environment, start)
  const begin = async () => {
    await terminal.shows("shell:")
    terminal.type(`'${process.execPath}' '${launcher}' chat --trust\r`)
    await terminal.shows("lists keys and commands")
  }
  return { terminal, begin }
}

test("Ctrl-Z returns the terminal to the shell, also while a reply is written, and fg redraws everything", async () => {
  const working = Promise.withResolvers<ServerResponse>()
  await using world = await provided((response) => {
    response.write(sse(chatChunk({ role: "assistant", content: "It begins" })))
    working.resolve(response)
  })
  const { terminal, begin } = openShell(world)
  await using _terminal = terminal
  await begin()
  terminal.type("some words", control("z"))
  await terminal.shows(/Stopped[^]*shell:\s*$/)
  await terminal.settles((screen) =>
    expect(screen, "nothing of it is left between").not.toMatch(/some words|ask first ·/),
  )
  // The shell's line editing, echo and signals work: the terminal is as it was.
  terminal.type("stty -a | grep -o ' icanon\\| echo \\| isig'; echo $((6*7))\r")
  await terminal.shows(/isig[^]*icanon[^]*echo[^]*42/)
  terminal.type("fg\r")
  await terminal.shows(/> some words\nask first/)
  terminal.type(" more", keys.enter)
  await terminal.shows(/It begins[^]*working/)
  const response = await working.promise
  terminal.type(control("z"))
  await terminal.shows(/Stopped[^]*Stopped[^]*shell:\s*$/)
  response.end(sse(chatChunk({ content: " and it ends." }), chatChunk({}, "stop"), "[DONE]"))
  terminal.type("fg\r")
  await terminal.shows(/It begins and it ends\.\n[^]*> ?\nask first/)
  await terminal.settles((_, all) => expect(all.match(/> some words more/g)).toHaveLength(1))
  terminal.type("kept", control("l"))
  await terminal.shows(/^> kept\nask first/m)
  terminal.type(control("u"), keys.endOfInput)
  await terminal.shows(/chat --continue"\.\nshell:/)
})

test("Ctrl-L removes what other programs have written over it, and loses nothing", async () => {
  await using world = await provided(chatReply("An answer."))
  await using terminal = world.open()
  await terminal.shows("lists keys and commands")
  terminal.type("a question", keys.enter)
  await terminal.shows("An answer.")
  terminal.type("a draft")
  await terminal.shows("> a draft") // drawn later, it would cover the noise
  terminal.scribble("NOISE\r\nNOISE")
  await terminal.shows("NOISE")
  terminal.type(control("l"))
  await terminal.showsNoMore("NOISE")
  await terminal.settles((screen) => {
    expect(screen).toMatch(/> a question\n\nAn answer\.\n\n> a draft\nask first/)
    expect(screen.match(/An answer/g), screen).toHaveLength(1)
  })
})
