import { type ChartPoints, chartPoints, type Point } from "./chart-points.ts"
import { BOLD, DIM, type Line, line, type Span, span, type Style } from "../line.ts"
import { printable } from "../printable.ts"
import { tableLines } from "./table-lines.ts"
import { clip, fit, widthOf } from "../wrap.ts"
import { chatText } from "../../strings/chat.ts"

const MAX_BARS = 40
const HEIGHT = 10
const COLOURS = ["cyan", "yellow", "magenta", "green", "blue", "red"] as const

type Fields = Readonly<Record<string, unknown>>

/** Draws bars, lines, areas and points in characters. A chart that is more complex is shown as its rows. */
export function chartLines(spec: Fields, width: number): Line[] {
  const chart = chartPoints(spec)
  if (!chart || width < 20) return rowsOf(spec, width)
  const title = chart.title === "" ? [] : [clip(line(printable(chart.title), BOLD), width)]
  const colours = coloursOf(chart.points)
  const drawn = chart.mark === "bars" ? bars(chart.points, width, colours) : plot(chart, width, colours)
  return [...title, ...drawn, ...legend(colours, width)]
}

function rowsOf({ data }: Fields, width: number): Line[] {
  const values = (data as { readonly values?: unknown } | undefined)?.values
  const rows = Array.isArray(values)
    ? (values as readonly Fields[]).filter((row) => typeof row === "object" && row !== null)
    : []
  const columns = Object.keys(rows[0] ?? {})
  return columns.length === 0
    ? []
    : tableLines({ columns, rows: rows.map((row) => columns.map((column) => row[column])) }, width)
}

type Colours = ReadonlyMap<string, Style>

function coloursOf(points: readonly Point[]): Colours {
  const names = [...new Set(points.map(({ series }) => series))]
  return new Map(names.map((name, at) => [name, { colour: COLOURS[at % COLOURS.length] as (typeof COLOURS)[number] }]))
}

/** Bars also have the name of their series, because colours alone are not accessible. */
function legend(colours: Colours, width: number): Line[] {
  if (colours.size < 2) return []
  return [
    clip(
      [...colours].flatMap(([name, style]) => [span("■ ", style), span(`${printable(name)}  `, DIM)]),
      width,
    ),
  ]
}

const PARTS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

function bars(points: readonly Point[], width: number, colours: Colours): Line[] {
  const shown = points.slice(0, MAX_BARS)
  const labels = shown.map(({ name, series }) => printable(series === "" ? name : `${name}, ${series}`))
  const room = Math.min(Math.max(...labels.map(widthOf)), Math.floor(width / 3))
  const numbers = shown.map(({ value }) => formatNumber(value))
  const most = Math.max(...shown.map(({ value }) => Math.abs(value)))
  const length = Math.max(1, width - room - Math.max(...numbers.map((text) => text.length)) - 3)
  const drawn = shown.map(({ value, series }, at): Line => {
    const eighths = most === 0 ? 0 : Math.round((Math.abs(value) / most) * length * 8)
    const full = (value < 0 ? "░" : "█").repeat(Math.floor(eighths / 8))
    const bar = value < 0 ? full || "░" : full + (PARTS[eighths % 8] ?? "")
    return [span(`${padded(labels[at] ?? "", room)} `), span(bar, colours.get(series)), span(` ${numbers[at]}`, DIM)]
  })
  const left = points.length - shown.length
  return left > 0 ? [...drawn, line(chatText.morePoints(left), DIM)] : drawn
}

function padded(label: string, width: number): string {
  const cut = widthOf(label) > width ? `${fit(label, width - 1).head}…` : label
  return cut + " ".repeat(Math.max(0, width - widthOf(cut)))
}

/** Braille: eight dots in one character, two across and four up. */
const DOTS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const

function plot({ mark, points, along }: ChartPoints, width: number, colours: Colours): Line[] {
  const values = points.map(({ value }) => value)
  const [low, high] = rangeOf(mark === "area" ? [...values, 0] : values)
  const labels = [high, (low + high) / 2, low].map(formatNumber)
  const margin = Math.max(...labels.map((label) => label.length)) + 1
  const [across, up] = [(width - margin) * 2, HEIGHT * 4]
  const [first, last] = rangeOf(points.map(({ at }) => at))
  const canvas = new Canvas(width - margin)
  const toX = (at: number) => Math.round(((at - first) / (last - first || 1)) * (across - 1))
  const toY = (value: number) => Math.round(((high - value) / (high - low || 1)) * (up - 1))
  for (const [series, style] of colours) {
    let before: { x: number; y: number } | undefined
    for (const { at, value } of points.filter((point) => point.series === series)) {
      const here = { x: toX(at), y: toY(value) }
      for (const { x, y } of mark === "points" || !before ? [here] : between(before, here)) {
        for (let fill = y; fill <= (mark === "area" ? toY(Math.max(0, low)) : y); fill++) canvas.set(x, fill, style)
      }
      before = here
    }
  }
  const side = (row: number) =>
    (row === 0 ? labels[0] : row === HEIGHT - 1 ? labels[2] : row === HEIGHT / 2 ? labels[1] : "") ?? ""
  const ends = "names" in along ? [along.names[0] ?? "", along.names.at(-1) ?? ""] : [along.from, along.to]
  const [from, to] = ends.map((end) => fit(printable(end), Math.floor((width - margin) / 2) - 1).head)
  const gap = Math.max(1, width - margin - widthOf(from ?? "") - widthOf(to ?? ""))
  return [
    ...canvas.lines().map((cells, row): Line => [
      span(
        side(row)
          .padStart(margin - 1)
          .padEnd(margin),
        DIM,
      ),
      ...cells,
    ]),
    line(" ".repeat(margin) + from + " ".repeat(gap) + to, DIM),
  ]
}

class Canvas {
  readonly #cells: { dots: number; style: Style | undefined }[][]

  constructor(width: number) {
    this.#cells = Array.from({ length: HEIGHT }, () =>
      Array.from({ length: width }, () => ({ dots: 0, style: undefined })),
    )
  }

  set(x: number, y: number, style: Style): void {
    const cell = this.#cells[Math.floor(y / 4)]?.[Math.floor(x / 2)]
    if (!cell) return
    cell.dots |= DOTS[(y % 4) as 0]?.[(x % 2) as 0] ?? 0
    cell.style = style
  }

  lines(): Span[][] {
    return this.#cells.map((row) =>
      row.map(({ dots, style }) => span(dots === 0 ? " " : String.fromCodePoint(0x2800 + dots), style)),
    )
  }
}

function between(a: { x: number; y: number }, b: { x: number; y: number }): { x: number; y: number }[] {
  const steps = Math.max(Math.abs(b.x - a.x), Math.abs(b.y - a.y), 1)
  return Array.from({ length: steps + 1 }, (_, step) => ({
    x: Math.round(a.x + ((b.x - a.x) * step) / steps),
    y: Math.round(a.y + ((b.y - a.y) * step) / steps),
  }))
}

function rangeOf(numbers: readonly number[]): [number, number] {
  return numbers.reduce(
    ([low, high]: [number, number], each) => [Math.min(low, each), Math.max(high, each)],
    [Infinity, -Infinity],
  )
}

const formatNumber = (value: number): string => String(Number(value.toPrecision(6)))
