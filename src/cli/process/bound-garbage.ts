import { PerformanceObserver } from "node:perf_hooks"
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from "node:v8"

const MB = 1024 * 1024
/** Of the heap and the buffers beside it, in bytes. A server that rests has less, and V8 goes by its own rules. */
const MUCH = 56 * MB
const LITTLE = 48 * MB
/** Of the part of the heap for what was just made, both halves together, in bytes. By itself V8 goes up to four times as much. */
const MAX_NEW = 32 * MB
/** Then what was made earlier is collected when it has grown by so much of what was alive the last time. */
const GROWTH_PERCENT = 70

/** Rules of V8's: its flags `heap-growing-percent` and `semi-space-growth-factor`. */
export interface HeapRules {
  readonly growingPercent: number
  readonly newGrowthFactor: number
}

export interface HeapSizes {
  /** Of the heap and of the buffers beside it. */
  readonly used: number
  readonly newSpace: number
}

/** V8's own. */
export const USUAL_RULES: HeapRules = { growingPercent: 0, newGrowthFactor: 2 }

export function rulesFor({ used, newSpace }: HeapSizes, inForce: HeapRules): HeapRules {
  const hasMuch = used > (inForce.growingPercent > 0 ? LITTLE : MUCH)
  return { growingPercent: hasMuch ? GROWTH_PERCENT : 0, newGrowthFactor: newSpace >= MAX_NEW ? 1 : 2 }
}

/**
 * Bounds what nobody uses any more and V8 has not collected yet. Left to itself V8 lets that grow to several times what is
 * alive wherever the machine has memory to spare. Looks at the heap behind each collection, and costs nothing between them.
 * Why not by flags of the command, nor from the start: docs/decisions/088.
 */
export function boundGarbage(): Disposable {
  let inForce = USUAL_RULES
  const follow = (rules: HeapRules) => {
    const { growingPercent: percent, newGrowthFactor: factor } = rules
    if (percent !== inForce.growingPercent) setFlagsFromString(`--heap-growing-percent=${percent}`)
    if (factor !== inForce.newGrowthFactor) setFlagsFromString(`--semi-space-growth-factor=${factor}`)
    inForce = rules
  }
  const observer = new PerformanceObserver(() => follow(rulesFor(sizes(), inForce)))
  observer.observe({ entryTypes: ["gc"] })
  return {
    [Symbol.dispose]() {
      observer.disconnect()
      follow(USUAL_RULES)
    },
  }
}

function sizes(): HeapSizes {
  const { used_heap_size: heap, external_memory: beside } = getHeapStatistics()
  const newSpace = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")
  return { used: heap + beside, newSpace: newSpace?.space_size ?? 0 }
}
