import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { Log } from "../log.ts"
import { Child, ChildDied, dataSize, residentSize } from "./child.ts"
import { type FileAccess, permissionFlags } from "./permission-flags.ts"

export interface ProgramOptions {
  /** Its first message says that it is ready. */
  readonly script: URL
  readonly flags?: readonly string[]
  /** How much memory its work may use, in addition to that of the idle process. */
  readonly megabytes: number
  /** Its input is a pipe. Its output is discarded. */
  readonly input?: boolean
  /** The files that each of its processes may access. */
  readonly files?: FileAccess
  readonly log?: Log | undefined
  /** Reads a process's size. Tests remove these. */
  readonly sizes?: { readonly data: typeof dataSize; readonly resident: typeof residentSize }
}

export interface StartOptions {
  readonly words?: readonly string[]
  /** The files that this process may access in addition to its code. */
  readonly files?: FileAccess
  readonly signal?: AbortSignal | undefined
}

/** Replaces one of our programs in a test. */
export type OtherProgram = Pick<ProgramOptions, "script" | "files">

const SHELL = "/bin/sh"

/** The last try is without the system's limit. */
const MAX_TRIES = 3

/** The size of an idle program in kilobytes, which is the same for each of its processes on one machine. */
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

  /** Starts a process and waits until it is ready. Throws `ChildDied` if it fails, or the signal's reason. */
  async start(options: StartOptions = {}): Promise<Child> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#begin(options, await this.#measure(options))
      } catch (error) {
        if (!(error instanceof ChildDied)) throw error
        measured.delete(this.#key)
        if (tries === MAX_TRIES || this.#closed) throw error
        // It may have grown, so it is measured again. If the system counts differently, its limit is not used.
        if (tries === MAX_TRIES - 1) measured.set(this.#key, Promise.resolve(undefined))
      }
    }
  }

  /** Ends all its processes, including those that are still starting. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#running].map((child) => child.end()))
  }

  /** Undefined if the system does not limit memory. */
  #measure(options: StartOptions): Promise<number | undefined> {
    if (!existsSync(SHELL)) return Promise.resolve(undefined)
    const known = measured.get(this.#key)
    if (known) return known
    const measuring = this.#measureOne(options)
    measuring.catch(() => {}) // callers get the error, and the next one measures again
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
      // It may have become ready while it was being ended.
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
    const walls = permissionFlags(script, [this.#options.files ?? {}, files ?? {}])
    const command = [process.execPath, ...flags, ...walls, script, ...words]
    const started = spawn(...(size === undefined ? plain(command) : limited(command, size + megabytes * 1000)), {
      // Without this process's environment, which contains keys and addresses.
      env: {},
      stdio: [input ? "pipe" : "ignore", "ignore", "pipe", "ipc"],
      // A terminal signals its whole process group. Only this process must get that, because it ends its children when
      // its work is done.
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

/**
 * The system denies it more memory. SQLite then reports that it is out of memory, and continues with the next query.
 */
const limited = (command: readonly string[], kilobytes: number): Command => [
  SHELL,
  ["-c", `ulimit -d ${kilobytes}; exec "$0" "$@"`, ...command],
]
