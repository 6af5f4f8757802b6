import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { z } from "zod"
import { displayName } from "./display-name.ts"

/** With more paths than this, the whole folder counts as tainted. */
const MAX_PATHS = 2_000

const Stored = z.object({ paths: z.array(z.string()), isWhole: z.boolean() })

interface Marks {
  readonly paths: ReadonlySet<string>
  readonly isWhole: boolean
}

const NONE: Marks = { paths: new Set(), isWhole: false }

/**
 * The files of a folder that a conversation wrote after it had read untrusted text. Stored with Pawl's data, never in
 * the folder. Cleared when the person trusts the folder again.
 */
export class TaintedFiles {
  readonly #file: string

  constructor(dataFolder: string, folderId: string) {
    this.#file = join(dataFolder, "tainted-files", `${folderId}.json`)
  }

  /**
   * `""` is the whole folder. Durable before the write, so that a crash in between leaves a mark too many, never one
   * too few.
   */
  add(paths: readonly string[]): void {
    const marks = this.#read()
    const all = new Set([...marks.paths, ...paths.map(normal)])
    if (marks.isWhole || all.size === marks.paths.size) return
    const isWhole = all.size > MAX_PATHS || all.has("")
    const stored = { paths: isWhole ? [] : [...all], isWhole }
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
    const draft = `${this.#file}.${process.pid}`
    writeFileSync(draft, JSON.stringify(stored), { mode: 0o600, flush: true })
    renameSync(draft, this.#file)
  }

  /** Copies the marks below the old name of a directory to its new names. */
  addMoved(from: string, to: readonly string[]): void {
    const below = `${normal(from)}/`
    const inside = [...this.#read().paths].flatMap((path) => (path.startsWith(below) ? path.slice(below.length) : []))
    this.add(to.flatMap((directory) => inside.map((path) => `${directory}/${path}`)))
  }

  get isEmpty(): boolean {
    const { paths, isWhole } = this.#read()
    return !isWhole && paths.size === 0
  }

  /** True if a file, or an entry below a directory, is marked. `""` and `"."` are the folder itself. */
  has(path: string): boolean {
    const { paths, isWhole } = this.#read()
    const own = normal(path)
    const below = own === "" ? "" : `${own}/`
    return isWhole || paths.has(own) || [...paths].some((marked) => marked.startsWith(below))
  }

  /** True if a call's arguments or its answer name a marked file. */
  isNamedIn(...texts: readonly string[]): boolean {
    const { paths, isWhole } = this.#read()
    return isWhole || [...paths].some((path) => formsOf(path).some((form) => texts.some((text) => names(text, form))))
  }

  forget(): void {
    rmSync(this.#file, { force: true })
  }

  #read(): Marks {
    if (!existsSync(this.#file)) return NONE
    try {
      const { paths, isWhole } = Stored.parse(JSON.parse(readFileSync(this.#file, "utf8")))
      return { paths: new Set(paths), isWhole }
    } catch {
      return { ...NONE, isWhole: true } // the file is damaged: every file may be tainted
    }
  }
}

/** The forms in which a path may appear: plain, as tools show it, and in JSON. */
const formsOf = (path: string) => [...new Set([path, displayName(path), JSON.stringify(path).slice(1, -1)])]

/** Without a leading `./` and a trailing slash. */
export const normal = (path: string) =>
  path
    .split("/")
    .filter((name) => name !== "." && name !== "")
    .join("/")

/** True if a text contains this path as a whole name. */
function names(text: string, path: string): boolean {
  if (path === "") return true // the folder itself contains every file, and a search for "" would not end
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1))
    if (!isOfName(text[at - 1]) && !isOfName(text[at + path.length])) return true
  return false
}

const isOfName = (letter: string | undefined) => letter !== undefined && /[\p{L}\p{N}_-]/u.test(letter)
