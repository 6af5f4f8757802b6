import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"

const MAX = 500
const MAX_CHARACTERS = 10_000

/** What was written here before, oldest first: a file of JSON strings, one a line, that only its owner can read. */
export class InputHistory {
  #file: string | undefined
  #kept: readonly string[] = []
  #at: number | undefined
  #draft = ""

  /** Until then it remembers only this life. */
  open(file: string): void {
    this.#file = file
    this.#kept = [...this.#read(), ...this.#kept].slice(-MAX)
  }

  /** Whether nothing of what was written before is shown. */
  get isAtDraft(): boolean {
    return this.#at === undefined
  }

  /** The one before, or after, what is shown; undefined where there is none. `draft` comes back at the end. */
  go(direction: -1 | 1, draft: string): string | undefined {
    const at = (this.#at ?? this.#kept.length) + direction
    if (at < 0 || at > this.#kept.length || (this.#at === undefined && direction === 1)) return undefined
    if (this.#at === undefined) this.#draft = draft
    if (at === this.#kept.length) {
      this.#at = undefined
      return this.#draft
    }
    this.#at = at
    return this.#kept[at]
  }

  /** Keeps it. What another terminal has kept meanwhile stays; that it cannot be written disturbs nobody. */
  add(text: string): void {
    this.#at = undefined
    if (text.trim() === "" || text.length > MAX_CHARACTERS || text.startsWith(" ") || this.#kept.at(-1) === text) return
    this.#kept = [...this.#read(), text].slice(-MAX)
    if (this.#file === undefined) return
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
      const draft = `${this.#file}.${process.pid}`
      writeFileSync(draft, `${this.#kept.map((each) => JSON.stringify(each)).join("\n")}\n`, { mode: 0o600 })
      renameSync(draft, this.#file)
    } catch {
      // A full or read-only disk: this life still remembers.
    }
  }

  #read(): readonly string[] {
    if (this.#file === undefined) return this.#kept
    try {
      const lines = readFileSync(this.#file, "utf8")
        .split("\n")
        .slice(-MAX - 1)
      return lines.flatMap((each) => textIn(each))
    } catch {
      return this.#kept // there is none yet
    }
  }
}

/** A line that was torn, or written by hand, is passed over. */
function textIn(json: string): string[] {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === "string" ? [value] : []
  } catch {
    return []
  }
}
