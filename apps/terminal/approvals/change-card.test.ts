import { expect, test } from "vitest"
import type { Proposal } from "../../../core/protocol/proposals/proposal.ts"
import { lineText } from "../line.ts"
import { widthOf } from "../wrap.ts"
import { ChangeCard } from "./change-card.ts"

const proposal = (parsed: Record<string, unknown>, more: Partial<Proposal> = {}): Proposal => ({
  ...({ id: "prop_1", callId: "call_1", conversationId: "conv_1", runId: "run_1" } as Pick<
    Proposal,
    "id" | "callId" | "conversationId" | "runId"
  >),
  tool: "write_file",
  action: "destructive_update",
  summary: "Write a file",
  arguments: parsed,
  diff: null,
  undoable: true,
  version: 1,
  hash: "h",
  status: "pending",
  createdAt: "",
  expiresAt: "",
  ...more,
})

const long = proposal({ content: Array.from({ length: 40 }, (_, index) => `row ${index}`).join("\n") })

test("a card counts as read when all its lines have been on the screen", () => {
  const card = new ChangeCard()
  card.set([long])
  expect(card.isRead([long]), "before it was drawn").toBe(false)
  const seen = new Set<string>()
  for (let pages = 0; pages < 20 && !card.isRead([long]); pages++) {
    for (const each of card.draw(60, 10)) seen.add(lineText(each).trim())
    card.move("page-down")
  }
  expect(card.isRead([long])).toBe(true)
  for (let index = 0; index < 40; index++) expect(seen).toContain(`| row ${index}`)
})

test("another change, or the same after an edit, must be read again", () => {
  const card = new ChangeCard()
  const short = proposal({ a: 1 })
  card.set([short])
  card.draw(60, 20)
  expect(card.isRead([short])).toBe(true)
  const edited = { ...short, hash: "other" }
  expect(card.isRead([edited]), "that it has come is known before it is drawn").toBe(false)
  card.set([edited])
  expect(card.isRead([edited])).toBe(false)
  expect(card.isRead([short, proposal({}, { id: "prop_2" as Proposal["id"] })])).toBe(false)
})

test("in another width the lines differ: a card that was not fully read must be read from its beginning", () => {
  const card = new ChangeCard()
  card.set([long])
  card.draw(60, 10)
  for (let pages = 0; pages < 3; pages++) card.move("page-down")
  card.draw(60, 10)
  expect(lineText(card.draw(30, 10)[0] ?? [])).toContain("Overwrites")
})

test("the arguments are shown, except those that the diff already shows", () => {
  const card = new ChangeCard()
  const text = "one\ntwo\n"
  const after = { path: "a.txt", text }
  card.set([
    proposal(
      { path: "..foo\n\x1b[2J", content: text, mode: 493 },
      { diff: { before: { path: "a.txt", text: "one\n" }, after } },
    ),
  ])
  expect(card.draw(60, 30).map(lineText)).toEqual([
    "? Overwrites · write_file",
    "  Write a file",
    "  @@ line 1",
    "   one",
    "  +two",
    "  Exact arguments:",
    "    path: ",
    "    | ..foo",
    "    | ⟨U+001B⟩[2J",
    "    mode: 493",
    "    content: as shown above",
    "  You can undo this later.",
    "  always: yes, and approves the next 10 calls of “Write",
    "  file” in this conversation that change no more than this",
    "  one.",
    "  all: approve everything, then automatic mode. none: reject",
    "  everything, then read-only mode.",
  ])
})

test("a change is on the card once: an argument that the diff shows in full is only named", () => {
  const shown = (one: Proposal) => {
    const card = new ChangeCard()
    card.set([one])
    return card.draw(100, 60).map(lineText).join("\n")
  }
  const file = (text: string) => ({ path: "cart.js", text })
  const rows = Array.from({ length: 30 }, (_, row) => `row ${row}\n`).join("")
  const diff = { before: file(`let a = 1\n${rows}`), after: file(`let a = 10\n${rows}`) }
  const edited = shown(
    proposal({ path: "cart.js", old_text: "a = 1", new_text: "a = 10" }, { tool: "edit_file", diff }),
  )
  expect(edited.match(/a = 10/g)).toHaveLength(1)
  expect(edited).toContain('path: "cart.js"\n    old_text, new_text: as shown above')
  const far = shown(proposal({ path: "cart.js", old_text: "row 20", new_text: "a = 10" }, { tool: "edit_file", diff }))
  expect(far, "it stands in the file, but not on the card").toContain('old_text: "row 20"')
  const crlf = { before: file("one\r\ntwo\r\n"), after: file("one\r\n2\r\nthree\r\n") }
  const lines = shown(proposal({ old_text: "one\ntwo", new_text: "one\n2\nthree" }, { tool: "edit_file", diff: crlf }))
  expect(lines, "a file that ends its lines with CR LF, before and after").toContain(
    "   one\n  -two\n  +2\n  +three\n  You can undo this",
  )
  const task = { title: "Buy milk", done: false }
  const added = shown(proposal({ title: "Buy milk", list: "home" }, { diff: { before: null, after: task } }))
  expect(added.match(/Buy milk/g)).toHaveLength(1)
  expect(added).toContain('list: "home"\n    title: as shown above')
  const command = { tool: "run_command", commandLine: "npm test", summary: "Run in a sandbox: npm test" }
  expect(shown(proposal({ command: "npm test" }, command)).match(/npm test/g)).toHaveLength(1)
  expect(shown(proposal({ command: "npm test", full: true }, command))).toContain(
    "full: true\n    command: as shown above",
  )
})

