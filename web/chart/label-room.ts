/** A part of a picture as Vega keeps it. */
export interface Scene {
  readonly role?: string
  readonly marktype?: string
  readonly orient?: string
  readonly text?: unknown
  readonly opacity?: number
  readonly bounds?: { readonly x1: number; readonly x2: number }
  readonly items?: readonly Scene[]
}

/** Between two names. */
const GAP = 4

/** Whether names that stand side by side below a picture touch each other. */
export function hasTightLabels({ role, items = [] }: Scene): boolean {
  if (role === "axis-label") return areTight(items)
  return items.some(hasTightLabels)
}

function areTight(labels: readonly Scene[]): boolean {
  const spans = labels
    .filter(({ text, opacity, bounds }) => typeof text === "string" && text !== "" && opacity !== 0 && bounds)
    .map(({ bounds }) => bounds as { readonly x1: number; readonly x2: number })
    .toSorted((a, b) => a.x1 - b.x1)
  // The names of an axis that goes up stand above each other, all at one side.
  const isUp = spans.length > 1 && Math.abs((spans[0]?.x2 ?? 0) - (spans.at(-1)?.x2 ?? 0)) < 2
  return !isUp && spans.some(({ x1 }, at) => at > 0 && x1 < (spans[at - 1]?.x2 ?? 0) + GAP)
}
