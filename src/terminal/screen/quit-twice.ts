const WITHIN_MS = 2000

/** One press asks, a second one within two seconds quits. */
export class QuitTwice {
  static readonly asks = "Ctrl-C again quits."
  #until = 0

  /** `over`: the second one did not come. */
  isSecond(over: () => void): boolean {
    if (Date.now() < this.#until) return true
    this.#until = Date.now() + WITHIN_MS
    setTimeout(() => Date.now() >= this.#until && over(), WITHIN_MS).unref()
    return false
  }
}
