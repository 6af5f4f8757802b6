/** What one round takes where the bounds were written: a quiet core of a small server. */
const USUAL_MS = 3.3
const ROUNDS = 6

const sample = Array.from({ length: 3000 }, (_, n) => ({ id: `row_${n}`, text: `Some words ${n * 7919}`, at: n / 4 }))

/** A bit of everything that programs do: memory, text, numbers. Always the same. */
function round(): number {
  const copy = JSON.parse(JSON.stringify(sample)) as typeof sample
  let sum = 0
  for (const { id, text, at } of copy) sum += text.replaceAll(/\d+/g, id).length + at
  return sum
}

/**
 * How many times slower than usual this machine is at the moment, by a clock: that of the wall, or the processor's. Never
 * less than once, so that a quick one does not make a bound narrower. Faults of ours do not change it: nothing of ours runs.
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
