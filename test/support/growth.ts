import { countProcessor } from "./worked.ts"

interface TwoSizes {
  readonly small: () => unknown
  readonly large: () => unknown
  /** Up to here it is taken for what it should be. */
  readonly most: number
  /** How often both are measured at least; once is enough for what has run a few times already. */
  readonly least?: number
}

const LEAST_ROUNDS = 3
const MOST_ROUNDS = 12

/**
 * How many times as much of the processor the larger of two takes. A machine that is slow is so for both; what a busy one
 * adds is only ever added, so they are measured in turns, and the least of each is told. Where that is too much they are
 * measured again: only growth that is there each time stays.
 */
export async function growthOf({ small, large, most, least = LEAST_ROUNDS }: TwoSizes): Promise<number> {
  let [ofSmall, ofLarge] = [Infinity, Infinity]
  // The first rounds are no measure: what runs for the first time takes many times as much, above all in the small one.
  for (let round = 1; round <= least || (ofLarge / ofSmall > most && round <= MOST_ROUNDS); round++) {
    ofSmall = Math.min(ofSmall, await workOfOne(small))
    ofLarge = Math.min(ofLarge, await workOfOne(large))
  }
  return ofLarge / ofSmall
}

/** Whether it takes less of the processor than this, in one of a few tries. */
export async function takesLess(ms: number, work: () => unknown): Promise<boolean> {
  for (let round = 0; round < LEAST_ROUNDS; round++) if ((await workOf(work)) < ms) return true
  return false
}

/** Some systems count the processor in steps of ten milliseconds: so often is it done that these do not matter. */
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
