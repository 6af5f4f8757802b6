/**
 * Loaded into a process before its program (`node --import`): measures how long its event loop blocks and how much
 * memory it uses, and reports them to its parent on request. Costs a timer of 10 ms.
 */
import { readdirSync } from "node:fs"
import { quantile } from "../meters.ts"

export interface Probed {
  /** The delay of a timer of 10 ms in milliseconds, since the last probe. */
  readonly delayP99: number
  readonly delayMax: number
  /** The part of it in which this thread was busy: the delay on a machine that is otherwise idle. */
  readonly heldP99: number
  readonly heldMax: number
  /** The maximum since the last probe, and the current value, in megabytes. */
  readonly peakRssMb: number
  readonly rssMb: number
  readonly heapMb: number
  readonly externalMb: number
  /** Open files and sockets (NaN if the system does not report them), and active handles of the event loop. */
  readonly files: number
  readonly handles: number
  /** CPU time of the process since its start, in milliseconds. */
  readonly cpuMs: number
}

const MB = 1024 * 1024
const TICK_MS = 10
let [delays, held]: [number[], number[]] = [[], []]
let peak = 0
let last = { at: performance.now(), worked: threadMs() }

function tick(): void {
  const now = { at: performance.now(), worked: threadMs() }
  const late = Math.max(0, now.at - last.at - TICK_MS)
  delays.push(late)
  held.push(Math.min(late, now.worked - last.worked))
  last = now
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function openFiles(): number {
  try {
    return readdirSync("/proc/self/fd").length
  } catch {
    return Number.NaN
  }
}

const look = () => void (peak = Math.max(peak, process.memoryUsage.rss()))

if (process.send) {
  setInterval(tick, TICK_MS).unref()
  setInterval(look, 50).unref()
  process.on("message", (asked) => {
    if (asked !== "probe") return
    look()
    const { rss, heapUsed, external } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    const told: Probed = {
      ...{ delayP99: quantile(delays, 0.99), delayMax: Math.max(...delays) },
      ...{ heldP99: quantile(held, 0.99), heldMax: Math.max(...held) },
      ...{ peakRssMb: peak / MB, rssMb: rss / MB, heapMb: heapUsed / MB, externalMb: external / MB },
      ...{ files: openFiles(), handles: process.getActiveResourcesInfo().length },
      cpuMs: (user + system) / 1000,
    }
    delays = []
    held = []
    peak = 0
    process.send?.(told)
  })
  // The channel must not keep the process alive.
  process.channel?.unref()
}
