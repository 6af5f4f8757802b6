/** 30 frames per second look smooth and leave time for the keyboard. */
const FRAME_MS = 33
const SECOND = 1000

/** Schedules frames: changes within one interval are drawn together. */
export class FrameScheduler {
  readonly #draw: () => void
  #timer: NodeJS.Timeout | undefined
  #isTick = false
  #isOver = false
  #drawnAt = 0

  constructor(draw: () => void) {
    this.#draw = draw
  }

  readonly onChange = (): void => {
    if (this.#timer && !this.#isTick) return
    this.#in(Math.max(0, this.#drawnAt + FRAME_MS - Date.now()), false)
  }

  /** Draws again in a second even if nothing changes, for running times. */
  tick(): void {
    if (!this.#timer) this.#in(SECOND, true)
  }

  /** Must be called at the end: the tick would keep the process alive. */
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
