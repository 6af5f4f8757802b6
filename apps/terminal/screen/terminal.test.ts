import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, inject, test, vi } from "vitest"
import { unreachable } from "../../../client/client-error.ts"
import type { Client } from "../../../client/client.ts"
import type { ConversationDetail } from "../../../core/protocol/answers.ts"
import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { MAX_BODY_BYTES } from "../../../core/protocol/requests.ts"
import { unfoldedText } from "../input/folding.ts"
import { InputHistory } from "../input/history.ts"
import { lineText } from "../line.ts"
import { TerminalSession } from "../session/terminal-session.ts"
import { Terminal } from "./terminal.ts"

const room = { columns: 60, rows: 20 }

const proposal = (id: string, given: Record<string, unknown> = { path: "a.txt" }) =>
  ({
    id,
    callId: `call_${id}`,
    conversationId: "conv_1",
    tool: "write_file",
    action: "safe_create",
    summary: `Create ${id}`,
    arguments: given,
    diff: null,
    undoable: true,
    hash: id,
    status: "pending",
  }) as unknown as Proposal

const longProposal = (id: string) =>
  proposal(id, { path: "a.txt", content: Array.from({ length: 400 }, (_, row) => `row ${row}`).join("\n") })

/** The requests to the server as text. */
let asked: string[]
let open: Proposal[]
let quits: number
let status: "active" | "running"

const detail = () =>
  ({
    id: "conv_1",
    position: 1,
    agent: "files",
    mode: "confirm",
    status,
    title: "T",
    messages: [],
    proposals: open,
  }) as unknown as ConversationDetail

const client = {
  readConversation: async () => detail(),
  listQueue: async () => ({ items: [] }),
  async *events() {
    await new Promise(() => {})
  },
  async *run(_id: string, text: string, { files }: { files?: readonly string[] } = {}) {
    asked.push(`say ${text}${files ? ` with ${files.join(", ")}` : ""}`)
    yield {}
  },
  uploadFile: async ({ query }: { query: { name: string } }) => {
    asked.push(`upload ${query.name}`)
    return { id: "file_1", name: query.name, size: 6 }
  },
  decideAll: async ({ body }: { body: { decision: string } }) => {
    asked.push(body.decision)
    return { proposals: [] }
  },
  resumeRun: async () => void asked.push("resume"),
  editProposal: async ({ body }: { body: { arguments: object } }) =>
    void asked.push(`edit ${JSON.stringify(body.arguments)}`),
  cancelRun: async () => void asked.push("cancel"),
} as unknown as Client

async function opened(...before: string[]) {
  const terminal = new Terminal({ history: new InputHistory(), size: () => room, quit: () => void quits++ })
  for (const text of before) type(terminal, text)
  const server = {
    client,
    where: "",
    warnings: [],
    reflow: "breaks" as const,
    historyFile: "",
    defaults: {},
    newest: async () => undefined,
    entered() {},
    async close() {},
  }
  const session = new TerminalSession(server, { mode: "confirm" }, () => {})
  await session.enter("conv_1")
  terminal.open(session)
  frameLines(terminal)
  return { terminal, session }
}

function type(terminal: Terminal, text: string): void {
  for (const part of text.split(/(\r)/)) {
    if (part === "\r") terminal.press({ type: "enter" })
    else if (part !== "") terminal.press({ type: "text", text: part })
  }
}

const frameLines = (terminal: Terminal) => terminal.frame(room).lines.map(lineText)

beforeEach(() => {
  asked = []
  open = [proposal("one")]
  quits = 0
  status = "active"
})

afterEach(() => void vi.useRealTimers())

/** All changes appear within one frame. */
async function comesUp(terminal: Terminal, session: TerminalSession, ...waiting: Proposal[]) {
  vi.useFakeTimers()
  open = waiting
  await session.enter("conv_1")
  terminal.changed()
  vi.advanceTimersByTime(50)
  frameLines(terminal)
}

