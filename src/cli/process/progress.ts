const WIDTH = 30

/** How far something is: a bar on a terminal, plain lines elsewhere. */
export class Progress {
  readonly #clean: (text: string) => string
  readonly #terminal = process.stderr.isTTY
  #shown = false

  constructor(clean: (text: string) => string) {
    this.#clean = clean
  }

  /** The bar, drawn over the one before. */
  show(doing: string, done: number, all: number, what: string): void {
    if (!this.#terminal) return
    const full = all === 0 ? WIDTH : Math.round((WIDTH * done) / all)
    const bar = "█".repeat(full) + "░".repeat(WIDTH - full)
    const line = `${doing} ${bar} ${done}/${all} ${this.#clean(printable(what))}`
    process.stderr.write(`\r\u001b[2K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`)
    this.#shown = true
  }

  /** Where there is no bar to see it by. */
  line(text: string): void {
    if (!this.#terminal) process.stdout.write(`${this.#clean(printable(text))}\n`)
  }

  /** What somebody has to know, in any case. */
  say(text: string): void {
    this.end()
    process.stderr.write(`${this.#clean(printable(text))}\n`)
  }

  end(): void {
    if (this.#shown) process.stderr.write("\r\u001b[2K")
    this.#shown = false
  }
}

/** Names of files may hold orders to a terminal. */
const printable = (text: string) => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "?")
