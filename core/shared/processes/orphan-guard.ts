import { type ChildProcess, spawn } from "node:child_process"
import type { Socket } from "node:net"

/**
 * Remembers process ids, told by lines `+ 12` and `- 12`, and ends those processes when its input ends; `-12` is the group
 * of that process. That is when the process at the other end of the pipe is gone, however it went: nobody has to look at a clock.
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
 * Ends the children of a process that was killed. A child notices by itself that its parent is gone, but not while it is in
 * the middle of a query: then its only thread is busy. A small shell beside this process waits for its end instead, one
 * for all children, started with the first.
 */
class OrphanGuard {
  readonly #pids = new Set<number>()
  #shell: ChildProcess | undefined

  /** Below 0: all that is in the group of that number. */
  add(pid: number): void {
    this.begin()
    this.#pids.add(pid)
    this.#tell(`+ ${pid}`)
  }

  /** To be called before a child starts that does not notice by itself: what is started after it is a moment in which both are alone. */
  begin(): void {
    if (!this.#shell) this.#start()
  }

  /** To be called at once when a child is gone: its number may soon be another process's. */
  remove(pid: number): void {
    if (this.#pids.delete(pid)) this.#tell(`- ${pid}`)
  }

  #tell(line: string): void {
    this.#shell?.stdin?.write(`${line}\n`)
  }

  #start(): void {
    // A session of its own: what a terminal tells a group of processes, it does not hear.
    const shell = spawn("/bin/sh", ["-c", SCRIPT], { env: {}, stdio: ["pipe", "ignore", "ignore"], detached: true })
    this.#shell = shell
    shell.on("error", () => {}) // no shell: the children have their own look-out, and a container ends as a whole
    shell.stdin.on("error", () => {}) // its exit follows
    shell.once("exit", () => (this.#shell = undefined)) // the next child starts it again
    shell.unref()
    ;(shell.stdin as Socket).unref()
    for (const pid of this.#pids) this.#tell(`+ ${pid}`)
  }
}

/** One for this process. */
export const orphanGuard = new OrphanGuard()
