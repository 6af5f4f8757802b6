import { BOLD, DIM, type Line, line, type Span, span } from "../line.ts"
import { printable } from "../printable.ts"
import { clip, fit, widthOf } from "../wrap.ts"
import { chatText } from "../../strings/chat.ts"

export interface DrawnTable {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

const GAP = "  "
const NARROW = 4
const MAX_ROWS = 50

/** A table that fits the width: the widest columns are narrowed first. */
export function tableLines({ columns, rows }: DrawnTable, width: number): Line[] {
  const shown = rows.slice(0, MAX_ROWS)
  const head = columns.map((column) => printable(column))
  const cells = shown.map((row) => head.map((_, index) => printable(cellText(row[index]))))
  const isNumber = head.map((_, index) => shown.length > 0 && shown.every((row) => isNumeric(row[index])))
  const widths = fitWidths(
    head.map((name, index) => Math.max(widthOf(name), ...cells.map((row) => widthOf(row[index] ?? "")), 1)),
    width - GAP.length * (head.length - 1),
  )
  const draw = (row: readonly string[], style?: Span["style"]): Line =>
    clip(
      row.flatMap((cell, index) => {
        const text = pad(cell, widths[index] ?? 1, isNumber[index] ?? false)
        return index === 0 ? [span(text, style)] : [span(GAP), span(text, style)]
      }),
      width,
    )
  const rule = line(
    widths
      .map((each) => "─".repeat(each))
      .join(GAP)
      .slice(0, width),
    DIM,
  )
  const more = rows.length > MAX_ROWS ? [line(chatText.moreRows(rows.length - MAX_ROWS), DIM)] : []
  return [draw(head, BOLD), rule, ...cells.map((row) => draw(row)), ...more]
}

function fitWidths(wanted: readonly number[], room: number): number[] {
  // Limit each column first: narrowing a cell of a megabyte step by step would take seconds.
  const widths = wanted.map((each) => Math.min(each, Math.max(NARROW, room)))
  let over = widths.reduce((sum, each) => sum + each, 0) - room
  while (over > 0) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] ?? 0) <= NARROW) break
    widths[widest] = (widths[widest] ?? 0) - 1
    over--
  }
  return widths
}

function pad(cell: string, width: number, right: boolean): string {
  const cutOff = widthOf(cell) > width ? `${fit(cell, width - 1).head}…` : cell
  const space = " ".repeat(Math.max(0, width - widthOf(cutOff)))
  return right ? space + cutOff : cutOff + space
}

const isNumeric = (value: unknown): boolean =>
  typeof value === "number" || (typeof value === "string" && /^-?[\d,]*(?:\d|\.\d+)%?$/.test(value))

function cellText(value: unknown): string {
  if (value === null || value === undefined) return ""
  return typeof value === "string" ? value : JSON.stringify(value)
}
