import { expect, test, vi } from "vitest"
import { newId } from "../protocol/ids.ts"
import type { Proposed } from "../protocol/proposal.ts"
import { textPrinter, jsonPrinter } from "./exec-printer.ts"

const proposed = { id: "prop_1", tool: "pay", summary: "Pay 5" } as Proposed

test.each([
  ["text", textPrinter],
  ["JSON lines", jsonPrinter],
])("as %s, a write that nobody can tell about is not said to have changed nothing", (_name, open) => {
  const said: string[] = []
  using _stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0)
  open().ask(proposed, true)
  expect(said.join("")).toMatch(/pay .*(in doubt|nobody can tell).*Pay 5/)
  expect(said.join("")).not.toContain("nothing was changed")
  said.length = 0
  open().ask(proposed, false)
  expect(said.join("")).toContain("pay needs your confirmation: Pay 5")
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