test("yes and no decide what is on the screen, and Enter alone decides nothing", async () => {
  const { terminal } = await opened()
  type(terminal, "\r")
  expect(asked).toEqual([])
  expect(frameLines(terminal)).toContain("Enter alone decides nothing. Type yes or no.")
  type(terminal, "yes\r")
  expect(asked).toEqual(["yes"])
  const { terminal: other } = await opened()
  type(other, "no\r")
  expect(asked).toEqual(["yes", "no"])
})

test("a yes that is too early stays in the line: it counts after the rest was shown, and yes! at once", async () => {
  const { terminal, session } = await opened()
  await comesUp(terminal, session, longProposal("long"))
  type(terminal, "yes\r")
  expect(asked).toEqual([])
  expect(frameLines(terminal).join(" ")).toMatch(
    /\d+ lines not shown yet: PgDn shows them\. yes! approves without reading\./,
  )
  expect(frameLines(terminal)).toContain("> yes")
  for (let pages = 0; pages < 100; pages++) {
    terminal.press({ type: "page-down" })
    frameLines(terminal)
  }
  type(terminal, "\r")
  expect(asked).toEqual(["yes"])

  const { terminal: other, session: second } = await opened()
  await comesUp(other, second, longProposal("longer"))
  type(other, "yes\r")
  expect(frameLines(other)).toContain("> yes")
  other.press({ type: "line-end" })
  expect(frameLines(other).join("\n"), "one key goes to the end, with the answer on the line").toContain("row 399")
  type(other, "\r")
  expect(asked, "what was passed over is still not read").toEqual(["yes"])
  expect(frameLines(other).join(" ")).toMatch(
    /\d+ lines not shown yet: PgUp shows them\. yes! approves without reading\./,
  )
  type(other, "!\r")
  expect(asked).toEqual(["yes", "yes"])

  const { terminal: third, session: upwards } = await opened()
  await comesUp(third, upwards, longProposal("longest"))
  type(third, "yes\r")
  third.press({ type: "line-end" })
  for (let pages = 0; pages < 100; pages++) {
    frameLines(third)
    third.press({ type: "page-up" })
  }
  type(third, "\r")
  expect(asked, "what PgUp shows counts").toEqual(["yes", "yes", "yes"])
})

test("another word replaces an approval that was too early", async () => {
  const { terminal, session } = await opened()
  await comesUp(terminal, session, longProposal("long"))
  type(terminal, "yes\r")
  type(terminal, "no\r")
  expect(asked).toEqual(["no"])
})

test("Esc removes a decision that did not count, and cancels nothing", async () => {
  const { terminal, session } = await opened()
  await comesUp(terminal, session, longProposal("long"))
  type(terminal, "yes\r")
  terminal.press({ type: "escape" })
  expect(frameLines(terminal)).toContain("> ")
  expect(asked).toEqual([])
})

test("a decision that did not count is not sent as a message after the change was decided by another client", async () => {
  const { terminal, session } = await opened()
  await comesUp(terminal, session, longProposal("long"))
  type(terminal, "yes\r")
  await comesUp(terminal, session)
  expect(frameLines(terminal)).toContain("> ")
})

test("a change that has not been drawn cannot be approved", async () => {
  const { terminal, session } = await opened()
  open = [proposal("one"), proposal("two")]
  await session.enter("conv_1") // the change has arrived, but has not been drawn
  type(terminal, "yes\r")
  expect(asked).toEqual([])
  expect(frameLines(terminal).join("\n")).toContain("The change was not on the screen yet")
  expect(frameLines(terminal), "the answer stays").toContain("> yes")
})

test("a window without a row for the card asks for more room", async () => {
  const { terminal, session } = await opened()
  open = [proposal("two")]
  await session.enter("conv_1")
  session.settle(80)
  const low = () => terminal.frame({ columns: 80, rows: 4 }).lines.map(lineText)
  low()
  type(terminal, "yes\r")
  expect(asked).toEqual([])
  expect(low()).toContain("The window is too small to show the change. Make it taller.")
})

