import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** The measurements of a workload, by name. */
export type Numbers = Readonly<Record<string, number>>

export function quantile(values: readonly number[], q: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** CPU time of this process so far, all threads, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** The bytes that this process has passed to write(2), in all threads; NaN if the system does not report them. */
export function bytesWritten(): number {
  try {
    return Number(/^wchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1])
  } catch {
    return Number.NaN
  }
}

/** Size of everything in a folder. */
export function folderBytes(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.reduce(
    (sum, entry) => (entry.isFile() ? sum + statSync(join(entry.parentPath, entry.name)).size : sum),
    0,
  )
}

/** The heap in use after garbage collection. Needs --expose-gc. */
export async function settledHeap(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await sleep(10)
  }
  return process.memoryUsage().heapUsed
}

export class CheckFailed extends Error {
  override readonly name = "CheckFailed"
}

/** Throws unless `holds`: a contender that loses, reorders or invents messages fails. */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new CheckFailed(what)
}

export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
