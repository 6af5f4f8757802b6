import { useVirtualizer } from "@tanstack/react-virtual"
import { memo, useMemo, useRef, useState } from "react"
import { isName } from "../../../packs/analyst/chart-spec/index.ts"
import { ArrowDown, ArrowUp, ChevronsUpDown } from "../components/icons.tsx"
import { CopyButton } from "../components/button.tsx"
import { Dialog } from "../components/dialog.tsx"
import { Plain } from "../components/plain.tsx"
import { locale } from "../strings/language.ts"
import { numberFormat } from "../strings/message.ts"
import { t } from "../strings/strings.ts"

export interface TableColumn {
  readonly name: string
  readonly type: string | null
}

interface DataTableProps {
  readonly columns: readonly TableColumn[]
  readonly rows: readonly (readonly unknown[])[]
  /** Called when the person scrolls to the last row or sorts, which needs all rows. */
  readonly onWantMore?: (() => void) | undefined
}

const ROW = 32
const HEAD = 46
const MAX_HEIGHT = 12 * ROW + HEAD
/** Longer texts are cut in the table and shown in full in a dialog. */
const MAX_CELL = 60
/** Rows that are measured to find the width of a column. */
const SAMPLE = 100

/** A table that draws only the rows in view, so that ten thousand rows are as fast as twenty. */
export function DataTable({ columns, rows, onWantMore }: DataTableProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const [order, setOrder] = useState<Order>()
  const [open, setOpen] = useState<{ readonly name: string; readonly text: string }>()
  const sorted = useMemo(() => (order ? sortRows(rows, order) : rows), [rows, order])
  const shapes = useMemo(() => columns.map((column, index) => shapeOf(column, rows, index)), [columns, rows])
  const virtualizer = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 5,
  })
  const shown = virtualizer.getVirtualItems()
  const before = shown[0]?.start ?? 0
  const after = virtualizer.getTotalSize() - (shown.at(-1)?.end ?? 0)
  const sort = (column: number) => {
    onWantMore?.()
    setOrder(
      order?.column === column ? (order.isDown ? undefined : { column, isDown: true }) : { column, isDown: false },
    )
  }
  const onScroll = () => {
    const element = scroller.current
    if (element && element.scrollHeight - element.scrollTop - element.clientHeight < 10 * ROW) onWantMore?.()
  }
  return (
    <>
      <div
        ref={scroller}
        onScroll={onScroll}
        tabIndex={0}
        role="group"
        aria-label={t("views.table")}
        className="overflow-auto outline-offset-[-3px]"
        style={{ maxHeight: MAX_HEIGHT }}
      >
        <table
          aria-rowcount={rows.length + 1}
          className="min-w-full table-fixed border-separate border-spacing-0 text-[13px] tabular-nums"
          style={{ width: shapes.reduce((sum, { width }) => sum + width, 0) }}
        >
          <colgroup>
            {shapes.map(({ width }, index) => (
              <col key={index} style={{ width }} />
            ))}
          </colgroup>
          <thead>
            <tr aria-rowindex={1} style={{ height: HEAD }}>
              {columns.map((column, index) => (
                <Heading
                  key={index}
                  column={column}
                  isRight={shapes[index]?.isRight ?? false}
                  order={order?.column === index ? order : undefined}
                  onSort={() => sort(index)}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <tr aria-hidden="true" style={{ height: before }} />}
            {/* Keyed by position in view, so that elements of rows that leave it are reused. */}
            {shown.map(({ index }) => (
              <Row
                key={index % shown.length}
                index={index}
                cells={sorted[index] ?? []}
                shapes={shapes}
                onOpen={setOpen}
              />
            ))}
            {after > 0 && <tr aria-hidden="true" style={{ height: after }} />}
          </tbody>
        </table>
      </div>
      {open && (
        <Dialog title={t("views.fullValue")} onClose={() => setOpen(undefined)}>
          <div className="mb-2 flex items-center gap-2 text-sm text-soft">
            <p className="min-w-0 flex-1 truncate">
              <Plain text={open.name} />
            </p>
            <CopyButton label={t("views.copyValue")} read={() => open.text} />
          </div>
          <pre
            tabIndex={0}
            className="max-h-[60vh] overflow-auto rounded-xl border border-line bg-sunken px-4 py-3 font-mono text-[13px] whitespace-pre-wrap [overflow-wrap:anywhere]"
          >
            <Plain text={open.text} />
          </pre>
        </Dialog>
      )}
    </>
  )
}

interface HeadingProps {
  readonly column: TableColumn
  readonly isRight: boolean
  readonly order: Order | undefined
  readonly onSort: () => void
}

function Heading({ column: { name, type }, isRight, order, onSort }: HeadingProps) {
  const Icon = order === undefined ? ChevronsUpDown : order.isDown ? ArrowDown : ArrowUp
  return (
    <th
      scope="col"
      aria-sort={order === undefined ? "none" : order.isDown ? "descending" : "ascending"}
      className="sticky top-0 z-10 border-b border-line bg-surface p-0 text-left font-semibold"
    >
      <button
        type="button"
        onClick={onSort}
        className={`group/sort flex w-full items-center gap-1 px-3 py-1 hover:bg-sunken ${isRight ? "flex-row-reverse text-right" : "text-left"}`}
      >
        <span className="min-w-0">
          <span className="block truncate">
            <Plain text={name} />
          </span>
          {type && (
            <span className="block truncate text-xs font-normal text-faint">
              <Plain text={type.toLowerCase()} />
            </span>
          )}
        </span>
        <Icon
          aria-hidden="true"
          className={`size-3.5 shrink-0 text-faint ${order ? "" : "opacity-0 group-hover/sort:opacity-100 group-focus-visible/sort:opacity-100"}`}
        />
      </button>
    </th>
  )
}

interface Shape {
  readonly name: string
  readonly width: number
  readonly isRight: boolean
  readonly isGrouped: boolean
}

interface RowProps {
  readonly index: number
  readonly cells: readonly unknown[]
  readonly shapes: readonly Shape[]
  readonly onOpen: (open: { readonly name: string; readonly text: string }) => void
}

const Row = memo(function Row({ index, cells, shapes, onOpen }: RowProps) {
  return (
    <tr aria-rowindex={index + 2} style={{ height: ROW }} className="hover:bg-sunken">
      {shapes.map((shape, place) => {
        const { name, isRight } = shape
        const cell = cells[place]
        const text = shownText(cell, shape)
        const isCut = text.length > MAX_CELL || text.includes("\n")
        return (
          <td key={place} className={`truncate border-b border-line px-3 ${isRight ? "text-right" : ""}`}>
            {isNothing(cell) ? (
              <span className="text-faint">–</span>
            ) : isCut ? (
              <button
                type="button"
                aria-label={t("views.showFullValue")}
                className="max-w-full truncate text-left underline decoration-line decoration-dotted underline-offset-4"
                onClick={() => onOpen({ name, text: cellText(cell) })}
              >
                <Plain text={text.slice(0, MAX_CELL * 2).replaceAll(/\s+/g, " ")} />
              </button>
            ) : (
              <Plain text={text} />
            )}
          </td>
        )
      })}
    </tr>
  )
})

/** The width of a letter, with some room. */
const LETTER = 7.6
const ROOM = 28

/** The width and alignment of a column, from its name and its first rows, so that they do not change during scrolling. */
function shapeOf({ name, type }: TableColumn, rows: DataTableProps["rows"], place: number): Shape {
  const cells = rows.slice(0, SAMPLE).map((row) => row[place])
  const shape = { name, isRight: isNumeric(cells), isGrouped: isGrouped(name, cells) }
  const longest = Math.max(4, ...cells.map((cell) => Math.min(shownText(cell, shape).length, MAX_CELL)))
  const heading = Math.min(Math.max(name.length, type?.length ?? 0), 40) + 3
  return { ...shape, width: Math.round(Math.max(longest, heading) * LETTER + ROOM) }
}

const shownText = (cell: unknown, shape: Pick<Shape, "isGrouped">): string =>
  shape.isGrouped ? toGrouped(cellText(cell)) : cellText(cell)

/** The text of a cell. Numbers that JavaScript cannot hold exactly arrive as text; binary values arrive as base64. */
export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return ""
  if (typeof cell === "string") return cell
  if (typeof cell !== "object") return String(cell as number | boolean)
  const { bytes, base64 } = cell as { readonly bytes?: unknown; readonly base64?: unknown }
  if (typeof bytes === "number" && typeof base64 === "string") return t("views.bytes", { count: bytes, base64 })
  return JSON.stringify(cell)
}

