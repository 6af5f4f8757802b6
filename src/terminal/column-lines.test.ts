import { expect, test } from "vitest"
import { columnLines } from "./column-lines.ts"
import { lineText } from "./line.ts"

const rows = [
  ["Enter", "sends what stands there to whoever is meant"],
  ["Shift+Tab", "goes\x1b round"],
] as const

test("what does not fit goes on in its own column", () => {
  expect(columnLines(rows, 44).map(lineText)).toEqual([
    "Enter      sends what stands there to",
    "           whoever is meant",
    "Shift+Tab  goes⟨U+001B⟩ round",
  ])
})

test("on a narrow screen the second column stands below the first", () => {
  expect(columnLines(rows, 30).map(lineText)).toEqual([
    "Enter",
    "  sends what stands there to",
    "  whoever is meant",
    "Shift+Tab",
    "  goes⟨U+001B⟩ round",
  ])
})
