import fc from "fast-check"
import { expect, test } from "vitest"
import { splitBlocks as split } from "./split-blocks.ts"

const splitBlocks = (text: string) => split(text).map((block) => block.text)

test.each<[what: string, text: string, blocks: string[]]>([
  ["paragraphs", "a\n\nb\n\nc", ["a\n\n", "b\n\n", "c"]],
  ["code with empty lines", "a\n\n```ts\nx\n\ny\n```\n\nb", ["a\n\n", "```ts\nx\n\ny\n```\n\n", "b"]],
  ["code that is still open", "a\n\n```\nx\n\ny", ["a\n\n", "```\nx\n\ny"]],
  ["a list whose items stand apart", "- a\n\n- b\n\n  more of b\n\nc", ["- a\n\n- b\n\n  more of b\n\n", "c"]],
  ["a list after text", "a\n\n1. b\n\n2. c", ["a\n\n", "1. b\n\n2. c"]],
  ["a fence within a longer one", "````\n```\n\nx\n````\n\nb", ["````\n```\n\nx\n````\n\n", "b"]],
  ["footnotes, which hang together", "a[^1]\n\n[^1]: b", ["a[^1]\n\n[^1]: b"]],
])("%s", (_what, text, blocks) => {
  expect(splitBlocks(text)).toEqual(blocks)
})

test("what a link refers to is known in every block that has one", () => {
  expect(splitBlocks("[a][x]\n\nb\n\n[x]: https://example.org")).toEqual([
    "[a][x]\n\n\n\n[x]: https://example.org",
    "b\n\n",
    "[x]: https://example.org\n\n[x]: https://example.org",
  ])
})

test("however a text grows, nothing is lost, and blocks that are done stay as they are", () => {
  const piece = fc.constantFrom("a", "\n", "\n\n", "```\n", "- ", "  ", "# ", "|", "1. ", "~~~\n", "> ")
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join("")
      const blocks = splitBlocks(text)
      expect(blocks.join("")).toBe(text)
      for (const { start, text: block } of split(text)) expect(text.slice(start, start + block.length)).toBe(block)
      const longer = splitBlocks(`${text}x`)
      expect(longer.slice(0, blocks.length - 1)).toEqual(blocks.slice(0, -1))
    }),
  )
})