const isNothing = (cell: unknown): boolean => cell === null || cell === undefined

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i

/** Whether all cells of a column are numbers, including exact ones, which arrive as text. Numbers are aligned right. */
function isNumeric(cells: readonly unknown[]): boolean {
  const some = cells.filter((cell) => !isNothing(cell))
  return (
    some.length > 0 && some.every((cell) => typeof cell === "number" || (typeof cell === "string" && NUMBER.test(cell)))
  )
}

/** Whether digits are grouped by thousands. Years, ids and codes are not. */
export function isGrouped(name: string, cells: readonly unknown[]): boolean {
  if (isName({ name }) || !isNumeric(cells)) return false
  const some = cells.filter((cell) => !isNothing(cell))
  return !some.every(isLikeYear) && !some.some((cell) => /^-?0\d|e/i.test(cellText(cell)))
}

const isLikeYear = (cell: unknown): boolean => /^(?:1[5-9]|20)\d\d$/.test(cellText(cell))

/** Groups digits the way the locale does and drops none: `1234567.50` becomes `1,234,567.50`, or `1.234.567,50`. */
export function toGrouped(text: string): string {
  const [, sign = "", digits = "", decimals] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (digits === "") return text
  const format = numberFormat(locale())
  const decimalSign = format.formatToParts(0.5).find(({ type }) => type === "decimal")?.value ?? "."
  return sign + format.format(BigInt(digits)) + (decimals === undefined ? "" : decimalSign + decimals)
}

