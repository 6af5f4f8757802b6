import { closeSync, fdatasync, openSync } from "node:fs"

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
  #waiting: Waiting[] = []
  readonly #failed: (error: Error) => void
  #busy = false
  #failure: Error | undefined

  /** `file` is the database's; its log must exist. `failed` is called once, when only a new start can heal it. */
  constructor(file: string, failed: (error: Error) => void) {
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
