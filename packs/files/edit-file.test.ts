import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { dataFolder } from "../../test/support/processes/pawl-process.ts"
import type { CallContext, Tool } from "../../core/pack.ts"
import { filesTools } from "./agent.ts"
import { UndoFolder } from "./folder/undo-bytes.ts"
import { openFolder } from "./folder/local-folder.ts"
import { noSandbox } from "./sandbox/sandbox.ts"

async function edited(text: string, old_text: string, new_text: string, all = false): Promise<string> {
  const root = dataFolder()
  writeFileSync(join(root, "a.txt"), text)
  using folder = openFolder(root)
  const tools = filesTools({ folder, undoBytes: new UndoFolder(dataFolder()), sandbox: noSandbox, environment: {} })
  const { preview, run } = tools.find(({ name }) => name === "edit_file") as Extract<Tool, { effect: "write" }>
  const context = { site: "server", signal: new AbortController().signal, state: {} } as unknown as CallContext
  const input = { path: "a.txt", old_text, new_text, ...(all ? { all } : {}) }
  await run(input, { ...context, approved: await preview!(input, context) })
  return readFileSync(join(root, "a.txt"), "utf8")
}

test.each([
  ["lines that end with CR LF", "one\r\ntwo\r\nthree\r\n", "one\ntwo", "1\n2\n2.5", "1\r\n2\r\n2.5\r\nthree\r\n"],
  ["a line that is added", "one\r\ntwo\r\n", "two", "two\nthree", "one\r\ntwo\r\nthree\r\n"],
  ["old text with CR LF", "one\r\ntwo\r\n", "one\r\ntwo", "1\r\n2", "1\r\n2\r\n"],
  ["old text with CR LF where the file has none", "one\ntwo\n", "one\r\ntwo", "1\r\n2", "1\n2\n"],
  ["mixed endings, outside the edit", "one\ntwo\r\nthree\r\nfour\n", "two\nthree", "2\n3", "one\n2\r\n3\r\nfour\n"],
  ["mixed endings, of the lines that are replaced", "one\ntwo\nthree\r\n", "one\ntwo", "1\n2", "1\n2\nthree\r\n"],
  ["LF alone, as it was", "one\ntwo\n", "one\ntwo", "1\n2\r", "1\n2\r\n"],
])("edits across %s", async (_what, ...[before, old_text, new_text, after]) => {
  expect(await edited(before, old_text, new_text)).toBe(after)
})

test("each of several places keeps its own line endings", async () => {
  const before = "a\r\nb\r\n-\na\nb\n"
  expect(await edited(before, "a\nb", "x\ny", true)).toBe("x\r\ny\r\n-\nx\ny\n")
})

test("two copies of a text that differ in line endings need a longer text to be distinguished", async () => {
  await expect(edited("a\r\nb\r\na\nb\n", "a\nb", "x")).rejects.toThrow("holds that text 2 times")
})

test("the same text with other line endings changes nothing", async () => {
  await expect(edited("a\r\nb\r\n", "a\nb", "a\r\nb")).rejects.toThrow("Nothing would change")
})
