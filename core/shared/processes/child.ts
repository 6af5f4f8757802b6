import { type ChildProcess, execFile } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import type { Socket } from "node:net"
import type { Readable } from "node:stream"
import type { Log } from "../log.ts"
import { orphanGuard } from "./orphan-guard.ts"

/** How a process ended. */
interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The last of what it said on stderr. */
  readonly stderr: string
  /** Why, where we know more than the system does. */
  readonly problem?: string
  /** Ended by us, because its work took more memory than it may. */
  readonly tooLarge: boolean
}

/** Somebody waited for a child's answer, and it has ended instead. */
export class ChildDied extends Error {
  override name = "ChildDied"
  readonly ending: ProcessEnd

  constructor(program: string, ending: ProcessEnd) {
    super(`${program} ended (${ending.problem ?? ending.signal ?? `exit code ${ending.code}`})`)
    this.ending = ending
  }
}

/** How long what it said is waited for after its exit: something else may hold its pipes open. */
const LAST_WORDS_MS = 500
const TOO_LARGE = "its work took too much memory"

/** A process that does work for this one. When it dies and nobody has ended it, the log is told how, and what it said. */
export class Child {
  readonly process: ChildProcess
  readonly ended: Promise<ProcessEnd>
  readonly #program: string
  #expected = false
  #problem: string | undefined
  #ending: ProcessEnd | undefined
  #tellHearer: (() => void) | undefined
  #watch: MemoryWatch | undefined

  constructor(program: string, process: ChildProcess, log: Log | undefined) {
    this.#program = program
    this.process = process
    const stderr = new Tail(process.stderr)
    ;(process.stderr as Socket | null)?.unref()
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>()
    this.ended = promise
    const finish = (code: number | null, signal: NodeJS.Signals | null) => {
      const why = this.#problem === undefined ? {} : { problem: this.#problem }
      const ending = { code, signal, stderr: stderr.text, ...why, tooLarge: this.#problem === TOO_LARGE }
      this.#ending = ending
      this.#watch?.stop()
      if (!this.#expected && (code !== 0 || this.#problem || this.#tellHearer))
        log?.warn("child_failed", { program, pid: process.pid, ...ending })
      resolve(ending)
      this.#tellHearer?.()
    }
    process.once("exit", (code, signal) => {
      if (process.pid !== undefined) orphanGuard.remove(process.pid)
      const closed = once(process, "close", { signal: AbortSignal.timeout(LAST_WORDS_MS) })
      void closed.catch(() => {}).then(() => finish(code, signal))
    })
    process.on("error", (error) => {
      this.#problem ??= error.message
      if (process.pid === undefined) finish(null, null) // it was never there
    })
    if (process.pid !== undefined) orphanGuard.add(process.pid)
  }

  get alive(): boolean {
    return this.process.pid !== undefined && this.process.exitCode === null && this.process.signalCode === null
  }

  /** A child that cannot be told anything any more is ended, so that whoever waits for its answer hears of it. */
  send(message: object | string): void {
    this.process.send(message, (error) => {
      if (error && this.alive) this.#kill(error.message)
    })
  }

  /** What it says next, to one who asks. Throws `ChildDied`, or what the signal was aborted with. */
  hear(signal?: AbortSignal): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const stop = () => reject(signal?.reason)
    const died = () => this.#ending && reject(new ChildDied(this.#program, this.#ending))
    this.process.once("message", resolve)
    signal?.addEventListener("abort", stop, { once: true })
    this.#tellHearer = died
    died()
    if (signal?.aborted) stop()
    return promise.finally(() => {
      this.process.off("message", resolve)
      signal?.removeEventListener("abort", stop)
      this.#tellHearer = undefined
    })
  }

  /** This process does not end before it. */
  hold(): void {
    this.process.ref()
    this.process.channel?.ref()
    this.#watch?.start()
  }

  /** This process may end without it. */
  release(): void {
    this.process.unref()
    this.process.channel?.unref()
    this.#watch?.stop()
  }

  /** Ends it when it has become larger than this, looked at while it is held. */
  watch(bound: MemoryBound): void {
    this.#watch = new MemoryWatch(bound, () => this.alive && this.#kill(TOO_LARGE))
    this.#watch.start()
  }

  /** Resolves when it is gone. */
  async end(): Promise<void> {
    if (this.alive) {
      this.#expected = true
      this.process.kill("SIGKILL")
      // It may have been released: a process that has nothing else to do would end here, in the middle of its own end.
      this.process.ref()
      ;(this.process.stderr as Socket | null)?.ref()
    }
    await this.ended
  }

  /** For a reason that the log is told. */
  #kill(problem: string): void {
    this.#problem ??= problem
    this.process.kill("SIGKILL")
  }
}

/** Kilobytes of memory that a process may write to, as RLIMIT_DATA counts them; undefined where the system does not tell. */
export const dataSize = (pid: number): number | undefined => sizeIn(pid, "VmData")

/** Kilobytes of memory that a process really holds; undefined where the system does not tell. */
export async function residentSize(pid: number): Promise<number | undefined> {
  const told = sizeIn(pid, "VmRSS")
  if (told !== undefined) return told
  return new Promise((resolve) => {
    execFile("ps", ["-o", "rss=", "-p", String(pid)], (_error, stdout) => {
      const kilobytes = Number.parseInt(stdout, 10)
      resolve(Number.isNaN(kilobytes) ? undefined : kilobytes)
    })
  })
}

function sizeIn(pid: number, name: string): number | undefined {
  try {
    const [, kilobytes] =
      new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    return kilobytes === undefined ? undefined : Number(kilobytes)
  } catch {
    return undefined // no such process, or no such folder
  }
}

const LOOK_EVERY_MS = 250

interface MemoryBound {
  readonly kilobytes: number
  /** What the process holds now; undefined where nobody knows. */
  resident(): Promise<number | undefined>
}

/** The bound of a process's memory where the system keeps none: we look now and then whether it has become too large. */
class MemoryWatch {
  readonly #bound: MemoryBound
  readonly #tooLarge: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(bound: MemoryBound, tooLarge: () => void) {
    this.#bound = bound
    this.#tooLarge = tooLarge
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #look(): Promise<void> {
    const now = await this.#bound.resident()
    if (now !== undefined && now > this.#bound.kilobytes && this.#timer) this.#tooLarge()
  }
}

const MAX_BYTES = 4096

/** The end of what somebody says, for the log: what a program says last tells why it died. */
export class Tail {
  #bytes = Buffer.alloc(0)

  constructor(stream: Readable | null | undefined) {
    stream?.on("data", (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(-MAX_BYTES)]).subarray(-MAX_BYTES)
    })
    stream?.on("error", () => {}) // what came before is all there is
  }

  get text(): string {
    return this.#bytes.toString().trim()
  }
}
