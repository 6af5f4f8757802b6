import { expect, test } from "vitest"
import {
  deleteLeft,
  deleteWord,
  type Editor,
  editorOf,
  insert,
  toLeft,
  toLine,
  toLineStart,
  toWordLeft,
} from "./editor.ts"
import { editorLines } from "./editor-lines.ts"
import { textOf } from "./line.ts"

/** The text with | where the cursor is. */
const seen = ({ text, at }: Editor) => `${text.slice(0, at)}|${text.slice(at)}`
const at = (text: string): Editor => ({ text: text.replace("|", ""), at: text.indexOf("|") })

test("what a person sees as one character goes as one", () => {
  expect(seen(deleteLeft(editorOf("a👩‍👩‍👧")))).toBe("a|")
  expect(seen(toLeft(editorOf("e\u0301")))).toBe("|e\u0301")
})

test("lines go up and down as far along as they are", () => {
  expect(seen(toLine(at("abc\nde|"), -1) as Editor)).toBe("ab|c\nde")
  expect(seen(toLine(at("abc|\nd\nef"), 1) as Editor)).toBe("abc\nd|\nef")
  expect(toLine(at("a|\nb"), -1)).toBeUndefined()
  expect(seen(toLineStart(at("\n|")))).toBe("\n|")
  expect(seen(toLineStart(at("|\nb")))).toBe("|\nb")
})

test("words go as words", () => {
  expect(seen(deleteWord(at("one two  |three")))).toBe("one |three")
  expect(seen(toWordLeft(at("one two|")))).toBe("one |two")
})

test("a paste without measure is cut, not refused", () => {
  expect(insert(editorOf("a"), "x".repeat(1_000_000)).text).toHaveLength(100_000)
})

test("the cursor stands where the next character will", () => {
  const room = { columns: 10, rows: 5 }
  const draw = (editor: Editor) => {
    const { lines, cursor } = editorLines(editor, "> ", room)
    return [lines.map(textOf), cursor]
  }
  expect(draw(at("abc|"))).toEqual([["> abc"], { x: 5, y: 0 }])
  expect(draw(at("abcdefg|hi"))).toEqual([["> abcdefg", "  hi"], { x: 2, y: 1 }])
  expect(draw(at("a\n|b"))).toEqual([["> a", "  b"], { x: 2, y: 1 }])
  expect(draw(at("漢|\x1b"))).toEqual([["> 漢", "  ⟨U+001B⟩"], { x: 2, y: 1 }])
})

test("of a long text what is around the cursor is shown", () => {
  const text = Array.from({ length: 50 }, (_, index) => `line ${index}`).join("\n")
  const { lines, cursor } = editorLines(editorOf(text), "> ", { columns: 40, rows: 3 })
  expect(lines.map(textOf)).toEqual(["  line 47", "  line 48", "  line 49"])
  expect(cursor).toEqual({ x: 9, y: 2 })
})
