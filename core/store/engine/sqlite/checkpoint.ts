import { closeSync, openSync, readSync } from "node:fs"
import type { Worker } from "node:worker_threads"
import type { Log } from "../../../shared/log.ts"
import { besideModule, startThread } from "../../../shared/processes/thread.ts"

/** How long the log may grow before it is folded into the database. */
const LOG_BYTES = 16 * 1024 * 1024
/** Longer than this, writers have to wait a moment so that the thread gets its turn. */
const PRESSING_BYTES = 4 * LOG_BYTES
/** The length is looked at once in so many commits. */
const EVERY = 64

/**
 * Keeps the write-ahead log short. Folding it in means fsyncs, so a thread does it; it is started when first needed, and
 * a server with little to do never needs it.
 */
export class Checkpoints {
  readonly #file: string
  /** The program's log; `log` here is the write-ahead log. */
  readonly #toTell: Log | undefined
  #log: number | undefined
  #commits = 0
  #worker: Worker | undefined
  #busy = false
  /** The log has grown faster than it could be folded in. */
  pressing = false

  constructor(file: string, toTell?: Log) {
    this.#file = file
    this.#toTell = toTell
  }

  /** To be called after every commit. */
  committed(): void {
    if (++this.#commits % EVERY !== 0) return
    const log = (this.#log ??= openSync(`${this.#file}-wal`, "r"))
    if (this.#busy) this.pressing = reaches(log, PRESSING_BYTES)
    else if (reaches(log, LOG_BYTES)) this.#run()
  }

  async close(): Promise<void> {
    const log = this.#log
    this.#log = undefined // closed once: by a second time its number may be another file's
    await this.#worker?.terminate()
    if (log !== undefined) closeSync(log)
  }

  #run(): void {
    this.#busy = true
    this.#worker ??= this.#start()
    this.#worker.postMessage("checkpoint")
  }

  #start(): Worker {
    const script = besideModule(import.meta.url, "checkpoint-thread")
    // When it dies the log stays long, and the next commits try again.
    const worker = startThread(script, { workerData: this.#file, log: this.#toTell })
    worker.unref()
    worker.on("message", () => this.#ended())
    worker.on("exit", () => {
      this.#worker = undefined
      this.#ended()
    })
    return worker
  }

  #ended(): void {
    this.#busy = this.pressing = false
  }
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const header = Buffer.alloc(HEADER_BYTES)
const frame = Buffer.alloc(FRAME_HEADER_BYTES)

/**
 * Whether the log is so long. Its file never gets shorter: a log that begins anew overwrites the old one from the start,
 * and what is of now carries the two numbers of chance that stand in its header (https://sqlite.org/fileformat2.html#walformat).
 */
export function reaches(log: number, bytes: number): boolean {
  if (readSync(log, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8)
  const at = HEADER_BYTES + Math.floor((bytes - HEADER_BYTES) / frameBytes) * frameBytes
  if (readSync(log, frame, 0, FRAME_HEADER_BYTES, at) < FRAME_HEADER_BYTES) return false
  return frame.compare(header, 16, 24, 8, 16) === 0
}
