/** Thirty pictures a second are as smooth as it gets; the rest of the time belongs to the keyboard. */
const PICTURE_MS = 33
const SECOND = 1000

/** When the screen is drawn: soon after something has changed, together with whatever else changes until then. */
export class Pictures {
  readonly #draw: () => void
  #timer: NodeJS.Timeout | undefined
  #isTick = false
  #isOver = false
  #drawnAt = 0

  constructor(draw: () => void) {
    this.#draw = draw
  }

  readonly changed = (): void => {
    if (this.#timer && !this.#isTick) return
    this.#in(Math.max(0, this.#drawnAt + PICTURE_MS - Date.now()), false)
  }

  /** Again in a second, should nothing change before: the time of what works goes on. */
  tick(): void {
    if (!this.#timer) this.#in(SECOND, true)
  }

  /** For good: what changes after the person has left would be drawn once a second, and keep the process alive. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#isOver = true
  }

  #in(ms: number, isTick: boolean): void {
    if (this.#isOver) return
    clearTimeout(this.#timer)
    this.#isTick = isTick
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#drawnAt = Date.now()
      this.#draw()
    }, ms)
  }
}
