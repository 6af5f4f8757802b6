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
  /** The last of its stderr. */
  readonly stderr: string
  /** The cause, if we know more than the system. */
  readonly problem?: string
  /** We ended it because it used too much memory. */
  readonly tooLarge: boolean
}

/** A child ended while its response was waited for. */
export class ChildDied extends Error {
  override name = "ChildDied"
  readonly ending: ProcessEnd

  constructor(program: string, ending: ProcessEnd) {
    super(`${program} ended (${ending.problem ?? ending.signal ?? `exit code ${ending.code}`})`)
    this.ending = ending
  }
}

/** How long output is waited for after the exit, because another process may hold the pipes open. */
const LAST_WORDS_MS = 500
const TOO_LARGE = "its work took too much memory"

/** A process that works for this one. If it ends unexpectedly, its exit and its last output are logged. */
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
      if (process.pid === undefined) finish(null, null) // it was never started
    })
    if (process.pid !== undefined) orphanGuard.add(process.pid)
  }

  get alive(): boolean {
    return this.process.pid !== undefined && this.process.exitCode === null && this.process.signalCode === null
  }

  /** A child that cannot receive messages is ended, so that callers waiting for its response get an error. */
  send(message: object | string): void {
    this.process.send(message, (error) => {
      if (error && this.alive) this.#kill(error.message)
    })
  }

  /** Its next message, for one caller. Throws `ChildDied`, or the signal's reason. */
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

  /** This process does not exit before it. */
  hold(): void {
    this.process.ref()
    this.process.channel?.ref()
    this.#watch?.start()
  }

  /** This process may exit without it. */
  release(): void {
    this.process.unref()
    this.process.channel?.unref()
    this.#watch?.stop()
  }

  /** Ends it if it becomes larger than this, polled while it is held. */
  watch(bound: MemoryBound): void {
    this.#watch = new MemoryWatch(bound, () => this.alive && this.#kill(TOO_LARGE))
    this.#watch.start()
  }

  /** Resolves when it has exited. */
  async end(): Promise<void> {
    if (this.alive) {
      this.#expected = true
      this.process.kill("SIGKILL")
      // It may have been released. Without this, a process with nothing else to do would exit during the wait.
      this.process.ref()
      ;(this.process.stderr as Socket | null)?.ref()
    }
    await this.ended
  }

  /** Ends it and logs the reason. */
  #kill(problem: string): void {
    this.#problem ??= problem
    this.process.kill("SIGKILL")
  }
}

/**
 * Kilobytes of memory that a process may write to, as RLIMIT_DATA counts them; undefined if the system does not tell.
 */
export const dataSize = (pid: number): number | undefined => sizeIn(pid, "VmData")

/** Kilobytes of resident memory; undefined if the system does not tell. */
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
  /** The current resident memory; undefined if it is unknown. */
  resident(): Promise<number | undefined>
}

/** Limits a process's memory if the system cannot, by polling its size. */
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

/** The end of an output, for the log: a program's last lines usually say why it failed. */
export class Tail {
  #bytes = Buffer.alloc(0)

  constructor(stream: Readable | null | undefined) {
    stream?.on("data", (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(-MAX_BYTES)]).subarray(-MAX_BYTES)
    })
    stream?.on("error", () => {}) // there is nothing after it
  }

  get text(): string {
    return this.#bytes.toString().trim()
  }
}