interface Order {
  readonly column: number
  readonly isDown: boolean
}

type Rows = readonly (readonly unknown[])[]

/** Sorts rows by one column: numbers by value, including those that arrive as text, other cells as text; empty cells last. */
export function sortRows(rows: Rows, { column, isDown }: Order): Rows {
  const cells = rows.map((row) => row[column])
  const compare = isNumeric(cells) ? bySize : byText(cells)
  const there = rows.map((_, index) => index).filter((index) => !isNothing(cells[index]))
  const missing = rows.filter((_, index) => isNothing(cells[index]))
  there.sort((a, b) => (isDown ? -1 : 1) * compare(cells[a], cells[b]) || a - b)
  return [...there.map((index) => rows[index] as readonly unknown[]), ...missing]
}

function bySize(a: unknown, b: unknown): number {
  const difference = Number(a) - Number(b)
  // Integers too large for an exact number are still compared exactly.
  if (difference !== 0 || typeof a !== "string" || typeof b !== "string" || a === b) return difference
  const isWhole = /^-?\d+$/
  return isWhole.test(a) && isWhole.test(b) ? (BigInt(a) < BigInt(b) ? -1 : 1) : 0
}

/** Converts each cell once, not once for each comparison. */
function byText(cells: readonly unknown[]): (a: unknown, b: unknown) => number {
  const said = new Map<unknown, string>()
  for (const cell of cells) if (!said.has(cell)) said.set(cell, cellText(cell))
  const { compare } = new Intl.Collator(locale(), { numeric: true })
  return (a, b) => compare(said.get(a) ?? "", said.get(b) ?? "")
}
