import type { ComponentType, SVGProps } from "react"

export type Icon = ComponentType<SVGProps<SVGSVGElement>>

/**
 * An icon drawn with strokes on a 24 by 24 grid, in the colour of the text. Hidden from screen readers unless it has a
 * label.
 */
function drawIcon(...strokes: readonly string[]): Icon {
  const path = strokes.join("")
  return function DrawnIcon(properties) {
    const labelled = properties["aria-label"] !== undefined
    return (
      <svg
        width="24"
        height="24"
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
        {...(labelled ? { role: "img" } : { "aria-hidden": true })}
        {...properties}
      >
        <path d={path} />
      </svg>
    )
  }
}

export const circle = (x: number, y: number, radius: number): string =>
  `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0z`

/** A rounded rectangle, from its upper left corner. */
export function box(x: number, y: number, [width, height]: readonly [number, number], radius = 2): string {
  const turn = (dx: number, dy: number) => `a${radius} ${radius} 0 0 1 ${dx} ${dy}`
  const [wide, high] = [width - 2 * radius, height - 2 * radius]
  const upper = `M${x + radius} ${y}h${wide}${turn(radius, radius)}v${high}${turn(-radius, radius)}`
  return `${upper}h${-wide}${turn(-radius, -radius)}v${-high}${turn(radius, -radius)}z`
}

export const ArrowDown = drawIcon("M12 4v16M5 13l7 7 7-7")
export const ArrowLeft = drawIcon("M20 12H4M11 5l-7 7 7 7")
export const ArrowRight = drawIcon("M4 12h16M13 5l7 7-7 7")
export const ArrowUp = drawIcon("M12 20V4M5 11l7-7 7 7")
export const ChevronDown = drawIcon("M6 9l6 6 6-6")
export const ChevronRight = drawIcon("M9 6l6 6-6 6")
export const ChevronUp = drawIcon("M6 15l6-6 6 6")
export const ChevronsUpDown = drawIcon("M7 9l5-5 5 5M7 15l5 5 5-5")
export const CornerDownLeft = drawIcon("M19 4v8a3 3 0 0 1-3 3H4M9 10l-5 5 5 5")
export const CornerDownRight = drawIcon("M5 4v8a3 3 0 0 0 3 3h12M15 10l5 5-5 5")
export const Download = drawIcon("M12 4v11M7 10l5 5 5-5M4 20h16")
export const ExternalLink = drawIcon("M14 4h6v6M20 4l-9 9M10 5H6a2 2 0 0 0-2 2v11a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2v-4")
export const GitBranch = drawIcon(circle(6, 5, 2), circle(6, 19, 2), circle(18, 7, 2), "M6 7v10M18 9a6 6 0 0 1-6 6H6")
const backwards = "M4 4v5h5M4.6 9a8 8 0 1 1-.5 4.5"
export const History = drawIcon(backwards, "M12 8v4l3 2")
export const ListEnd = drawIcon("M4 6h16M4 12h16M4 18h5M20 15v1a2 2 0 0 1-2 2h-5M16 15l-3 3 3 3")
export const LogOut = drawIcon("M10 4H6a2 2 0 0 0-2 2v12a2 2 0 0 0 2 2h4M10 12h10M16 8l4 4-4 4")
export const Replace = drawIcon(
  box(4, 4, [6, 6], 1),
  box(14, 14, [6, 6], 1),
  "M14 6h2a2 2 0 0 1 2 2v2M10 18H8a2 2 0 0 1-2-2v-2",
)
export const RotateCcw = drawIcon(backwards)
export const RotateCw = drawIcon("M20 4v5h-5M19.4 9a8 8 0 1 0 .5 4.5")
export const Route = drawIcon(circle(6, 19, 2), circle(18, 5, 2), "M16 5H9a3.5 3.5 0 0 0 0 7h6a3.5 3.5 0 0 1 0 7H8")
export const Undo = drawIcon("M9 5l-5 5 5 5M4 10h10a5 5 0 0 1 0 10h-4")
export const Upload = drawIcon("M12 15V4M7 9l5-5 5 5M4 20h16")

const ring = circle(12, 12, 9)
const tick = "M8 12.5l3 3 5-6"
const square = box(4, 4, [16, 16])

