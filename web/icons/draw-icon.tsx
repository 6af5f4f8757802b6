import type { ComponentType, SVGProps } from "react"

export type Icon = ComponentType<SVGProps<SVGSVGElement>>

/**
 * A sign that is drawn with one pen on a sheet of 24 by 24, in the colour of the words beside it. Who sees it can do without it,
 * unless it has a label.
 */
export function drawIcon(...strokes: readonly string[]): Icon {
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

/** From its upper left corner, with round corners. */
export function box(x: number, y: number, [width, height]: readonly [number, number], radius = 2): string {
  const turn = (dx: number, dy: number) => `a${radius} ${radius} 0 0 1 ${dx} ${dy}`
  const [wide, high] = [width - 2 * radius, height - 2 * radius]
  const upper = `M${x + radius} ${y}h${wide}${turn(radius, radius)}v${high}${turn(-radius, radius)}`
  return `${upper}h${-wide}${turn(-radius, -radius)}v${-high}${turn(radius, -radius)}z`
}
