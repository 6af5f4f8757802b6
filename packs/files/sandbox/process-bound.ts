import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const CGROUPS = "/sys/fs/cgroup"
/** Processes of the sandbox itself. */
const OURS = 8
const MAX_TRIES = 10
const TRY_AGAIN_MS = 20

export interface ProcessBound extends AsyncDisposable {
  /** The command, wrapped so that it is counted from its start. */
  enter(command: readonly string[]): string[]
}

/**
 * Limits a command's processes if the server runs as root. `ulimit -u` does not apply to root, and a fork bomb is faster
 * than a process that counts, so the kernel counts in a control group of the command. Undefined if the limit is not
 * needed, or if no such group can be created, as in most containers and services. `whyTooMuch` limits processes there.
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
      // Its last processes may still be ending.
      for (let tries = 0; tries < MAX_TRIES && !remove(group); tries++) await sleep(TRY_AGAIN_MS)
    },
  }
}

/**
 * Our own control group, of version 1 or 2, in which the new one is created. Never a group above ours: a command there
 * would escape the limits of our own process, and outlive it.
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

/** Removes the groups of servers that were killed. */
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