test.each([
  ["no", "no\r", proposal("one")],
  ["resume", "\r", { ...proposal("one"), expiresAt: "2020-01-01T00:00:00Z" }],
])("%s is printed once, until the waiting changes here too", async (said, typed, waits) => {
  vi.useFakeTimers()
  open = [waits]
  const { terminal, session } = await opened()
  type(terminal, typed)
  await vi.advanceTimersByTimeAsync(50)
  type(terminal, typed)
  expect(asked).toEqual([said])
  expect(frameLines(terminal).join("\n")).toContain("Your answer is being sent.")
  terminal.press({ type: "interrupt" })
  await comesUp(terminal, session, proposal("two"))
  type(terminal, "no\r")
  expect(asked).toEqual([said, "no"])
})

test("text that was started before a change appeared does not decide it", async () => {
  open = []
  const { terminal, session } = await opened()
  type(terminal, "yes")
  open = [proposal("one")]
  await session.enter("conv_1")
  terminal.open(session)
  frameLines(terminal)
  type(terminal, "\r")
  expect(asked).toEqual(["say yes"])
})

test.each([
  ["another one", "yes", [proposal("one")], [proposal("two")]],
  ["the same, edited", "yes", [proposal("one")], [{ ...proposal("one"), hash: "edited" }]],
  ["one more", "all", [proposal("one")], [proposal("one"), proposal("two")]],
  ["the second in the place of the first", "yes 1", [proposal("one"), proposal("two")], [proposal("two")]],
])("an answer started under one change does not apply to %s", async (_, word, before, after) => {
  open = before
  const { terminal, session } = await opened()
  type(terminal, word.slice(0, 2))
  await comesUp(terminal, session, ...after)
  type(terminal, `${word.slice(2)}\r`)
  expect(asked).toEqual([])
  expect(frameLines(terminal).join("\n")).toContain("Another change is shown now")
  type(terminal, "yes\r")
  expect(asked, "what is begun now is an answer to it").toEqual(["yes"])
})

test("a change that keeps its position can be decided with text that was started before others left", async () => {
  open = [proposal("one"), proposal("two")]
  const { terminal, session } = await opened()
  type(terminal, "yes")
  await comesUp(terminal, session, proposal("one"))
  type(terminal, "\r")
  expect(asked).toEqual(["yes"])
})

test("a message that was typed before the server was open is not sent while a change waits", async () => {
  const { terminal } = await opened("yes\r")
  expect(asked).toEqual([])
  expect(terminal.editor.text).toBe("yes")
  type(terminal, "\r")
  expect(asked, "and is a message when it is sent").toEqual(["say yes"])
})

test("it is sent at once if nothing waits", async () => {
  open = []
  await opened("hello\r", "there\r")
  await expect.poll(() => asked).toEqual(["say hello", "say there"])
})

test("an edit is JSON, and Esc leaves it", async () => {
  const { terminal } = await opened()
  type(terminal, "edit\r")
  expect(terminal.editor.text).toBe('{\n  "path": "a.txt"\n}')
  type(terminal, "!\r")
  expect(frameLines(terminal).join("\n")).toContain("This is not valid JSON")
  terminal.press({ type: "escape" })
  expect([terminal.editor.text, asked]).toEqual(["", []])
  type(terminal, "edit\r")
  terminal.press({ type: "delete-left" })
  type(terminal, ', "mode": 1}\r')
  expect(asked).toEqual(['edit {"path":"a.txt","mode":1}'])
})

test.each([
  ["and has arrived is not begun anew", true, ""],
  ["and has not is written again", false, '{\n  "path": "a.txt"\n}'],
])("an edit that has no answer %s", async (_, hasArrived, written) => {
  const { terminal, session } = await opened()
  const conversation = session.conversation!
  const editProposal = async () => {
    await Promise.resolve()
    if (hasArrived) conversation.transcript = { ...conversation.transcript, items: [] }
    throw unreachable("editProposal", "The line is cut.")
  }
  Object.assign(session.server, { client: { ...client, editProposal } })
  type(terminal, "edit\r\r")
  await new Promise(setImmediate)
  expect(terminal.editor.text).toBe(written)
})

