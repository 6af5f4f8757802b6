import { useVirtualizer } from "@tanstack/react-virtual"
import { ArrowDown, ArrowUp, ChevronsUpDown } from "../icons/arrows.ts"
import { memo, useMemo, useRef, useState } from "react"
import { CopyButton } from "../parts/copy-button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { Plain } from "../parts/plain.tsx"
import { cellText, isGrouped, isNothing, isNumeric, toGrouped } from "./cell-text.ts"
import { type Order, sortRows } from "./sort-rows.ts"

export interface TableColumn {
  readonly name: string
  readonly type: string | null
}

interface DataTableProps {
  readonly columns: readonly TableColumn[]
  readonly rows: readonly (readonly unknown[])[]
  /** Somebody has come to the last row, or wants an order that needs all of them. */
  readonly onWantMore?: (() => void) | undefined
}

const ROW = 32
const HEAD = 46
const MAX_HEIGHT = 12 * ROW + HEAD
/** Longer texts are cut where they stand, and shown whole on request. */
const MAX_CELL = 60
/** Rows that are measured to find the width of a column. */
const SAMPLE = 100

/** Rows and columns, of which only what is in view is drawn: ten thousand rows cost what twenty do. */
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
        aria-label="Table"
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
            {/* By their places in view: rows that leave it lend their elements to those that come. */}
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
        <Dialog title="A whole value" onClose={() => setOpen(undefined)}>
          <div className="mb-2 flex items-center gap-2 text-sm text-soft">
            <p className="min-w-0 flex-1 truncate">
              <Plain text={open.name} />
            </p>
            <CopyButton what="this value" read={() => open.text} />
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
                aria-label="Show the whole value"
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

/** A letter of the table's size, with room to spare. */
const LETTER = 7.6
const ROOM = 28

/** How wide a column is and where its cells stand, as its name and its first rows tell. It does not change while one scrolls. */
function shapeOf({ name, type }: TableColumn, rows: DataTableProps["rows"], place: number): Shape {
  const cells = rows.slice(0, SAMPLE).map((row) => row[place])
  const shape = { name, isRight: isNumeric(cells), isGrouped: isGrouped(name, cells) }
  const longest = Math.max(4, ...cells.map((cell) => Math.min(shownText(cell, shape).length, MAX_CELL)))
  const heading = Math.min(Math.max(name.length, type?.length ?? 0), 40) + 3
  return { ...shape, width: Math.round(Math.max(longest, heading) * LETTER + ROOM) }
}

const shownText = (cell: unknown, shape: Pick<Shape, "isGrouped">): string =>
  shape.isGrouped ? toGrouped(cellText(cell)) : cellText(cell)
