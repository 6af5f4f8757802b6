import { box, circle, drawIcon } from "./draw-icon.tsx"

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
