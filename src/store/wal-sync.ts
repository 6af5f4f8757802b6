import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs"

/** A disk that is faster than this is waited for: the way to the thread and back would take about as long. */
const FAST_MS = 0.25
/** After a slow one so many go through the thread before the disk is tried again. */
const CAUTION = 100

interface Waiting {
  resolve(): void
  reject(error: Error): void
}

/**
 * Brings the write-ahead log to the disk without stopping the event loop. SQLite itself would fsync inside COMMIT, on the
 * thread that commits; here the commit is handed to the operating system at once and counts when this resolves. One
 * call to the disk serves everybody who came before it began.
 */
export class WalSync {
  readonly #fd: number
  readonly #now: () => number
  #waiting: Waiting[] = []
  readonly #failed: (error: Error) => void
  #busy = false
  #failure: Error | undefined
  #caution = 0

  /** `file` is the database's; its log must exist. `failed` is called once, when only a new start can heal it. */
  constructor(file: string, failed: (error: Error) => void, now: () => number = () => performance.now()) {
    this.#now = now
    this.#fd = openSync(`${file}-wal`, "r+")
    this.#failed = failed
  }

  /** Resolves when everything that was written before the call would survive a power failure. */
  flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#waiting.push({ resolve, reject })
      if (!this.#busy) this.#sync()
    })
  }

  /**
   * The same for somebody who is alone: true when it is done already. It stops the event loop, so only while the disk has
   * shown itself to be fast; one slow answer, and the next hundred are waited for beside it.
   */
  flushAtOnce(): boolean {
    if (this.#busy || this.#failure || this.#caution-- > 0) return false
    const from = this.#now()
    try {
      fdatasyncSync(this.#fd)
    } catch (error) {
      this.#failure = error as Error
      throw error
    }
    this.#caution = this.#now() - from > FAST_MS ? CAUTION : 0
    return true
  }

  close(): void {
    closeSync(this.#fd)
  }

  #sync(): void {
    const served = this.#waiting
    this.#waiting = []
    this.#busy = true
    fdatasync(this.#fd, (error) => {
      this.#busy = false
      // After a failed fsync the system may have dropped what it could not write, and a second try would say it is fine.
      if (error) this.#failed((this.#failure = error))
      for (const { resolve, reject } of served) error ? reject(error) : resolve()
      if (this.#waiting.length === 0) return
      if (this.#failure) for (const { reject } of this.#waiting.splice(0)) reject(this.#failure)
      else this.#sync()
    })
  }
}
