const WIDTH = 30
const LINE_EVERY_MS = 10_000

/** Shows progress: a bar on a terminal, plain lines otherwise. */
export class Progress {
  readonly #clean: (text: string) => string
  readonly #terminal = process.stderr.isTTY
  #shown = false
  #linedAt: number | undefined
  #began: { readonly doing: string; readonly done: number; readonly at: number } | undefined

  constructor(clean: (text: string) => string) {
    this.#clean = clean
  }

  /** Draws the bar over the previous one. */
  show(doing: string, done: number, all: number, what: string): void {
    if (!this.#terminal) return this.#line(doing, done, all, what)
    const full = all === 0 ? WIDTH : Math.round((WIDTH * done) / all)
    const bar = "█".repeat(full) + "░".repeat(WIDTH - full)
    const line = `${doing} ${bar} ${done}/${all}${this.#left(doing, done, all)} ${this.#clean(printable(what))}`
    process.stderr.write(`\r\u001b[2K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`)
    this.#shown = true
  }

  /** Writes a line now and then, so that a pipe shows progress and a file of it stays short. */
  #line(doing: string, done: number, all: number, what: string): void {
    const left = this.#left(doing, done, all)
    const now = performance.now()
    if (now - (this.#linedAt ?? this.#began?.at ?? now) < LINE_EVERY_MS) return
    this.#linedAt = now
    process.stderr.write(`${doing} ${done} of ${all} ${this.#clean(printable(what))}${left}\n`)
  }

  /** Estimates the remaining time from the elapsed time; empty in the first seconds, which are not representative. */
  #left(doing: string, done: number, all: number): string {
    const at = performance.now()
    if (this.#began?.doing !== doing) this.#began = { doing, done, at }
    return timeLeft({ done: done - this.#began.done, left: all - done, ms: at - this.#began.at })
  }

  /** Prints a line only if there is no bar. */
  line(text: string): void {
    if (!this.#terminal) process.stdout.write(`${this.#clean(printable(text))}\n`)
  }

  /** Prints a line in any case. */
  report(text: string): void {
    this.end()
    process.stderr.write(`${this.#clean(printable(text))}\n`)
  }

  end(): void {
    if (this.#shown) process.stderr.write("\r\u001b[2K")
    this.#shown = false
  }
}

/** File names may contain control characters. */
const printable = (text: string) => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "?")

const LEAST_MS = 3000

/** The estimate after a count; empty if there is none yet. */
export function timeLeft({ done, left, ms }: { done: number; left: number; ms: number }): string {
  if (done <= 0 || left <= 0 || ms < LEAST_MS) return ""
  const seconds = Math.ceil((ms * left) / done / 1000)
  if (seconds < 60) return `, ${seconds} s left`
  if (seconds < 3600) return `, ${Math.ceil(seconds / 60)} min left`
  return `, ${(seconds / 3600).toFixed(1)} h left`
}
