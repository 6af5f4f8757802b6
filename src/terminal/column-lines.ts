import { DIM, indent, type Line, line, span } from "./line.ts"
import { toShown } from "./shown.ts"
import { widthOf } from "./text-width.ts"
import { wrap } from "./wrap.ts"

const GAP = 2
/** With less room than that for the second column it stands below the first. */
const LEAST = 30

/** Two columns: words, and what they mean. */
export function columnLines(rows: readonly (readonly [string, string])[], width: number): Line[] {
  const shown = rows.map(([left, right]) => [toShown(left.trimEnd()), toShown(right)] as const)
  const first = Math.max(0, ...shown.map(([left]) => widthOf(left))) + GAP
  if (width - first < LEAST)
    return shown.flatMap(([left, right]) => [
      ...wrap(line(left), width),
      ...wrap(line(right, DIM), width - 2).map(indent),
    ])
  const hang = [span(" ".repeat(first))]
  return shown.flatMap(([left, right]) => {
    const lines = wrap(line(right, DIM), width - first)
    return lines.map((each, index): Line => [
      ...(index === 0 ? [span(left + " ".repeat(first - widthOf(left)))] : hang),
      ...each,
    ])
  })
}
