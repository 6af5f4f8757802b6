import { tmpdir } from "node:os"
import { setTimeout as pause } from "node:timers/promises"
import pty, { type IPty } from "@lydell/node-pty"
import xterm from "@xterm/headless"
import { vi } from "vitest"
import { launcher } from "../support/processes/package.ts"

export const keys = {
  enter: "\r",
  altEnter: "\x1b\r",
  newline: "\n",
  escape: "\x1b",
  shiftTab: "\x1b[Z",
  up: "\x1b[A",
  down: "\x1b[B",
  pageDown: "\x1b[6~",
  backspace: "\x7f",
  interrupt: "\x03",
  endOfInput: "\x04",
}

export interface TerminalStart {
  readonly columns?: number
  readonly rows?: number
  readonly cwd?: string
  /** The script that Node runs instead of `pawl`. */
  readonly run?: readonly string[]
  /** The program that runs it instead of Node. */
  readonly program?: string
}

const TIMEOUT_MS = 60_000

/** `pawl` in a real pseudo-terminal, read as a person sees it: the text on the screen. */
export class TerminalProcess implements AsyncDisposable {
  /** All bytes that were sent to the terminal. */
  output = ""
  readonly ended: Promise<{ readonly code: number; readonly signal: number | undefined }>
  readonly #process: IPty
  readonly #screen: xterm.Terminal
  readonly #waiting = new Set<() => void>()
  #isOver = false

  constructor(words: readonly string[], environment: Record<string, string>, start: TerminalStart = {}) {
    const { columns = 80, rows = 24, cwd = tmpdir(), run = [launcher, ...words] } = start
    const { program = process.execPath } = start
    this.#screen = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
    const env = { PATH: process.env.PATH ?? "", HOME: tmpdir(), TERM: "xterm-256color", ...environment }
    this.#process = pty.spawn(program, [...run], { cols: columns, rows, cwd, env })
    this.#process.onData((data) => {
      this.output += data
      this.#screen.write(data, () => this.#wake())
    })
    // The terminal's replies to queries, such as where its cursor is.
    this.#screen.onData((data) => this.#isOver || this.#process.write(data))
    this.ended = new Promise((resolve) => {
      this.#process.onExit(({ exitCode, signal }) => {
        this.#isOver = true
        this.#wake()
        resolve({ code: exitCode, signal })
      })
    })
  }

  type(...texts: readonly string[]): void {
    for (const text of texts) this.#process.write(text)
  }

  /** Another program writes to the same terminal. */
  scribble(text: string): void {
    this.#screen.write(text, () => this.#wake())
  }

  /** Pastes as a terminal does. */
  paste(text: string): void {
    this.#process.write(`\x1b[200~${text}\x1b[201~`)
  }

  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows)
    this.#process.resize(columns, rows)
  }

  /** The lines that are on the screen now. */
  get screen(): string {
    const { baseY } = this.#screen.buffer.active
    return this.#lines(baseY, baseY + this.#screen.rows)
  }

  /** All text, including what has scrolled away. */
  get all(): string {
    return this.#lines(0, this.#screen.buffer.active.length)
  }

  /** Resolves as soon as the screen shows it. */
  shows(pattern: RegExp | string): Promise<string> {
    return this.#until(() => this.screen, pattern, true)
  }

  showsNoMore(pattern: RegExp | string): Promise<string> {
    return this.#until(() => this.screen, pattern, false)
  }

  /** Resolves as soon as it was shown, even if it has scrolled away. */
  showed(pattern: RegExp | string): Promise<string> {
    return this.#until(() => this.all, pattern, true)
  }

  /**
   * Resolves as soon as the check passes, and otherwise rejects with its failure. In the middle of a frame text that is
   * redrawn can be missing, or stand next to its old copy, so a single check right after an update may fail.
   */
  async settles(check: (screen: string, all: string) => void): Promise<void> {
    await vi.waitFor(() => check(this.screen, this.all), { timeout: TIMEOUT_MS, interval: 50 })
  }

  /** Resolves as soon as the cursor is there: column and row of the screen, from 0. */
  async hasCursorAt(x: number, y: number): Promise<void> {
    const { active } = this.#screen.buffer
    await this.#until(() => `${active.cursorX},${active.cursorY}`, new RegExp(`^${x},${y}$`), true)
  }

  /** Sends a signal that does not end it. */
  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  get pid(): number {
    return this.#process.pid
  }

  /** Closes the window: its programs can neither write nor read any more. */
  hangUp(): void {
    ;(this.#process as IPty & { destroy(): void }).destroy()
  }

  kill(signal: NodeJS.Signals): Promise<{ readonly code: number; readonly signal: number | undefined }> {
    if (!this.#isOver) this.#process.kill(signal)
    return this.ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill("SIGKILL")
    this.#screen.dispose()
  }

  async #until(look: () => string, pattern: RegExp | string, there: boolean): Promise<string> {
    const stopped = new AbortController()
    const late = pause(TIMEOUT_MS, "late", { signal: stopped.signal, ref: false }).catch(() => "late")
    try {
      for (;;) {
        const seen = look()
        if ((typeof pattern === "string" ? seen.includes(pattern) : pattern.test(seen)) === there) return seen
        if (this.#isOver)
          throw new Error(`It ended, and ${there ? "did not show" : "still shows"} ${pattern}:\n${this.all}`)
        const onChange = new Promise<string>((resolve) => this.#waiting.add(() => resolve("changed")))
        if ((await Promise.race([onChange, late])) === "late")
          throw new Error(`The screen ${there ? "does not show" : "still shows"} ${pattern}:\n${look()}`)
      }
    } finally {
      stopped.abort()
    }
  }

  #lines(from: number, to: number): string {
    const { active } = this.#screen.buffer
    const lines = Array.from(
      { length: to - from },
      (_, index) => active.getLine(from + index)?.translateToString(true) ?? "",
    )
    return lines.join("\n").trimEnd()
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
