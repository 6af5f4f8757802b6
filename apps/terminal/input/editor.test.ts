import { expect, test } from "vitest"
import { deleteLeft, deleteWord, insert, paste, toLeft, toLine, toLineStart, toWordLeft } from "./editor.ts"
import { type Editor, editorOf, emptyEditor, unfoldedText } from "./folding.ts"
import { concat } from "./editor.ts"
import { editorLines } from "./editor-lines.ts"
import { lineText } from "../line.ts"

const seen = ({ text, at }: Editor) => `${text.slice(0, at)}|${text.slice(at)}`
const at = (text: string): Editor => ({ text: text.replace("|", ""), at: text.indexOf("|") })

test("a grapheme moves and deletes as one character", () => {
  expect(seen(deleteLeft(editorOf("a👩‍👩‍👧")))).toBe("a|")
  expect(seen(toLeft(editorOf("e\u0301")))).toBe("|e\u0301")
})

test("up and down keep the column", () => {
  expect(seen(toLine(at("abc\nde|"), -1) as Editor)).toBe("ab|c\nde")
  expect(seen(toLine(at("abc|\nd\nef"), 1) as Editor)).toBe("abc\nd|\nef")
  expect(toLine(at("a|\nb"), -1)).toBeUndefined()
  expect(seen(toLineStart(at("\n|")))).toBe("\n|")
  expect(seen(toLineStart(at("|\nb")))).toBe("|\nb")
})

test("word commands move and delete whole words", () => {
  expect(seen(deleteWord(at("one two  |three")))).toBe("one |three")
  expect(seen(toWordLeft(at("one two|")))).toBe("one |two")
})

test("a long paste is stored whole and folded into one placeholder", () => {
  const long = Array.from({ length: 2341 }, (_, index) => `line ${index}`).join("\n")
  const pasted = insert(paste(insert(emptyEditor, "before "), long), " after")
  expect(unfoldedText(pasted)).toBe(`before ${long} after`)
  const { lines, cursor } = editorLines(pasted, "> ", { columns: 60, rows: 3 })
  expect([lines.map(lineText), cursor.x]).toEqual([["> before [pasted 2,341 lines] after"], 35])
  const wide = paste(emptyEditor, "x".repeat(250_000))
  expect(editorLines(wide, "> ", { columns: 60, rows: 3 }).lines.map(lineText)).toEqual([
    "> [pasted 250,000 characters]",
  ])
  expect(unfoldedText(wide)).toHaveLength(250_000)
  expect(unfoldedText(deleteLeft(paste(editorOf("a"), long)))).toBe("a")
  expect(editorLines(wide, "> ", { columns: 20, rows: 3 }).lines.map(lineText)).toEqual(["> [pasted 250,000 c"])
})

test("typed, pasted or restored text is never read as a folded one", () => {
  const [one, two] = ["one\n".repeat(50), "two\n".repeat(50)]
  const folded = paste(emptyEditor, one)
  // The mark of a folded text itself.
  expect(unfoldedText(insert(folded, folded.text))).toBe(one + folded.text)
  expect(unfoldedText(paste(folded, two))).toBe(one + two)
  expect(unfoldedText(concat(paste(editorOf("a "), one), paste(editorOf("b "), two)))).toBe(`a ${one}\nb ${two}`)
})

test("a short paste is inserted as text", () => {
  expect(seen(paste(editorOf("a"), "b\nc"))).toBe("ab\nc|")
})

test("the cursor is where the next character will be", () => {
  const room = { columns: 10, rows: 5 }
  const draw = (editor: Editor) => {
    const { lines, cursor } = editorLines(editor, "> ", room)
    return [lines.map(lineText), cursor]
  }
  expect(draw(at("abc|"))).toEqual([["> abc"], { x: 5, y: 0 }])
  expect(draw(at("abcdefg|hi"))).toEqual([["> abcdefg", "  hi"], { x: 2, y: 1 }])
  expect(draw(at("a\n|b"))).toEqual([["> a", "  b"], { x: 2, y: 1 }])
  expect(draw(at("漢|\x1b"))).toEqual([["> 漢", "  ⟨U+001B⟩"], { x: 2, y: 1 }])
})

test("a long text shows the rows around the cursor", () => {
  const text = Array.from({ length: 50 }, (_, index) => `line ${index}`).join("\n")
  const { lines, cursor } = editorLines(editorOf(text), "> ", { columns: 40, rows: 3 })
  expect(lines.map(lineText)).toEqual(["  line 47", "  line 48", "  line 49"])
  expect(cursor).toEqual({ x: 9, y: 2 })
})
