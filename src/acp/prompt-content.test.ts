import { expect, test } from "vitest"
import { toPromptContent } from "./prompt-content.ts"

const embedded = (text: string) =>
  toPromptContent([{ type: "resource", resource: { uri: "file:///home/ada/notes.md", text } }], "/home/ada").text

test("an embedded file stands behind the words, in a fence that it does not hold", () => {
  expect(embedded("a\n```ts\nb\n````\n")).toBe("notes.md\n\nnotes.md:\n`````\na\n```ts\nb\n````\n`````")
})

test("however many backticks stand in it", () => {
  expect(embedded("`a` ".repeat(300_000))).toMatch(/\n```$/)
})
