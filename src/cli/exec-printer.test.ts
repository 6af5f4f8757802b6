import { expect, test, vi } from "vitest"
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
