import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/**
 * Returns a function with the milliseconds of processor time of this thread since. Unlike those of a clock they do
 * not pass while a busy machine does other work.
 */
export function countProcessor(): () => number {
  const began = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(began)
    return (user + system) / 1000
  }
}

/** Below this no bound applies, so it is reported unscaled. */
const LITTLE_MS = 20

/**
 * Returns the processor time scaled to the machine for which the bounds were written, so that a bound holds on any
 * machine: a slower processor, or one that others share, is measured and the result scaled.
 */
export function countWork(): () => number {
  const counted = countProcessor()
  return () => asUsual(counted())
}

/** Milliseconds of this processor as those of the usual one. */
export const asUsual = (ms: number): number => (ms < LITTLE_MS ? ms : ms / slownessOf(countProcessor))

/** The time of one round on the machine of the bounds: a quiet core of a small server. */
const USUAL_MS = 3.3
const ROUNDS = 6

const sample = Array.from({ length: 3000 }, (_, n) => ({ id: `row_${n}`, text: `Some words ${n * 7919}`, at: n / 4 }))

/** A mix of typical work: memory, text, numbers. Always the same. */
function round(): number {
  const copy = JSON.parse(JSON.stringify(sample)) as typeof sample
  let sum = 0
  for (const { id, text, at } of copy) sum += text.replaceAll(/\d+/g, id).length + at
  return sum
}

/**
 * Returns how many times slower than usual this machine is at the moment, by the wall clock or the processor's. At
 * least one, so that a fast machine does not narrow a bound. Our own faults do not change it, because none of our
 * code runs.
 */
export function slownessOf(clock: () => () => number = wallClock): number {
  for (let at = 0; at < ROUNDS; at++) round() // the first are slow on any
  const passed = clock()
  for (let at = 0; at < ROUNDS; at++) round()
  return Math.max(1, passed() / ROUNDS / USUAL_MS)
}

function wallClock(): () => number {
  const began = performance.now()
  return () => performance.now() - began
}

interface TwoSizes {
  readonly small: () => unknown
  readonly large: () => unknown
  /** Up to this factor a machine counts as the usual one. */
  readonly most: number
  /** The least number of measurements of both; one is enough for code that has run a few times already. */
  readonly least?: number
}

const LEAST_ROUNDS = 3
const MOST_ROUNDS = 12

/**
 * Returns how many times as much processor time the larger of two sizes takes. A slow machine slows both, and load
 * only adds time, so both are measured in turns and the minimum of each counts. If the ratio is too high it is
 * measured again: only growth in every measurement counts.
 */
export async function growthOf({ small, large, most, least = LEAST_ROUNDS }: TwoSizes): Promise<number> {
  let [ofSmall, ofLarge] = [Infinity, Infinity]
  // The first rounds do not count: code that runs for the first time takes many times as long, above all with the
  // small input.
  for (let round = 1; round <= least || (ofLarge / ofSmall > most && round <= MOST_ROUNDS); round++) {
    ofSmall = Math.min(ofSmall, await workOfOne(small))
    ofLarge = Math.min(ofLarge, await workOfOne(large))
  }
  return ofLarge / ofSmall
}

/** Whether it takes less processor time than this, in one of a few tries. */
export async function takesLess(ms: number, work: () => unknown): Promise<boolean> {
  for (let round = 0; round < LEAST_ROUNDS; round++) if ((await workOf(work)) < ms) return true
  return false
}

/** Some systems count processor time in steps of ten milliseconds, so it repeats until these do not matter. */
const ENOUGH_MS = 60

async function workOfOne(work: () => unknown): Promise<number> {
  const worked = countProcessor()
  for (let times = 1; ; times++) {
    await work()
    const ms = worked()
    if (ms >= ENOUGH_MS) return ms / times
  }
}

async function workOf(work: () => unknown): Promise<number> {
  const worked = countProcessor()
  await work()
  return worked()
}

let collectGarbage: (() => void) | undefined

/**
 * Returns the bytes that this process still needs. For `x.fresh.test.ts` only: in a shared worker, other files add to
 * it.
 */
export function usedMemory(): number {
  setFlagsFromString("--expose-gc")
  collectGarbage ??= runInNewContext("gc") as () => void
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
