import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { InputHistory } from "./history.ts"

const file = () => join(mkdtempSync(join(tmpdir(), inject("testRun"), "history-")), "inner", "chat-history")
const opened = (path: string) => {
  const history = new InputHistory()
  history.open(path)
  return history
}

test("inputs are restored after a restart, newest first, and the draft at the end", () => {
  const path = file()
  const first = opened(path)
  first.add("one")
  first.add("two\nlines")
  const second = opened(path)
  expect(second.go(1, "draft")).toBeUndefined()
  expect([second.go(-1, "draft"), second.go(-1, ""), second.go(-1, "")]).toEqual(["two\nlines", "one", undefined])
  expect([second.go(1, ""), second.go(1, ""), second.go(1, "")]).toEqual(["two\nlines", "draft", undefined])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test("two terminals keep each other's inputs, within the limit", () => {
  const path = file()
  const [one, two] = [opened(path), opened(path)]
  one.add("from one")
  two.add("from two")
  expect(readFileSync(path, "utf8")).toBe('"from one"\n"from two"\n')
  writeFileSync(path, Array.from({ length: 600 }, (_, index) => `"line ${index}"\n`).join(""))
  two.add("one more")
  two.add("x".repeat(20_000))
  two.add("   ")
  expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(500)
})

test("a torn file does not prevent the start", () => {
  const path = file()
  opened(path).add("kept")
  writeFileSync(path, `${readFileSync(path, "utf8")}"torn\n{"a":1}\n`)
  expect(opened(path).go(-1, "")).toBe("kept")
})
