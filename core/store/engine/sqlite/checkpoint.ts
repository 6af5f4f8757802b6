import { closeSync, openSync, readSync } from "node:fs"
import type { Worker } from "node:worker_threads"
import type { Log } from "../../../shared/log.ts"
import { siblingScript, startThread } from "../../../shared/processes/thread.ts"

/** The length of the log that starts a checkpoint. */
const LOG_BYTES = 16 * 1024 * 1024
/** Beyond this, writers pause so that the thread can catch up. */
const BEHIND_BYTES = 4 * LOG_BYTES
/** The length is checked once in this many commits. */
const CHECK_EVERY_COMMITS = 64

/** Keeps the write-ahead log short. A checkpoint needs fsyncs, so a thread does it. The thread is started on demand. */
export class Checkpoints {
  readonly #file: string
  readonly #logger: Log | undefined
  #wal: number | undefined
  #commits = 0
  #worker: Worker | undefined
  #busy = false
  /** The log grows faster than checkpoints shorten it. */
  isBehind = false

  constructor(file: string, logger?: Log) {
    this.#file = file
    this.#logger = logger
  }

  /** To be called after every commit. */
  committed(): void {
    if (++this.#commits % CHECK_EVERY_COMMITS !== 0) return
    const wal = (this.#wal ??= openSync(`${this.#file}-wal`, "r"))
    if (this.#busy) this.isBehind = isWalAtLeast(wal, BEHIND_BYTES)
    else if (isWalAtLeast(wal, LOG_BYTES)) this.#run()
  }

  async close(): Promise<void> {
    const wal = this.#wal
    this.#wal = undefined // closed once: by a second time its number may be another file's
    await this.#worker?.terminate()
    if (wal !== undefined) closeSync(wal)
  }

  #run(): void {
    this.#busy = true
    this.#worker ??= this.#start()
    this.#worker.postMessage("checkpoint")
  }

  #start(): Worker {
    const script = siblingScript(import.meta.url, "checkpoint-thread")
    // If the thread fails, the log stays long and a later commit tries again.
    const worker = startThread(script, { workerData: this.#file, log: this.#logger })
    worker.unref()
    worker.on("message", () => this.#ended())
    worker.on("exit", () => {
      this.#worker = undefined
      this.#ended()
    })
    return worker
  }

  #ended(): void {
    this.#busy = this.isBehind = false
  }
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const header = Buffer.alloc(HEADER_BYTES)
const frame = Buffer.alloc(FRAME_HEADER_BYTES)

/**
 * Whether the log has at least this many bytes. Its file never shrinks: a restarted log overwrites the old one, and its
 * frames have the salts of the current header (https://sqlite.org/fileformat2.html#walformat).
 */
export function isWalAtLeast(wal: number, bytes: number): boolean {
  if (readSync(wal, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8)
  const at = HEADER_BYTES + Math.floor((bytes - HEADER_BYTES) / frameBytes) * frameBytes
  if (readSync(wal, frame, 0, FRAME_HEADER_BYTES, at) < FRAME_HEADER_BYTES) return false
  return frame.compare(header, 16, 24, 8, 16) === 0
}
