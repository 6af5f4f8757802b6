import { slownessOf } from "./slowness.ts"

/**
 * Begins to count; tells the milliseconds of the processor that this thread has had since. Unlike those of a clock they do
 * not pass while a busy machine does other things.
 */
export function countProcessor(): () => number {
  const began = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(began)
    return (user + system) / 1000
  }
}

/** Less than this no bound is about: it is told as it is. */
const LITTLE_MS = 20

/**
 * The same in milliseconds of the machine for which the bounds were written, so that a bound holds on any: one whose
 * processor is slower, or of whose time others take a part, is measured, and its work told as what it would be there.
 */
export function countWork(): () => number {
  const counted = countProcessor()
  return () => asUsual(counted())
}

/** Milliseconds of this processor as those of the usual one. */
export const asUsual = (ms: number): number => (ms < LITTLE_MS ? ms : ms / slownessOf(countProcessor))
