import { closeSync, fdatasync, openSync } from "node:fs"

interface Waiting {
  resolve(): void
  reject(error: Error): void
}

/**
 * Flushes the write-ahead log without blocking the event loop. SQLite itself would call fsync inside COMMIT, on the
 * committing thread; here the commit is only written, and counts when this resolves. One call flushes for all commits
 * that came before it.
 */
export class WalSync {
  readonly #fd: number
  #waiting: Waiting[] = []
  readonly #onFailure: (error: Error) => void
  #busy = false
  #failure: Error | undefined

  /** `file` is the database's; its log must exist. `onFailure` is called once, if only a restart can help. */
  constructor(file: string, onFailure: (error: Error) => void) {
    this.#fd = openSync(`${file}-wal`, "r+")
    this.#onFailure = onFailure
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
      // After a failed fsync the system may have dropped the pages, and a second fsync would succeed.
      if (error) this.#onFailure((this.#failure = error))
      for (const { resolve, reject } of served) error ? reject(error) : resolve()
      if (this.#waiting.length === 0) return
      if (this.#failure) for (const { reject } of this.#waiting.splice(0)) reject(this.#failure)
      else this.#sync()
    })
  }
}
