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
import { Talk } from "../talk/talk.ts"
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

/** What was asked of the server, as words. */
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
  const reached = {
    client,
    where: "",
    warnings: [],
    reflow: "breaks" as const,
    historyFile: "",
    begins: {},
    newest: async () => undefined,
    entered() {},
    async close() {},
  }
  const talk = new Talk(reached, { mode: "confirm" }, () => {})
  await talk.enter("conv_1")
  terminal.open(talk)
  look(terminal)
  return { terminal, talk }
}

function type(terminal: Terminal, text: string): void {
  for (const part of text.split(/(\r)/)) {
    if (part === "\r") terminal.press({ type: "enter" })
    else if (part !== "") terminal.press({ type: "text", text: part })
  }
}

const look = (terminal: Terminal) => terminal.frame(room).lines.map(lineText)

beforeEach(() => {
  asked = []
  open = [proposal("one")]
  quits = 0
  status = "active"
})

afterEach(() => void vi.useRealTimers())

/** All of this comes up within one picture, which is then drawn. */
async function comesUp(terminal: Terminal, talk: Talk, ...waiting: Proposal[]) {
  vi.useFakeTimers()
  open = waiting
  await talk.enter("conv_1")
  terminal.changed()
  vi.advanceTimersByTime(50)
  look(terminal)
}

test("yes and no are answers to what is on the screen, and Enter alone decides nothing", async () => {
  const { terminal } = await opened()
  type(terminal, "\r")
  expect(asked).toEqual([])
  expect(look(terminal)).toContain("Enter alone decides nothing. Type yes or no.")
  type(terminal, "yes\r")
  expect(asked).toEqual(["yes"])
  const { terminal: other } = await opened()
  type(other, "no\r")
  expect(asked).toEqual(["yes", "no"])
})

test("a yes that comes too soon stays on the line: it counts after the rest was shown, and yes! at once", async () => {
  const { terminal, talk } = await opened()
  await comesUp(terminal, talk, longProposal("long"))
  type(terminal, "yes\r")
  expect(asked).toEqual([])
  expect(look(terminal).join(" ")).toMatch(
    /\d+ lines not shown yet: PgDn shows them, End skips them\. yes! approves without reading\./,
  )
  expect(look(terminal)).toContain("> yes")
  for (let pages = 0; pages < 100; pages++) {
    terminal.press({ type: "page-down" })
    look(terminal)
  }
  type(terminal, "\r")
  expect(asked).toEqual(["yes"])

  const { terminal: other, talk: second } = await opened()
  await comesUp(other, second, longProposal("longer"))
  type(other, "yes\r")
  expect(look(other)).toContain("> yes")
  other.press({ type: "line-end" })
  expect(look(other).join("\n"), "one key goes to the end, with the answer on the line").toContain("row 399")
  type(other, "\r")
  expect(asked, "what was passed over is still not read").toEqual(["yes"])
  expect(look(other).join(" ")).toMatch(/\d+ lines not shown yet: PgUp shows them\. yes! approves without reading\./)
  type(other, "!\r")
  expect(asked).toEqual(["yes", "yes"])

  const { terminal: third, talk: upwards } = await opened()
  await comesUp(third, upwards, longProposal("longest"))
  type(third, "yes\r")
  third.press({ type: "line-end" })
  for (let pages = 0; pages < 100; pages++) {
    look(third)
    third.press({ type: "page-up" })
  }
  type(third, "\r")
  expect(asked, "what PgUp shows counts").toEqual(["yes", "yes", "yes"])
})

test("another word takes the place of an answer that came too soon", async () => {
  const { terminal, talk } = await opened()
  await comesUp(terminal, talk, longProposal("long"))
  type(terminal, "yes\r")
  type(terminal, "no\r")
  expect(asked).toEqual(["no"])
})

test("Esc takes an answer off the line that did not count, and stops nothing", async () => {
  const { terminal, talk } = await opened()
  await comesUp(terminal, talk, longProposal("long"))
  type(terminal, "yes\r")
  terminal.press({ type: "escape" })
  expect(look(terminal)).toContain("> ")
  expect(asked).toEqual([])
})

test("an answer that did not count is no message once the change was decided elsewhere", async () => {
  const { terminal, talk } = await opened()
  await comesUp(terminal, talk, longProposal("long"))
  type(terminal, "yes\r")
  await comesUp(terminal, talk)
  expect(look(terminal)).toContain("> ")
})

test("what waits but was not drawn yet cannot be agreed to", async () => {
  const { terminal, talk } = await opened()
  open = [proposal("one"), proposal("two")]
  await talk.enter("conv_1") // it has come, and nothing was drawn since
  type(terminal, "yes\r")
  expect(asked).toEqual([])
  expect(look(terminal).join("\n")).toContain("The change was not on the screen yet")
  expect(look(terminal), "the answer stays").toContain("> yes")
})