export const Ban = drawIcon(ring, "M5.6 5.6l12.8 12.8")
export const Check = drawIcon("M4 12.5l5.5 5.5L20 6.5")
export const CheckSquare = drawIcon(square, tick)
export const Circle = drawIcon(ring)
export const CircleAlert = drawIcon(ring, "M12 7.5v5M12 16h.01")
export const CircleCheck = drawIcon(ring, tick)
export const CircleDot = drawIcon(ring, circle(12, 12, 1))
export const CircleHelp = drawIcon(ring, "M9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1.9-1.1 1.8M12 16.8h.01")
export const Clock = drawIcon(ring, "M12 7v5l3 2")
export const Code = drawIcon("M8 7l-5 5 5 5M16 7l5 5-5 5")
export const Ellipsis = drawIcon(circle(5, 12, 0.8), circle(12, 12, 0.8), circle(19, 12, 0.8))
export const Flag = drawIcon("M5 21V4c5-3 9 3 14 0v10c-5 3-9-3-14 0")
export const Hourglass = drawIcon("M6 3h12M6 21h12M7 3v4l5 5 5-5V3M7 21v-4l5-5 5 5v4")
export const Info = drawIcon(ring, "M12 11.5V16M12 8h.01")
export const List = drawIcon("M9 6h11M9 12h11M9 18h11M4 6h.01M4 12h.01M4 18h.01")
export const LoaderCircle = drawIcon("M21 12a9 9 0 1 1-6.2-8.6")
export const Menu = drawIcon("M4 6h16M4 12h16M4 18h16")
export const Moon = drawIcon("M20 14.5A8.5 8.5 0 1 1 9.5 4a7.6 7.6 0 0 0 10.5 10.5z")
export const Play = drawIcon("M7 4.5v15l12-7.5z")
export const Plus = drawIcon("M12 5v14M5 12h14")
export const Search = drawIcon(circle(11, 11, 7), "M20.5 20.5L16 16")
export const Square = drawIcon(square)
export const Sun = drawIcon(
  circle(12, 12, 4),
  "M12 2v2M12 20v2M2 12h2M20 12h2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
)
export const WifiOff = drawIcon(
  "M4 4l16 16M12 20h.01M8.5 16a5 5 0 0 1 6.3-.7",
  "M5 12.5a10 10 0 0 1 4.5-2.6M14 9.7a10 10 0 0 1 5 2.8M2 9a15 15 0 0 1 4.5-3M11 5a15 15 0 0 1 11 4",
)
export const X = drawIcon("M6 6l12 12M18 6L6 18")

const book = "M12 6.5v13M12 6.5c-2-1.5-5-2-9-2v13c4 0 7 .5 9 2 2-1.5 5-2 9-2v-13c-4 0-7 .5-9 2z"
const folder = "M3 6a2 2 0 0 1 2-2h4l2.5 3H19a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z"
const lid = box(3, 4, [18, 5], 1)
const parcel = "M20 11V7.5L12 3 4 7.5v9l8 4.5 2-1.1M4 7.5l8 4.5 8-4.5M12 12v9"
const pencil = "M4 20l1-4.5L16 4.5a2 2 0 0 1 2.8 0l.7.7a2 2 0 0 1 0 2.8L8.5 19zM14 6.5l3.5 3.5"
const sheet = "M14 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8zM14 3v5h5"
const frame = box(3, 4, [18, 16])

