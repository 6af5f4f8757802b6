import { expect, test } from "vitest"
import { editorOf } from "../input/folding.ts"
import { line, lineText } from "../line.ts"
import { eraseReflowed } from "./show-screen.ts"
import { toFrame } from "./frame.ts"

const framed = (question: string) => ({
  editor: editorOf("yes"),
  question,
  hint: "",
  status: ["working"],
  below: [],
  body: ({ rows }: { rows: number }) => Array.from({ length: rows }, () => []),
})

test("is never as high as the screen, and of a low one what is asked and written stays", () => {
  for (const rows of [2, 3, 4, 5, 6, 24])
    for (const question of ["", "yes / no", "a long question that takes several rows of a narrow window"]) {
      const { lines, cursor } = toFrame(framed(question), { columns: 20, rows })
      expect(lines.length, `${rows} rows`).toBeLessThan(rows)
      expect(lineText(lines[cursor.y] ?? [])).toBe("> yes")
    }
  const low = (rows: number) => toFrame(framed("yes / no"), { columns: 20, rows }).lines.map(lineText)
  expect(low(4)).toEqual(["yes / no", "> yes", "working"])
  expect(low(3)).toEqual(["yes / no", "> yes"])
})

test("of a low window a change that waits has two rows, and what is told in passing is seen", () => {
  const drawn = (rows: number, hint: string) => {
    const body = (room: { rows: number }) => Array.from({ length: room.rows }, (_, at) => line(`change ${at + 1}`))
    return toFrame({ ...framed("yes / no"), hint, body }, { columns: 40, rows }).lines.map(lineText)
  }
  expect(drawn(5, "")).toEqual(["change 1", "change 2", "yes / no", "> yes"])
  expect(drawn(5, "Read it first")).toEqual(["change 1", "change 2", "Read it first", "> yes"])
  expect(drawn(6, "Read it first")).toEqual(["change 1", "change 2", "yes / no", "Read it first", "> yes"])
  expect(drawn(4, "Read it first")).toEqual(["Read it first", "> yes", "working"])
})

test("a terminal that says that it has no columns is let be", () => {
  const written: string[] = []
  const stdout = { columns: 0, write: (text: string) => written.push(text) > 0 }
  eraseReflowed(toFrame(framed(""), { columns: 20, rows: 24 }), stdout as never, "breaks")
  expect(written).toEqual([])
})
