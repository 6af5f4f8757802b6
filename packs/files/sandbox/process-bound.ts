import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const CGROUPS = "/sys/fs/cgroup"
/** What the sandbox itself runs, beside the command. */
const OURS = 8
const MAX_TRIES = 10
const TRY_AGAIN_MS = 20

export interface ProcessBound extends AsyncDisposable {
  /** The same command, which counts from its first moment on. */
  enter(command: readonly string[]): string[]
}

/**
 * `ulimit -u` does not hold root, and a bomb of processes outruns whoever counts them: where we are root, the kernel counts
 * them, in a control group of the command's own. Undefined where there is no need, or no such group can be made, as in most
 * containers and services: there `whyTooMuch` has to do.
 */
export function boundProcesses(processes: number): ProcessBound | undefined {
  if (process.getuid?.() !== 0) return undefined
  const parent = findParent()
  if (parent === undefined) return undefined
  sweep(parent)
  const group = join(parent, `pawl-${process.pid}-${crypto.randomUUID()}`)
  try {
    mkdirSync(group)
    writeFileSync(join(group, "pids.max"), String(processes + OURS))
  } catch {
    remove(group)
    return undefined
  }
  return {
    enter: (command) => [
      "/bin/sh",
      "-c",
      'echo $$ 2>/dev/null > "$0"; exec "$@"',
      join(group, "cgroup.procs"),
      ...command,
    ],
    async [Symbol.asyncDispose]() {
      // Its last processes are still dying, for a moment.
      for (let tries = 0; tries < MAX_TRIES && !remove(group); tries++) await sleep(TRY_AGAIN_MS)
    },
  }
}

/**
 * Our own group, below which others are counted: of the old hierarchy of processes, or of the new one where it counts them.
 * Never one above us: a command there would leave the walls that whoever runs us has put around us, and outlive us.
 */
function findParent(): string | undefined {
  // Each line: a number, the controllers of a hierarchy (none for the new one), where we are in it.
  const lines = read("/proc/self/cgroup")
    .split("\n")
    .map((line) => line.split(":"))
  const old = lines.find(([, controllers = ""]) => controllers.split(",").includes("pids"))?.[2]
  if (old !== undefined) return join(CGROUPS, "pids", old)
  const unified = lines.find(([, controllers]) => controllers === "")?.[2]
  if (unified === undefined) return undefined
  const own = join(CGROUPS, unified)
  return read(join(own, "cgroup.subtree_control")).split(/\s/).includes("pids") ? own : undefined
}

/** Those of servers that were killed. */
function sweep(parent: string): void {
  for (const name of list(parent)) {
    const [, owner] = /^pawl-(\d+)-/.exec(name) ?? []
    if (owner !== undefined && read(`/proc/${owner}/stat`) === "") remove(join(parent, name))
  }
}

function remove(group: string): boolean {
  try {
    rmdirSync(group)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT"
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}
