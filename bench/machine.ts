import { execFileSync } from "node:child_process"
import { cpus, loadavg, totalmem } from "node:os"
import { median } from "./meters.ts"
import { slowness } from "./slowness.ts"

export interface Machine {
  readonly node: string
  readonly cpu: string
  readonly arch: string
  readonly cores: number
  readonly memoryGb: number
  readonly load: number
  readonly commit: string
  /** The time of `node -e 0`, a lower bound for every program. */
  readonly nodeStartMs: number
  /** How much longer than on the reference machine a piece of work takes here. */
  readonly slowness: number
}

/** Describes the machine of the measurements. */
export function describeMachine(): Machine {
  const [cpu] = cpus()
  return {
    node: process.version,
    cpu: cpu?.model ?? "unknown",
    arch: process.arch,
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    load: loadavg()[0] ?? 0,
    commit: commit(),
    nodeStartMs: Math.round(median(Array.from({ length: 5 }, startNode))),
    slowness: slowness(),
  }
}

function startNode(): number {
  const from = performance.now()
  execFileSync(process.execPath, ["-e", "0"])
  return performance.now() - from
}

function commit(): string {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty"], {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: "pipe",
    }).trim()
  } catch {
    return "unknown"
  }
}
