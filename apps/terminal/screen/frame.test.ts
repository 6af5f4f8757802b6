import { expect, test } from "vitest"
import { editorOf } from "../input/folding.ts"
import { line, lineText } from "../line.ts"
import { eraseReflowed } from "./show-screen.ts"
import { layoutFrame } from "./frame.ts"

const framed = (question: string) => ({
  editor: editorOf("yes"),
  question,
  hint: "",
  status: ["working"],
  below: [],
  body: ({ rows }: { rows: number }) => Array.from({ length: rows }, () => []),
})

test("is never as high as the screen, and in a low window keeps question and input", () => {
  for (const rows of [2, 3, 4, 5, 6, 24])
    for (const question of ["", "yes / no", "a long question that takes several rows of a narrow window"]) {
      const { lines, cursor } = layoutFrame(framed(question), { columns: 20, rows })
      expect(lines.length, `${rows} rows`).toBeLessThan(rows)
      expect(lineText(lines[cursor.y] ?? [])).toBe("> yes")
    }
  const low = (rows: number) => layoutFrame(framed("yes / no"), { columns: 20, rows }).lines.map(lineText)
  expect(low(4)).toEqual(["yes / no", "> yes", "working"])
  expect(low(3)).toEqual(["yes / no", "> yes"])
})

test("in a low window a waiting change has two rows, and a hint is visible", () => {
  const drawn = (rows: number, hint: string) => {
    const body = (room: { rows: number }) => Array.from({ length: room.rows }, (_, at) => line(`change ${at + 1}`))
    return layoutFrame({ ...framed("yes / no"), hint, body }, { columns: 40, rows }).lines.map(lineText)
  }
  expect(drawn(5, "")).toEqual(["change 1", "change 2", "yes / no", "> yes"])
  expect(drawn(5, "Read it first")).toEqual(["change 1", "change 2", "Read it first", "> yes"])
  expect(drawn(6, "Read it first")).toEqual(["change 1", "change 2", "yes / no", "Read it first", "> yes"])
  expect(drawn(4, "Read it first")).toEqual(["Read it first", "> yes", "working"])
})

test("a terminal that reports zero columns is left alone", () => {
  const written: string[] = []
  const stdout = { columns: 0, write: (text: string) => written.push(text) > 0 }
  eraseReflowed(layoutFrame(framed(""), { columns: 20, rows: 24 }), stdout as never, "breaks")
  expect(written).toEqual([])
})
