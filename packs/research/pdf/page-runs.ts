import { raisedText } from "../html/raised-text.ts"

/** A text item of the PDF library. The last two numbers of `transform` are its position. */
export interface TextItem {
  readonly str: string
  readonly dir: string
  readonly width: number
  readonly height: number
  readonly transform: readonly number[]
  readonly hasEOL: boolean
}

/** Text on one line without a gap wider than a space. Positions are in points from the lower left corner. */
export interface TextRun {
  readonly text: string
  readonly left: number
  readonly right: number
  readonly base: number
  readonly size: number
  /** Left-to-right and horizontal. Other runs stay in the order of the file. */
  readonly level: boolean
}

/** In units of the letter size: a smaller gap is no space, a larger one is another column. */
const SPACE = 0.15
const GAP = 1.6
const SAME_LINE = 0.2

/** Combines the items of a page into runs, in the order of the file. */
export function runsOf(items: Iterable<TextItem>): TextRun[] {
  const runs: TextRun[] = []
  let open: Open | undefined
  let flow: Flow | undefined
  const close = () => {
    const run = open?.run() ?? flow?.run()
    if (run && run.text !== "") runs.push(run)
    open = flow = undefined
  }
  for (const item of items) {
    const isBlank = item.str.trim() === ""
    if (flow && (isBlank || !isLevel(item))) flow.add(item)
    else if (isBlank) continue
    else if (open?.takes(item)) open.add(item)
    else {
      close()
      if (isLevel(item)) open = new Open(item)
      else flow = new Flow(item)
    }
    if (flow && item.hasEOL) close()
  }
  close()
  return runs
}

/** Rotated text, or text that is not written from the left: one line according to the file. */
class Flow {
  readonly #first: TextItem
  readonly #parts: string[] = []

  constructor(item: TextItem) {
    this.#first = item
    this.add(item)
  }

  add({ str }: TextItem): void {
    this.#parts.push(str)
  }

  run(): TextRun {
    const item = this.#first
    const text = this.#parts.join("").replaceAll(/\s+/g, " ").trim()
    return { text, left: leftOf(item), right: leftOf(item), base: baseOf(item), size: sizeOf(item), level: false }
  }
}

class Open {
  readonly #parts: string[]
  readonly #left: number
  readonly #base: number
  readonly #size: number
  #right: number

  constructor(item: TextItem) {
    this.#parts = [item.str]
    this.#left = leftOf(item)
    this.#right = rightOf(item)
    this.#base = baseOf(item)
    this.#size = sizeOf(item)
  }

  /** True if the item continues the line, or is raised next to it. */
  takes(item: TextItem): boolean {
    if (!isLevel(item)) return false
    const gap = leftOf(item) - this.#right
    if (gap < -this.#size || gap > GAP * this.#size) return false
    return this.#isBeside(item) || this.#raised(item) !== undefined
  }

  add(item: TextItem): void {
    const gap = leftOf(item) - this.#right
    const raised = this.#isBeside(item) ? undefined : this.#raised(item)
    const before = this.#parts.at(-1)!
    const needsSpace = gap > SPACE * this.#size && !/\s$/.test(before) && !/^\s/.test(item.str)
    if (raised && !needsSpace) this.#parts.push(raisedText({ tag: raised, before, text: item.str }))
    else this.#parts.push(needsSpace ? ` ${item.str}` : item.str)
    this.#right = rightOf(item)
  }

  run(): TextRun {
    const text = this.#parts.join("").trim()
    return { text, left: this.#left, right: this.#right, base: this.#base, size: this.#size, level: true }
  }

  #isBeside(item: TextItem): boolean {
    return Math.abs(baseOf(item) - this.#base) <= SAME_LINE * this.#size
  }

  /** Smaller, and above or below the line by a part of its height. */
  #raised(item: TextItem): "sup" | "sub" | undefined {
    const by = (baseOf(item) - this.#base) / this.#size
    if (sizeOf(item) > 0.85 * this.#size || Math.abs(by) > 0.7) return undefined
    return by > 0 ? "sup" : "sub"
  }
}

const leftOf = ({ transform }: TextItem) => transform[4] ?? 0
const rightOf = (item: TextItem) => leftOf(item) + item.width
const baseOf = ({ transform }: TextItem) => transform[5] ?? 0
const sizeOf = ({ transform, height }: TextItem) => Math.hypot(transform[2] ?? 0, transform[3] ?? 0) || height || 1
const isLevel = ({ transform, dir }: TextItem) =>
  dir === "ltr" && Math.abs(transform[1] ?? 0) < 0.01 * Math.abs(transform[0] ?? 1) && (transform[0] ?? 0) > 0