export const Archive = drawIcon(lid, "M5 9v9a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V9M10 13h4")
export const ArchiveRestore = drawIcon(lid, "M5 9v9a2 2 0 0 0 2 2h2M19 9v9a2 2 0 0 1-2 2h-2M12 20v-7M9 15.5l3-3 3 3")
export const BookOpen = drawIcon(book)
export const BookOpenText = drawIcon(
  book,
  "M6.5 8.7c1 .1 2 .3 2.7.5M6.5 12.2c1 .1 2 .3 2.7.5M17.5 8.7c-1 .1-2 .3-2.7.5M17.5 12.2c-1 .1-2 .3-2.7.5",
)
export const Bot = drawIcon(box(4, 9, [16, 11], 3), circle(12, 4, 1), "M12 9V5M9 14v1.5M15 14v1.5M1.5 14v2M22.5 14v2")
export const Building = drawIcon(
  box(5, 3, [14, 18], 1.5),
  "M9 7h.01M15 7h.01M9 11h.01M15 11h.01M9 15h.01M15 15h.01M10 21v-2h4v2",
)
export const Calendar = drawIcon(
  box(4, 5, [16, 16]),
  "M4 10h16M8 3v4M16 3v4M8 14h.01M12 14h.01M16 14h.01M8 17.5h.01M12 17.5h.01",
)
export const ChartColumn = drawIcon("M4 4v14a2 2 0 0 0 2 2h14M9 16v-4M13.5 16V7M18 16v-6")
export const Columns = drawIcon(frame, "M9 4v16M15 4v16")
export const Copy = drawIcon(box(8, 8, [12, 12]), "M5 16a1 1 0 0 1-1-1V6a2 2 0 0 1 2-2h9a1 1 0 0 1 1 1")
export const Database = drawIcon(
  "M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3z",
  "M4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3",
)
export const Paperclip = drawIcon(
  "M20 11.5l-8.5 8.5a5 5 0 0 1-7-7L13 4.5a3.4 3.4 0 0 1 4.8 4.8L9.3 17.8a1.7 1.7 0 0 1-2.4-2.4l7.8-7.8",
)
export const FileText = drawIcon(sheet, "M9 13h6M9 17h4")
export const FileUp = drawIcon(sheet, "M12 18v-6M9.5 14l2.5-2.5 2.5 2.5")
export const Flask = drawIcon("M9 3h6M10 3v6L4.8 18a2 2 0 0 0 1.7 3h11a2 2 0 0 0 1.7-3L14 9V3M7.2 15h9.6")
export const Folder = drawIcon(folder, "M3 11h18")
export const FolderCode = drawIcon(folder, "M10 11.5L7.5 14l2.5 2.5M14 11.5l2.5 2.5-2.5 2.5")
export const Hand = drawIcon(
  "M8 12V6a1.5 1.5 0 0 1 3 0v5M11 11V4.5a1.5 1.5 0 0 1 3 0V11M14 11V6a1.5 1.5 0 0 1 3 0v5",
  "M17 11V9a1.5 1.5 0 0 1 3 0v5a7 7 0 0 1-7 7h-1c-2.5 0-4-1-5.3-3L4 13.5a1.6 1.6 0 0 1 2.6-1.8L8 13.5",
)
export const Image = drawIcon(frame, circle(8.5, 9, 1.5), "M21 15l-4.5-4.5L7 20")
export const Inbox = drawIcon("M3 13h5l2 3h4l2-3h5M5.5 5h13L21 13v5a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-5z")
export const Key = drawIcon(circle(8, 15.5, 4.5), "M11.3 12.2L20 3.5M17 6.5l3 3M14 9.5l2 2")
export const Laptop = drawIcon(box(5, 4, [14, 11]), "M2 19h20")
export const Library = drawIcon(box(2, 4, [5, 16], 1), box(8, 4, [5, 16], 1), "M15 5.5l3-.8 4 14.6-3 .8z")
export const Monitor = drawIcon(box(3, 4, [18, 12]), "M8 20h8M12 16v4")
export const Notebook = drawIcon(box(5, 3, [15, 18]), "M3 7h4M3 12h4M3 17h4M11 8h5M11 12h5M11 16h3")
export const PackageMinus = drawIcon(parcel, "M16 17h6")
export const PackagePlus = drawIcon(parcel, "M19 14v6M16 17h6")
export const PenLine = drawIcon(pencil, "M13 20h7")
export const Pencil = drawIcon(pencil)
export const Plug = drawIcon("M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4")
export const Settings = drawIcon(
  circle(12, 12, 3),
  "M10.2 5.2L10.4 2.8L13.6 2.8L13.8 5.2L15.5 5.9L17.4 4.4L19.6 6.6L18.1 8.5L18.8 10.2L21.2 10.4L21.2 13.6L18.8 13.8L18.1 15.5L19.6 17.4L17.4 19.6L15.5 18.1L13.8 18.8L13.6 21.2L10.4 21.2L10.2 18.8L8.5 18.1L6.6 19.6L4.4 17.4L5.9 15.5L5.2 13.8L2.8 13.6L2.8 10.4L5.2 10.2L5.9 8.5L4.4 6.6L6.6 4.4L8.5 5.9z",
)
export const Sliders = drawIcon("M4 7h9M19 7h1M4 17h1M11 17h9", circle(16, 7, 2.5), circle(8, 17, 2.5))
export const Store = drawIcon(
  "M4 11v8a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-8M10 20v-5h4v5",
  "M3 9l2-5h14l2 5a3 3 0 0 1-6 0 3 3 0 0 1-6 0 3 3 0 0 1-6 0z",
)
export const Table = drawIcon(frame, "M3 10h18M3 15h18M10 4v16")
export const Trash = drawIcon(
  "M4 6h16M9 6V4a1 1 0 0 1 1-1h4a1 1 0 0 1 1 1v2M10 11v5M14 11v5",
  "M6 6l1 13a2 2 0 0 0 2 2h6a2 2 0 0 0 2-2l1-13",
)
