import { type FatalWrite, interceptWrites, Mortal } from "../../../core/testing/crashing-store.ts"
import type { Journal } from "../../../core/engine/journal.ts"

export { Died, type FatalWrite as Death, Mortal } from "../../../core/testing/crashing-store.ts"

/** A journal whose process crashes at a write: it returns neither that write's result nor a later one. */
export function dyingAt(
  death: FatalWrite,
  journal: Journal,
): Journal & { readonly writes: number; readonly dead: boolean } {
  const life = new Mortal(death)
  const counters = { writes: { get: () => life.writes.length }, dead: { get: () => life.dead } }
  return Object.create(life.between(journal), counters) as ReturnType<typeof dyingAt>
}

/** A journal that does the n-th write and reports a time-out, then works as usual. */
export function timingOutAt(at: number, journal: Journal): Journal & { readonly writes: number } {
  let writes = 0
  const timingOut = interceptWrites(journal, async (write) => {
    const mine = ++writes
    const done = await write()
    if (mine === at) throw Object.assign(new Error("timed out waiting for the store"), { code: "store_unavailable" })
    return done
  })
  return Object.create(timingOut, { writes: { get: () => writes } }) as ReturnType<typeof timingOutAt>
}