test("a decision that did not arrive is reported, even if another conversation is shown", async () => {
  const { terminal, session } = await opened()
  const cut = Promise.withResolvers<never>()
  Object.assign(session.server, { client: { ...client, decideAll: () => cut.promise } })
  type(terminal, "yes\r")
  open = []
  await session.enter("conv_1")
  cut.reject(unreachable("decideAll", "The line is cut."))
  await new Promise(setImmediate)
  expect(terminal.entries.flatMap(({ lines }) => lines.map(lineText)).join("\n")).toContain("! ")
})

test("a message can have several lines, and the history restores it", async () => {
  open = []
  const { terminal } = await opened()
  type(terminal, "one\\\rtwo")
  terminal.press({ type: "newline" })
  type(terminal, "three\r")
  expect(asked).toEqual(["say one\ntwo\nthree"])
  type(terminal, "draft")
  terminal.press({ type: "up" })
  expect(terminal.editor.text).toBe("one\ntwo\nthree")
  terminal.press({ type: "down" })
  expect(terminal.editor.text).toBe("draft")
})

test("a message that did not arrive returns to the input line with the reason", async () => {
  open = []
  const { terminal, session } = await opened()
  const fails = {
    ...client,
    run: () => {
      throw new Error("The line is cut.")
    },
  } as unknown as Client
  Object.assign(session.server, { client: fails })
  await session.enter("conv_1")
  type(terminal, "hello\r")
  await new Promise(setImmediate)
  expect(terminal.editor.text).toBe("hello")
  expect(terminal.entries.flatMap(({ lines }) => lines.map(lineText)).join("\n")).toContain("! The line is cut.")
})

test("a restored message does not decide a change that has appeared since", async () => {
  open = []
  const { terminal, session } = await opened()
  const cut = Promise.withResolvers<never>()
  const run = async function* () {
    yield await cut.promise
  }
  Object.assign(session.server, { client: { ...client, run } })
  await session.enter("conv_1")
  type(terminal, "yes\r")
  await comesUp(terminal, session, proposal("one"))
  cut.reject(new Error("The line is cut."))
  await vi.advanceTimersByTimeAsync(50)
  expect(terminal.editor.text).toBe("yes")
  frameLines(terminal)
  type(terminal, "\r")
  expect(asked).toEqual([])
})

test("a message over the size limit is not sent and stays; one of exactly the limit is sent", async () => {
  open = []
  const { terminal } = await opened()
  const most = MAX_BODY_BYTES - 1002
  terminal.paste("x".repeat(most + 1))
  type(terminal, "\r")
  expect(asked).toEqual([])
  expect(frameLines(terminal).join("\n")).toMatch(
    /The message is too long by 1 byte[^]*\[pasted 1,047,575 characters\]/,
  )
  expect(unfoldedText(terminal.editor)).toHaveLength(most + 1)
  terminal.press({ type: "escape" })
  terminal.paste("x".repeat(most))
  type(terminal, "\r")
  expect(asked).toEqual([`say ${"x".repeat(most)}`])
})

test("the history restores a draft with a folded paste", async () => {
  open = []
  const { terminal } = await opened()
  type(terminal, "one\r")
  terminal.paste("long\n".repeat(100))
  type(terminal, "and more")
  terminal.press({ type: "up" })
  expect(terminal.editor.text).toBe("one")
  terminal.press({ type: "down" })
  expect(unfoldedText(terminal.editor)).toBe(`${"long\n".repeat(100)}and more`)
  expect(frameLines(terminal)).toContain("> [pasted 101 lines]and more")
})

