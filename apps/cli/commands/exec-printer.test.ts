import { expect, test, vi } from "vitest"
import { newId } from "../../../core/protocol/ids.ts"
import type { Proposed } from "../../../core/protocol/proposals/proposal.ts"
import { textPrinter, jsonPrinter } from "./exec-printer.ts"

const proposed = { id: "prop_1", tool: "pay", summary: "Pay 5" } as Proposed

test.each([
  ["text", textPrinter],
  ["JSON lines", jsonPrinter],
])("as %s, a write in doubt is not reported as unchanged", (_name, open) => {
  const said: string[] = []
  using _stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0)
  open().ask(proposed, true)
  expect(said.join("")).toMatch(/In doubt: Pay 5 \(pay\)/)
  expect(said.join("")).not.toContain("othing was changed")
  said.length = 0
  open().ask(proposed, false)
  expect(said.join("")).toContain("Waiting for your approval: Pay 5 (pay)")
})

test("the reason why a tool failed is one line, for a command with its exit code and last output", () => {
  const said: string[] = []
  using _stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0)
  const printer = textPrinter()
  const at = { callId: newId("call"), messageId: newId("msg"), seq: 1, at: new Date(0).toISOString() }
  const end = (more: object) =>
    printer.show({ type: "tool_end", data: { ...at, name: "t", status: "ok", text: "Fine.", ms: 1, ...more } } as never)
  end({ status: "error", text: "\nThere is no nope.txt.\nSearch for it.\x1b[2J" })
  end({ text: "Exit code 2.\none\ncannot find \u202emain\n[It ran in a sandbox.]", data: { exitCode: 2 } })
  end({ status: "error", text: "x".repeat(1000) })
  end({ text: "Exit code 0.\nfine", data: { exitCode: 0 } })
  expect(said).toEqual([
    "< t: error (1 ms): There is no nope.txt.\n",
    "< t: ok (1 ms): Exit code 2. cannot find ⟨U+202E⟩main\n",
    `< t: error (1 ms): ${"x".repeat(300)}…\n`,
    "< t: ok (1 ms)\n",
  ])
})

test("a fallback model and a compaction are reported next to the answer", () => {
  const said: string[] = []
  using _stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0)
  const printer = textPrinter()
  const at = new Date(0).toISOString()
  const fallback = { from: "a/x", to: "b/y", because: "quota_spent", message: "used up", until: 0, at }
  printer.show({ type: "fallback", data: fallback } as never)
  printer.show({ type: "compaction", data: { what: "due", because: "full", at } } as never)
  printer.show({ type: "compaction", data: { what: "summary", seq: 4, summary: "So far.", at } } as never)
  expect(said).toEqual([
    "(b/y answers instead of a/x, which had no quota left.)\n",
    "(Earlier messages were summarized here for the model. You still see all of them.)\n",
  ])
})

test("a result is printed once, as a table with its shape, and kept with the answer", () => {
  const said: string[] = []
  using _stdout = vi.spyOn(process.stdout, "write").mockImplementation((text) => said.push(String(text)) > 0)
  using _stderr = vi.spyOn(process.stderr, "write").mockImplementation(() => true)
  const printer = textPrinter()
  const at = new Date(0).toISOString()
  const ended = { callId: newId("call"), messageId: newId("msg"), seq: 1, at }
  const rows = [
    ["2025-01", 10],
    ["2025-02", 30],
    ["2025-03", 20],
  ]
  const data = { kind: "table", columns: [{ name: "month" }, { name: "revenue" }], rows, rowCount: 3 }
  printer.show({
    type: "tool_end",
    data: { ...ended, name: "ask_database", status: "ok", text: "", ms: 1, data },
  } as never)
  const message = { id: newId("msg"), seq: 2, role: "assistant", content: "3 rows.", createdAt: at }
  printer.show({ type: "message", data: { message: { ...message, toolCalls: null, toolCallId: null }, at } } as never)
  const printed = said.join("")
  expect(printed.split("2025-02").length - 1).toBe(1)
  expect(printed).toMatch(/month\s+revenue/)
  expect(printed).toMatch(/[⠁-⣿]/)
  expect(printer.answer).toBe(`${printed}3 rows.`)
})

const HOSTILE = "a\x1b[2Jb\u202ec\u200bd\u{e0041}e\u009bf\rg"
const delta = (text: string) => ({ type: "text_delta", data: { text } }) as never

test("on a terminal nothing that hides or steers is left of an answer, of what tools are given, and of questions", () => {
  const said: string[] = []
  const write = (text: string | Uint8Array) => said.push(String(text)) > 0
  using _stdout = vi.spyOn(process.stdout, "write").mockImplementation(write)
  using _stderr = vi.spyOn(process.stderr, "write").mockImplementation(write)
  const { isTTY } = process.stdout
  process.stdout.isTTY = true
  try {
    const printer = textPrinter()
    printer.show(delta(HOSTILE))
    printer.show(delta("A family: 👩\u200d"))
    printer.show(delta("👩\u200d👧."))
    printer.ask({ ...proposed, summary: HOSTILE }, false)
    printer.fail({ code: "x", message: HOSTILE })
  } finally {
    process.stdout.isTTY = isTTY
  }
  const shown = said.join("")
  expect(shown.match(/a⟨U\+001B⟩\[2Jb⟨U\+202E⟩c⟨U\+200B⟩d⟨U\+E0041⟩e⟨U\+009B⟩f⟨U\+000D⟩g/g)).toHaveLength(3)
  expect(shown).toContain("A family: 👩\u200d👩\u200d👧.")
  expect(shown.replaceAll("👩\u200d👩\u200d👧", "")).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
})

test("in a pipe nothing steers the terminal that shows it in the end", () => {
  const said: string[] = []
  using _stdout = vi.spyOn(process.stdout, "write").mockImplementation((text) => said.push(String(text)) > 0)
  const { isTTY } = process.stdout
  process.stdout.isTTY = false
  try {
    const printer = textPrinter()
    for (const text of [`${HOSTILE}\n\tü`, "h\r", "\n", "i\r", "j"]) printer.show(delta(text))
  } finally {
    process.stdout.isTTY = isTTY
  }
  expect(said.join("")).toBe("a⟨U+001B⟩[2Jb⟨U+202E⟩c\u200bd\u{e0041}e⟨U+009B⟩f⟨U+000D⟩g\n\tüh\r\ni⟨U+000D⟩j")
})

test("as JSON lines it is the same to programs, and nothing to terminals", () => {
  const said: string[] = []
  using _stdout = vi.spyOn(process.stdout, "write").mockImplementation((text) => said.push(String(text)) > 0)
  jsonPrinter().show(delta(HOSTILE))
  expect(said.join("").trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(JSON.parse(said.join(""))).toEqual({ type: "text_delta", text: HOSTILE })
})
