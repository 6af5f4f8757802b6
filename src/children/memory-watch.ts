const LOOK_EVERY_MS = 250

export interface MemoryBound {
  readonly kilobytes: number
  /** What the process holds now; undefined where nobody knows. */
  resident(): Promise<number | undefined>
}

/** The bound of a process's memory where the system keeps none: we look now and then whether it has become too large. */
export class MemoryWatch {
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
