import { box, circle, drawIcon } from "./draw-icon.tsx"

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