test("a file is attached if the visible text names it, and not if a long paste does", async () => {
  open = []
  const { terminal, session } = await opened()
  const path = join(mkdtempSync(join(tmpdir(), inject("testRun"), "named-")), "key")
  writeFileSync(path, "secret")
  terminal.paste(`${"words\n".repeat(40)} @${path} `)
  type(terminal, "\r")
  expect(asked).toEqual([expect.stringContaining(`@${path}`)])
  type(terminal, `Look at @${path}\r`)
  await vi.waitFor(() => expect(asked.slice(1)).toEqual(["upload key", `say Look at @${path} with file_1`]))
  const printed = session.scrollback.entries.flatMap(({ lines }) => lines.map(lineText))
  expect(printed.join("\n")).toContain("with key (1 KB)")
})

test("a draft survives the sending of messages that were typed while Pawl opened", async () => {
  open = []
  const { terminal } = await opened("hello\r", "a draft")
  expect([asked, terminal.editor.text]).toEqual([["say hello"], "a draft"])
})

test("Ctrl-C clears the line, and a second one quits", async () => {
  const { terminal } = await opened("some words")
  terminal.press({ type: "interrupt" })
  expect([terminal.editor.text, quits]).toEqual(["", 0])
  terminal.press({ type: "interrupt" })
  expect(quits).toBe(1)
})

test("Ctrl-C during a run cancels it and keeps the text, and a second one quits", async () => {
  open = []
  status = "running"
  const { terminal } = await opened()
  type(terminal, "some words")
  terminal.press({ type: "interrupt" })
  expect([terminal.editor.text, asked, quits]).toEqual(["some words", ["cancel"], 0])
  terminal.press({ type: "interrupt" })
  expect([asked, quits]).toEqual([["cancel"], 1])
})

test("no frame is higher or wider than the screen", async () => {
  open = [proposal("one", { content: "line\n".repeat(200) }), proposal("two")]
  const { terminal } = await opened()
  terminal.paste("pasted\n".repeat(100))
  for (const rows of [5, 8, 24]) {
    const { lines, cursor } = terminal.frame({ columns: 40, rows })
    expect(lines.length).toBeLessThan(rows)
    expect(cursor.y).toBeLessThan(lines.length)
    for (const each of lines) expect(lineText(each).length).toBeLessThanOrEqual(40)
  }
})

test("End and Home scroll a long change if the line is empty, and move the cursor otherwise", async () => {
  open = [proposal("one", { content: "line\n".repeat(200) })]
  const { terminal } = await opened()
  terminal.press({ type: "line-end" })
  expect(frameLines(terminal).join("\n")).toContain("PgUp: back, Home")
  terminal.press({ type: "line-start" })
  expect(frameLines(terminal).join("\n")).toContain("PgDn: more, End")
  type(terminal, "abc")
  terminal.press({ type: "line-start" })
  expect(terminal.editor.at).toBe(0)
})

test("a conversation that is still opening when the person quits does not keep the process alive", async () => {
  const { terminal, session } = await opened()
  const read = Promise.withResolvers<ConversationDetail>()
  const listening: AbortSignal[] = []
  async function* events(_id: string, { signal }: { signal: AbortSignal }) {
    listening.push(signal)
    await new Promise(() => {})
    yield {}
  }
  Object.assign(session.server, { client: { ...client, readConversation: () => read.promise, events } })
  const entered = session.enter("conv_1")
  terminal.close()
  read.resolve(detail())
  await entered
  expect(listening.map(({ aborted }) => aborted)).toEqual([true])
})

test("text typed before a question appeared does not answer it, and is restored afterwards", async () => {
  const terminal = new Terminal({ history: new InputHistory(), size: () => room, quit: () => {} })
  const type = (...texts: string[]) => texts.forEach((text) => terminal.press({ type: "text", text }))
  type("y")
  const answer = terminal.askYesOrNo("Do you trust it?")
  terminal.press({ type: "enter" })
  expect(terminal.hint).toBe("Type y or n, then Enter.")
  expect(terminal.frame(room).lines.map(lineText)).toContain("Do you trust it?")
  type("n")
  terminal.press({ type: "enter" })
  expect([await answer, unfoldedText(terminal.editor)]).toEqual([false, "y"])
})