test("in a window without a row for it nobody is told to read it, but to make room", async () => {
  const { terminal, talk } = await opened()
  open = [proposal("two")]
  await talk.enter("conv_1")
  talk.settle(80)
  const low = () => terminal.frame({ columns: 80, rows: 4 }).lines.map(lineText)
  low()
  type(terminal, "yes\r")
  expect(asked).toEqual([])
  expect(low()).toContain("The window is too small to show the change. Make it taller.")
})

test.each([
  ["no", "no\r", proposal("one")],
  ["resume", "\r", { ...proposal("one"), expiresAt: "2020-01-01T00:00:00Z" }],
])("%s is said once, until what waits has changed here too", async (said, typed, waits) => {
  vi.useFakeTimers()
  open = [waits]
  const { terminal, talk } = await opened()
  type(terminal, typed)
  await vi.advanceTimersByTimeAsync(50) // it is answered
  type(terminal, typed)
  expect(asked).toEqual([said])
  expect(look(terminal).join("\n")).toContain("Your answer is being sent.")
  terminal.press({ type: "interrupt" })
  await comesUp(terminal, talk, proposal("two"))
  type(terminal, "no\r")
  expect(asked).toEqual([said, "no"])
})

test("words that were begun before a change came up are no answer to it", async () => {
  open = []
  const { terminal, talk } = await opened()
  type(terminal, "yes")
  open = [proposal("one")]
  await talk.enter("conv_1")
  terminal.open(talk)
  look(terminal)
  type(terminal, "\r")
  expect(asked).toEqual(["say yes"])
})

test.each([
  ["another one", "yes", [proposal("one")], [proposal("two")]],
  ["the same, edited", "yes", [proposal("one")], [{ ...proposal("one"), hash: "edited" }]],
  ["one more", "all", [proposal("one")], [proposal("one"), proposal("two")]],
  ["the second in the place of the first", "yes 1", [proposal("one"), proposal("two")], [proposal("two")]],
])("an answer that was begun under one change is none to %s", async (_, word, before, after) => {
  open = before
  const { terminal, talk } = await opened()
  type(terminal, word.slice(0, 2))
  await comesUp(terminal, talk, ...after)
  type(terminal, `${word.slice(2)}\r`)
  expect(asked).toEqual([])
  expect(look(terminal).join("\n")).toContain("Another change is shown now")
  type(terminal, "yes\r")
  expect(asked, "what is begun now is an answer to it").toEqual(["yes"])
})

test("what stays in its place while others go can still be answered with the words that were begun", async () => {
  open = [proposal("one"), proposal("two")]
  const { terminal, talk } = await opened()
  type(terminal, "yes")
  await comesUp(terminal, talk, proposal("one"))
  type(terminal, "\r")
  expect(asked).toEqual(["yes"])
})

test("what was said before anything was open is not sent past a change that waits", async () => {
  const { terminal } = await opened("yes\r")
  expect(asked).toEqual([])
  expect(terminal.editor.text).toBe("yes")
  type(terminal, "\r")
  expect(asked, "and is a message when it is sent").toEqual(["say yes"])
})

test("and is said at once where nothing waits", async () => {
  open = []
  await opened("hello\r", "there\r")
  await expect.poll(() => asked).toEqual(["say hello", "say there"])
})

test("an edit is JSON, and Esc leaves it", async () => {
  const { terminal } = await opened()
  type(terminal, "edit\r")
  expect(terminal.editor.text).toBe('{\n  "path": "a.txt"\n}')
  type(terminal, "!\r")
  expect(look(terminal).join("\n")).toContain("This is not valid JSON")
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
  const { terminal, talk } = await opened()
  const conversation = talk.conversation!
  const editProposal = async () => {
    await Promise.resolve()
    if (hasArrived) conversation.transcript = { ...conversation.transcript, items: [] }
    throw unreachable("editProposal", "The line is cut.")
  }
  Object.assign(talk.reached, { client: { ...client, editProposal } })
  type(terminal, "edit\r\r")
  await new Promise(setImmediate)
  expect(terminal.editor.text).toBe(written)
})

test("a decision that did not arrive is told, also to whoever looks at another conversation by then", async () => {
  const { terminal, talk } = await opened()
  const cut = Promise.withResolvers<never>()
  Object.assign(talk.reached, { client: { ...client, decideAll: () => cut.promise } })
  type(terminal, "yes\r")
  open = []
  await talk.enter("conv_1")
  cut.reject(unreachable("decideAll", "The line is cut."))
  await new Promise(setImmediate)
  expect(terminal.entries.flatMap(({ lines }) => lines.map(lineText)).join("\n")).toContain("! ")
})

