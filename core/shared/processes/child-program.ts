import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { Log } from "../log.ts"
import { Child, ChildDied, dataSize, residentSize } from "./child.ts"
import { type FileAccess, wallsAround } from "./walls.ts"

export interface ProgramOptions {
  /** What it runs; the first thing it says is that it is ready. */
  readonly script: URL
  readonly flags?: readonly string[]
  /** What its work may take, beyond what the process has when it is ready. */
  readonly megabytes: number
  /** Its input is a pipe. What it prints nobody hears. */
  readonly input?: boolean
  /** What each of its processes may touch, whatever else it is given. */
  readonly files?: FileAccess
  readonly log?: Log | undefined
  /** What a system tells of a process. A test takes it away. */
  readonly sizes?: { readonly data: typeof dataSize; readonly resident: typeof residentSize }
}

export interface StartOptions {
  readonly words?: readonly string[]
  /** What this process may touch beside its code. */
  readonly files?: FileAccess
  readonly signal?: AbortSignal | undefined
}

/** What a test puts in the place of a program of ours. */
export type OtherProgram = Pick<ProgramOptions, "script" | "files">

const SHELL = "/bin/sh"

/** The last without the system's bound. */
const MAX_TRIES = 3

/** A program's size when it is ready, in kilobytes: the same for each of its processes on one machine. */
const measured = new Map<string, Promise<number | undefined>>()

/**
 * A program of Pawl that runs in separate processes, so that a crash or an endless loop affects only its own job. Its
 * processes have no settings and no secrets, can open only the files they are given, end with this process, and have bounded
 * memory. The memory that the runtime itself reserves differs by a gigabyte between machines, so the first process is
 * measured and the limit is set from that: docs/decisions/022-run-risky-work-in-processes.md.
 */
export class ChildProgram {
  readonly #options: ProgramOptions
  readonly #name: string
  readonly #key: string
  readonly #running = new Set<Child>()
  #closed = false

  constructor(options: ProgramOptions) {
    this.#options = options
    this.#name = basename(fileURLToPath(options.script)).replace(/\.\w+$/, "")
    this.#key = JSON.stringify([options.script.href, options.flags])
  }

  /** A process that is ready. Throws `ChildDied` where it does not become that, or what the signal was aborted with. */
  async start(options: StartOptions = {}): Promise<Child> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#begin(options, await this.#measure(options))
      } catch (error) {
        if (!(error instanceof ChildDied)) throw error
        measured.delete(this.#key)
        if (tries === MAX_TRIES || this.#closed) throw error
        // It may be larger by now, so it is measured anew; and a system that counts in a way of its own is left to count.
        if (tries === MAX_TRIES - 1) measured.set(this.#key, Promise.resolve(undefined))
      }
    }
  }

  /** Ends all its processes, also those that are not ready yet. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#running].map((child) => child.end()))
  }

  /** Undefined where memory is not bounded by the system. */
  #measure(options: StartOptions): Promise<number | undefined> {
    if (!existsSync(SHELL)) return Promise.resolve(undefined)
    const known = measured.get(this.#key)
    if (known) return known
    const measuring = this.#measureOne(options)
    measuring.catch(() => {}) // whoever waits for it is told, and has it measured anew
    measured.set(this.#key, measuring)
    return measuring
  }

  async #measureOne(options: StartOptions): Promise<number | undefined> {
    const child = this.#spawn(options)
    try {
      await child.hear()
      return this.#sizes.data(child.process.pid ?? 0)
    } finally {
      await child.end()
    }
  }

  async #begin(options: StartOptions, size: number | undefined): Promise<Child> {
    const child = this.#spawn(options, size)
    try {
      if (this.#closed) void child.end()
      await child.hear(options.signal)
      if (size === undefined) await this.#watch(child)
      // It may have become ready in the very moment in which it was ended.
      if (this.#closed) throw new ChildDied(this.#name, await child.end().then(() => child.ended))
      return child
    } catch (error) {
      await child.end()
      throw error
    }
  }

  async #watch(child: Child): Promise<void> {
    const resident = () => this.#sizes.resident(child.process.pid ?? 0)
    const size = await resident()
    if (size !== undefined) child.watch({ kilobytes: size + this.#options.megabytes * 1000, resident })
  }

  #spawn({ words = [], files }: StartOptions, size?: number): Child {
    const { script: address, flags = [], megabytes, input, log } = this.#options
    const script = fileURLToPath(address)
    const walls = wallsAround(script, [this.#options.files ?? {}, files ?? {}])
    const command = [process.execPath, ...flags, ...walls, script, ...words]
    const started = spawn(...(size === undefined ? plain(command) : limited(command, size + megabytes * 1000)), {
      // Nothing of what this process was told: no key, no address.
      env: {},
      stdio: [input ? "pipe" : "ignore", "ignore", "pipe", "ipc"],
      // What a terminal tells a group of processes is for this one, which ends its children when it has done its work.
      detached: process.platform !== "win32",
    })
    const child = new Child(this.#name, started, log)
    this.#running.add(child)
    void child.ended.then(() => this.#running.delete(child))
    return child
  }

  get #sizes() {
    return this.#options.sizes ?? { data: dataSize, resident: residentSize }
  }
}

type Command = [command: string, words: string[]]

const plain = ([command = "", ...words]: readonly string[]): Command => [command, words]

/** The system refuses it more: SQLite says then that there is no memory left, and goes on with the next. */
const limited = (command: readonly string[], kilobytes: number): Command => [
  SHELL,
  ["-c", `ulimit -d ${kilobytes}; exec "$0" "$@"`, ...command],
]
