/**
 * Loaded into a process before anything else (`node --import`): the time of day is ahead by as many milliseconds as the
 * file says that SHIFTED_CLOCK names, or behind, and jumps whenever the file changes. What only ever grows, such as timers and
 * `performance.now`, is left alone, as it is on a machine whose clock is set.
 */
import { readFileSync } from "node:fs"

const LOOK_MS = 50
const file = process.env.SHIFTED_CLOCK ?? ""
const RealDate = Date

let aheadMs = 0
function look(): void {
  try {
    aheadMs = Number(readFileSync(file, "utf8"))
  } catch {
    // The clock has not been set.
  }
}
look()
setInterval(look, LOOK_MS).unref()

globalThis.Date = new Proxy(RealDate, {
  construct: (real, given, target) =>
    Reflect.construct(real, given.length === 0 ? [real.now() + aheadMs] : given, target) as object,
  apply: () => new RealDate(RealDate.now() + aheadMs).toString(),
  get: (real, name) => (name === "now" ? () => real.now() + aheadMs : Reflect.get(real, name)),
})
