import { type ChildProcess, spawn } from "node:child_process"
import type { Socket } from "node:net"

/**
 * Remembers process ids from lines `+ 12` and `- 12`, and ends those processes when its input ends; `-12` is a process
 * group. The input ends when the process at the other end of the pipe is gone, whatever the cause, so no polling is
 * needed.
 */
const SCRIPT = `trap "" INT TERM HUP
pids=
while read -r sign pid; do
  left=
  for each in $pids; do [ "$each" = "$pid" ] || left="$left $each"; done
  pids=$left
  [ "$sign" = - ] || pids="$pids $pid"
done
for each in $pids; do kill -9 "$each"; done`

/**
 * Ends the children of a process that was killed. A child notices that its parent is gone, but not in the middle of a
 * query, when its only thread is busy. A small shell waits for the parent's end instead: one for all children, started
 * with the first.
 */
class OrphanGuard {
  readonly #pids = new Set<number>()
  #shell: ChildProcess | undefined

  /** A negative number is a process group. */
  add(pid: number): void {
    this.begin()
    this.#pids.add(pid)
    this.#tell(`+ ${pid}`)
  }

  /** Call it before starting a child that does not notice by itself, so that no child is unguarded. */
  begin(): void {
    if (!this.#shell) this.#start()
  }

  /** Call it at once when a child is gone, because its number may soon be another process's. */
  remove(pid: number): void {
    if (this.#pids.delete(pid)) this.#tell(`- ${pid}`)
  }

  #tell(line: string): void {
    this.#shell?.stdin?.write(`${line}\n`)
  }

  #start(): void {
    // In a session of its own, so that it does not receive a terminal's signals.
    const shell = spawn("/bin/sh", ["-c", SCRIPT], { env: {}, stdio: ["pipe", "ignore", "ignore"], detached: true })
    this.#shell = shell
    shell.on("error", () => {}) // no shell: the children check by themselves, and a container ends as a whole
    shell.stdin.on("error", () => {}) // the exit event follows
    shell.once("exit", () => (this.#shell = undefined)) // the next child starts it again
    shell.unref()
    ;(shell.stdin as Socket).unref()
    for (const pid of this.#pids) this.#tell(`+ ${pid}`)
  }
}

/** One per process. */
export const orphanGuard = new OrphanGuard()