test("a message has as many lines as it is given, and comes back when it is looked for", async () => {
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

test("words that did not arrive are back in the editor, and why is said", async () => {
  open = []
  const { terminal, talk } = await opened()
  const fails = {
    ...client,
    run: () => {
      throw new Error("The line is cut.")
    },
  } as unknown as Client
  Object.assign(talk.reached, { client: fails })
  await talk.enter("conv_1")
  type(terminal, "hello\r")
  await new Promise(setImmediate)
  expect(terminal.editor.text).toBe("hello")
  expect(terminal.entries.flatMap(({ lines }) => lines.map(lineText)).join("\n")).toContain("! The line is cut.")
})

test("words that come back are no answer to what has come up meanwhile", async () => {
  open = []
  const { terminal, talk } = await opened()
  const cut = Promise.withResolvers<never>()
  const run = async function* () {
    yield await cut.promise
  }
  Object.assign(talk.reached, { client: { ...client, run } })
  await talk.enter("conv_1")
  type(terminal, "yes\r")
  await comesUp(terminal, talk, proposal("one"))
  cut.reject(new Error("The line is cut."))
  await vi.advanceTimersByTimeAsync(50)
  expect(terminal.editor.text).toBe("yes")
  look(terminal)
  type(terminal, "\r")
  expect(asked).toEqual([])
})

test("what is longer than the server takes is not sent, and stays; a character less is", async () => {
  open = []
  const { terminal } = await opened()
  const most = MAX_BODY_BYTES - 1002
  terminal.paste("x".repeat(most + 1))
  type(terminal, "\r")
  expect(asked).toEqual([])
  expect(look(terminal).join("\n")).toMatch(/The message is too long by 1 byte[^]*\[pasted 1,047,575 characters\]/)
  expect(unfoldedText(terminal.editor)).toHaveLength(most + 1)
  terminal.press({ type: "escape" })
  terminal.paste("x".repeat(most))
  type(terminal, "\r")
  expect(asked).toEqual([`say ${"x".repeat(most)}`])
})

test("a draft with a paste in it comes back from what was written before", async () => {
  open = []
  const { terminal } = await opened()
  type(terminal, "one\r")
  terminal.paste("long\n".repeat(100))
  type(terminal, "and more")
  terminal.press({ type: "up" })
  expect(terminal.editor.text).toBe("one")
  terminal.press({ type: "down" })
  expect(unfoldedText(terminal.editor)).toBe(`${"long\n".repeat(100)}and more`)
  expect(look(terminal)).toContain("> [pasted 101 lines]and more")
})

test("a file goes along where it is named on the screen, which says so, and not where a long paste names it", async () => {
  open = []
  const { terminal, talk } = await opened()
  const path = join(mkdtempSync(join(tmpdir(), inject("testRun"), "named-")), "key")
  writeFileSync(path, "secret")
  terminal.paste(`${"words\n".repeat(40)} @${path} `)
  type(terminal, "\r")
  expect(asked).toEqual([expect.stringContaining(`@${path}`)])
  type(terminal, `Look at @${path}\r`)
  await vi.waitFor(() => expect(asked.slice(1)).toEqual(["upload key", `say Look at @${path} with file_1`]))
  const printed = talk.scrollback.entries.flatMap(({ lines }) => lines.map(lineText))
  expect(printed.join("\n")).toContain("with key (1 KB)")
})

test("words that are written while Pawl opens stay when earlier ones are sent", async () => {
  open = []
  const { terminal } = await opened("hello\r", "a draft")
  expect([asked, terminal.editor.text]).toEqual([["say hello"], "a draft"])
})

test("Ctrl-C takes the words away, and the second one quits", async () => {
  const { terminal } = await opened("some words")
  terminal.press({ type: "interrupt" })
  expect([terminal.editor.text, quits]).toEqual(["", 0])
  terminal.press({ type: "interrupt" })
  expect(quits).toBe(1)
})

test("Ctrl-C while it works stops the run and leaves the words, and the second one quits", async () => {
  open = []
  status = "running"
  const { terminal } = await opened()
  type(terminal, "some words")
  terminal.press({ type: "interrupt" })
  expect([terminal.editor.text, asked, quits]).toEqual(["some words", ["cancel"], 0])
  terminal.press({ type: "interrupt" })
  expect([asked, quits]).toEqual([["cancel"], 1])
})

test("nothing that is drawn is higher than the screen or wider than it", async () => {
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

test("End and Home read a long change where nothing is written, and move on the line where something is", async () => {
  open = [proposal("one", { content: "line\n".repeat(200) })]
  const { terminal } = await opened()
  terminal.press({ type: "line-end" })
  expect(look(terminal).join("\n")).toContain("PgUp: back, Home")
  terminal.press({ type: "line-start" })
  expect(look(terminal).join("\n")).toContain("PgDn: more, End")
  type(terminal, "abc")
  terminal.press({ type: "line-start" })
  expect(terminal.editor.at).toBe(0)
})

test("a conversation that is being opened while its person leaves is not listened to: it would keep the process", async () => {
  const { terminal, talk } = await opened()
  const read = Promise.withResolvers<ConversationDetail>()
  const listening: AbortSignal[] = []
  async function* events(_id: string, { signal }: { signal: AbortSignal }) {
    listening.push(signal)
    await new Promise(() => {})
    yield {}
  }
  Object.assign(talk.reached, { client: { ...client, readConversation: () => read.promise, events } })
  const entered = talk.enter("conv_1")
  terminal.close()
  read.resolve(detail())
  await entered
  expect(listening.map(({ aborted }) => aborted)).toEqual([true])
})

test("what was typed before a question appeared is no answer to it, and is there again afterwards", async () => {
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