test("the card says what always covers, what all means, why it asks and what cannot be undone", () => {
  const shown = (more: Partial<Proposal>) => {
    const card = new ChangeCard()
    card.set([proposal({}, { tool: "run_command", undoable: false, ...more })])
    return card.draw(200, 30).map(lineText).join("\n")
  }
  const command = shown({ commandLine: "npm test" })
  expect(command).toContain("always: yes, and approves just this command line, the next 10 times in this conversation.")
  expect(command).toContain("always START *: also commands that start like this.")
  expect(command).toContain("/undo cannot restore what a command changes.")
  expect(command).toContain("all: approve everything, then automatic mode")
  expect(shown({ commandLine: "npm test", insists: true })).not.toContain("always")
  const reason = "Asks because this conversation has read text that others may have written: example.org (fetch_page)"
  expect(shown({ reason })).toContain(reason)
  expect(shown({ reason })).not.toContain("always:")
})

test("a change is wrapped once, and again for another width or after an edit", () => {
  const card = new ChangeCard()
  let reads = 0
  const counted = (text: string, hash: string): Proposal =>
    Object.defineProperty(proposal({}, { hash }), "arguments", { get: () => (reads++, { text }), enumerable: true })
  const shown = (width: number) => card.draw(width, 30).map(lineText).join("\n")
  card.set([counted("first", "h")])
  expect(shown(60)).toContain("first")
  const once = reads
  for (let pictures = 0; pictures < 3; pictures++) {
    card.set([counted("first", "h")]) // like every frame
    expect(shown(60)).toContain("first")
  }
  expect(reads).toBe(once)
  shown(40)
  expect(reads).toBe(2 * once)
  card.set([counted("second", "other")])
  expect(shown(40)).toContain("second")
})

test("without room for the card nothing counts as read", () => {
  const card = new ChangeCard()
  const short = proposal({ a: 1 })
  card.set([short])
  expect(card.draw(60, 1)).toEqual([])
  expect(card.isRead([short])).toBe(false)
  for (let lines = 0; lines < 10; lines++) {
    expect(card.draw(60, 2)).toHaveLength(2)
    card.move("down")
  }
  expect(card.isRead([short])).toBe(true)
})

test.each([20, 33, 80])(
  "no line of the card is wider than %i columns, because a cut end could not be read",
  (width) => {
    const card = new ChangeCard()
    const text = `${"many words ".repeat(20)}\n${"x".repeat(200)}\n${"漢".repeat(50)}`
    const parsed = {
      path: "p".repeat(150),
      text,
      nested: { list: ["word ".repeat(30), 1], deep: { deeper: "y".repeat(99) } },
    }
    const before = { path: "a", text: "z".repeat(120) }
    card.set([
      proposal(parsed, {
        summary: `Write ${"s".repeat(100)}`,
        diff: { before, after: { path: "b".repeat(99), text } },
      }),
      proposal(parsed, { diff: { before: null, after: parsed }, status: "in_doubt", tool: "t".repeat(99) }),
    ])
    for (const each of card.draw(width, 1000))
      expect(widthOf(lineText(each)), lineText(each)).toBeLessThanOrEqual(width)
  },
)

test("a read that sends data out is shown as sending, not as overwriting", () => {
  const card = new ChangeCard()
  card.set([proposal({ query: "wings" }, { tool: "web_search", action: "safe_create", sends: true, undoable: false })])
  const [head = [], ...rest] = card.draw(60, 20)
  expect(lineText(head)).toMatch(/Sends data out · web_search/)
  expect(rest.map(lineText).join("\n")).toContain("This cannot be undone.")
})

test("End and Home go to the end and beginning of a long change, and lines they skip do not count as read", () => {
  const card = new ChangeCard()
  const long = proposal({ text: Array.from({ length: 100 }, (_, index) => `line ${index}`).join("\n") })
  card.set([long])
  const shown = () => card.draw(80, 10).map(lineText)
  shown()
  card.move("end")
  expect(shown().join("\n")).toMatch(/line 99[^]* of \d+ · PgUp: back, Home · not read from line 10/)
  expect(card.isRead([long])).toBe(false)
  card.move("home")
  expect(shown().join("\n")).toMatch(/^\? [^]*lines 1–9 of/)
  for (let pages = 0; pages < 20; pages++) {
    card.move("page-down")
    shown()
  }
  expect(card.isRead([long])).toBe(true)
  expect(shown().at(-1)).not.toContain("not read")
})

test("after End the change is read once PgUp has shown the lines that End skipped", () => {
  const card = new ChangeCard()
  card.set([long])
  card.draw(60, 10)
  expect(card.isUnreadAbove).toBe(false)
  card.move("end")
  card.draw(60, 10)
  expect(card.isUnreadAbove).toBe(true)
  for (let pages = 0; pages < 20 && !card.isRead([long]); pages++) {
    card.move("page-up")
    card.draw(60, 10)
  }
  expect([card.isRead([long]), card.isUnreadAbove, card.unread]).toEqual([true, false, 0])
})
