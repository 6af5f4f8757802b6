import { makeFolders } from "../../../core/shared/processes/make-folders.ts"
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"

const MAX = 500
const MAX_CHARACTERS = 10_000

/** Previous inputs, oldest first: a file with one JSON string per line that only its owner can read. */
export class InputHistory {
  #file: string | undefined
  #kept: readonly string[] = []
  #at: number | undefined
  #draft = ""

  /** Before this call the history is held in memory only. */
  open(file: string): void {
    this.#file = file
    this.#kept = [...this.#read(), ...this.#kept].slice(-MAX)
  }

  /** Whether the current draft is shown, not a previous input. */
  get isAtDraft(): boolean {
    return this.#at === undefined
  }

  /** The previous or next input; undefined if there is none. After the newest one comes `draft`. */
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

  /**
   * Stores an input, also next to those that another terminal has stored in the meantime. A failed write is ignored.
   */
  add(text: string): void {
    this.#at = undefined
    if (text.trim() === "" || text.length > MAX_CHARACTERS || text.startsWith(" ") || this.#kept.at(-1) === text) return
    this.#kept = [...this.#read(), text].slice(-MAX)
    if (this.#file === undefined) return
    try {
      makeFolders(dirname(this.#file))
      const draft = `${this.#file}.${process.pid}`
      writeFileSync(draft, `${this.#kept.map((each) => JSON.stringify(each)).join("\n")}\n`, { mode: 0o600 })
      renameSync(draft, this.#file)
    } catch {
      // A full or read-only disk: the history stays in memory.
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
      return this.#kept // the file does not exist yet
    }
  }
}

/** A torn or edited line is skipped. */
function textIn(json: string): string[] {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === "string" ? [value] : []
  } catch {
    return []
  }
}
