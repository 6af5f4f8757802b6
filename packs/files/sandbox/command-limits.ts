import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { totalmem } from "node:os"

export interface CommandLimits {
  /** The memory of all its processes together. */
  readonly megabytes: number
  readonly processes: number
  readonly openFiles: number
}

const LEAST_MEGABYTES = 512
/** Node reserves memory that it never uses, a gigabyte on some machines: docs/decisions/022-run-risky-work-in-processes.md. */
const RESERVED_MEGABYTES = 1200
const MEGABYTE = 1024 * 1024

/** True if the system lists the child processes of a process. */
const isWatched = existsSync(`/proc/self/task/${process.pid}/children`)

/** The limits of a command at this moment: half of the memory, and at most most of the free memory. */
export function commandLimits(): CommandLimits {
  const constrained = process.constrainedMemory() || Infinity
  const half = Math.min(totalmem(), constrained) / 2
  const megabytes = Math.max(LEAST_MEGABYTES, Math.floor(Math.min(half, process.availableMemory() * 0.8) / MEGABYTE))
  return { megabytes, processes: 1024, openFiles: 8192 }
}

/**
 * A shell that limits itself before it runs the command. Limits that the system or the shell does not support are
 * skipped, because `whyTooMuch` enforces them too. If memory runs out, the system kills this process first.
 */
export function limited(command: string, { megabytes, processes, openFiles }: CommandLimits): string[] {
  const most = processes + tasksOfThisUser()
  const bounds = [
    "ulimit -c 0",
    `ulimit -n ${openFiles}`,
    // Skipped if Pawl watches the processes itself: sanitizers reserve terabytes that they never use, and would not start.
    ...(isWatched ? [] : [`ulimit -d ${(megabytes + RESERVED_MEGABYTES) * 1024}`]),
    `{ ulimit -u ${most} || ulimit -p ${most}; }`,
    "echo 900 > /proc/self/oom_score_adj",
  ]
  return ["/bin/sh", "-c", `{ ${bounds.join("; ")}; } 2>/dev/null; exec /bin/sh -c "$0"`, command]
}

/** Counts all tasks of this user, because the limit counts them too; only newer systems count by namespace. */
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
 * Why a command must be killed: all its processes together are too many or too large. The limits of single processes do
 * not apply to root, nor to the sum of many processes. Undefined if it is within its limits.
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
    return [] // it has ended, or the system does not list it
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
