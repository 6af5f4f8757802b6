import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { totalmem } from "node:os"

export interface CommandLimits {
  /** Memory of all its processes together. */
  readonly megabytes: number
  readonly processes: number
  readonly openFiles: number
}

const LEAST_MEGABYTES = 512
/** Node reserves memory that it never uses, a gigabyte on some machines: docs/decisions/022-run-risky-work-in-processes.md. */
const RESERVED_MEGABYTES = 1200
const MEGABYTE = 1024 * 1024

/** Whether this system tells which processes a process has started. */
const isWatched = existsSync(`/proc/self/task/${process.pid}/children`)

/** The limits of a command at this moment: half of the memory, and at most most of the free memory. */
export function commandLimits(): CommandLimits {
  const constrained = process.constrainedMemory() || Infinity
  const half = Math.min(totalmem(), constrained) / 2
  const megabytes = Math.max(LEAST_MEGABYTES, Math.floor(Math.min(half, process.availableMemory() * 0.8) / MEGABYTE))
  return { megabytes, processes: 1024, openFiles: 8192 }
}

/**
 * A shell that bounds itself before it becomes the command. What a system or a shell does not know is passed over: `watch`
 * sees to it too. Who has no memory left, the system looks for here first.
 */
export function limited(command: string, { megabytes, processes, openFiles }: CommandLimits): string[] {
  const most = processes + tasksOfThisUser()
  const bounds = [
    "ulimit -c 0",
    `ulimit -n ${openFiles}`,
    // Not if all its processes are watched: sanitizers reserve terabytes that they never use, and would not start.
    ...(isWatched ? [] : [`ulimit -d ${(megabytes + RESERVED_MEGABYTES) * 1024}`]),
    `{ ulimit -u ${most} || ulimit -p ${most}; }`,
    "echo 900 > /proc/self/oom_score_adj",
  ]
  return ["/bin/sh", "-c", `{ ${bounds.join("; ")}; } 2>/dev/null; exec /bin/sh -c "$0"`, command]
}

/** The bound counts all that a user runs, in whichever window; only newer systems count by namespace. */
function tasksOfThisUser(): number {
  try {
    const mine = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isMine(`/proc/${name}`))
    return mine.reduce((sum, pid) => sum + sizeOf(pid, "Threads"), 0)
  } catch {
    return 0 // no such folder
  }
}

const isMine = (path: string) => statSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.()

/**
 * Why a command has to be ended: all that it has started, together, is too many or too large. The bounds of single
 * processes do not hold root, nor a hundred processes below each of them. Undefined where it is within its limits.
 */
export function whyTooMuch(pid: number, { megabytes, processes }: CommandLimits): string | undefined {
  const seen = [pid]
  let kilobytes = 0
  for (const each of seen) {
    kilobytes += sizeOf(each, "RssAnon") + sizeOf(each, "RssShmem")
    seen.push(...childrenOf(each))
    if (seen.length > processes) return `more than ${processes} processes`
    if (kilobytes > megabytes * 1024) return `more than ${megabytes} MB of memory`
  }
  return undefined
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    )
  } catch {
    return [] // gone meanwhile, or a system that does not tell
  }
}

function sizeOf(pid: number | string, name: string): number {
  try {
    const [, size] = new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    return Number(size ?? 0)
  } catch {
    return 0
  }
}
