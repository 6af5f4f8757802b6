import { setImmediate as turn } from "node:timers/promises"
import type { Folder, FolderEntry } from "./folder.ts"
import { type IgnoreRules, readIgnoreRules } from "./ignore-rules.ts"
import { displayName } from "./display-name.ts"

const MAX_IN_ONE = 20_000
const MAX_RULES_BYTES = 100_000
const YIELD_MS = 10

export interface Walking {
  readonly signal: AbortSignal
  /** Milliseconds after which it stops and reports that. */
  readonly withinMs: number
  /** Also yield files that `.gitignore` excludes. */
  readonly ignored?: boolean
  /** For callers that open each file anyway: sizes are not looked up. */
  readonly sizes?: "sizes" | "no-sizes"
}

export interface Walked {
  readonly path: string
  /** 0 if sizes were not requested. */
  readonly size: number
}

/** Thrown when the time limit of a walk is reached. */
class OutOfTime extends Error {}

/** Awaited only if it returns a promise, because most files need none. */
type Use = (file: Walked) => "enough" | void | Promise<"enough" | void>

/** Calls `use` for each file until it returns `enough`. `timed_out`: the time limit was reached. */
export async function forEachFile(
  walk: FileWalk | Iterable<Walked>,
  use: Use,
): Promise<"whole" | "enough" | "timed_out"> {
  try {
    if (walk instanceof FileWalk) return await walk.each(use)
    for (const file of walk) if ((await use(file)) === "enough") return "enough"
    return "whole"
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error
    return "timed_out"
  }
}

/**
 * Yields the files below a path, sorted by name, without `.git` and those that `.gitignore` excludes. Links are not
 * followed: a target in the folder is found under its own name. Pauses for other work, and throws `OutOfTime` at the
 * time limit.
 */
export const walkFiles = (folder: Folder, path: string, walking: Walking): FileWalk =>
  new FileWalk(folder, path, walking)

/** A directory on the current path of the walk: its remaining entries and its ignore rules. */
interface Entered {
  readonly at: string
  readonly entries: Iterator<FolderEntry>
  readonly scoped: readonly Scoped[]
}

/** Not a generator: passing three thousand small files through nested generators took as long as reading them. */
class FileWalk {
  readonly #folder: Folder
  readonly #walking: Walking
  readonly #path: string
  readonly #end: number
  readonly #tooMany: string[] = []
  #yielded = performance.now()

  constructor(folder: Folder, path: string, walking: Walking) {
    this.#folder = folder
    this.#walking = walking
    this.#path = trimmed(path)
    this.#end = performance.now() + walking.withinMs
  }

  /** Sentences about directories with more names than are read; empty if there are none. */
  get left(): string[] {
    const [first, ...others] = this.#tooMany
    if (first === undefined) return []
    const more = others.length > 0 ? ` and ${others.length} more directories` : ""
    return [`[Only the first ${MAX_IN_ONE} names in ${displayName(first)}${more} were read.]`]
  }

  async each(use: Use): Promise<"whole" | "enough"> {
    const inside = [await this.#enter(this.#path, [])]
    for (let here = inside.at(-1); here; here = inside.at(-1)) {
      const next = here.entries.next()
      if (next.done) {
        inside.pop()
        continue
      }
      const { name, type, size } = next.value
      if (name === ".git" || (type !== "file" && type !== "directory")) continue
      // Before the rules are matched, which may be slow, and before the file is passed on, which takes time too.
      const pause = this.#pauseIfDue()
      if (pause) await pause
      const below = here.at === "" ? name : `${here.at}/${name}`
      if (isIgnored(here.scoped, below, type === "directory")) continue
      if (type === "directory") {
        const entered = await this.#enter(below, here.scoped).catch(orNothing)
        if (entered) inside.push(entered)
        continue
      }
      const used = use({ path: below, size })
      if ((used instanceof Promise ? await used : used) === "enough") return "enough"
    }
    return "whole"
  }

  async #enter(at: string, outer: readonly Scoped[]): Promise<Entered> {
    await this.#pauseIfDue()
    const { ignored = false, sizes = "sizes" } = this.#walking
    const { entries, more, isTruncated } = this.#folder.list(at === "" ? "." : at, MAX_IN_ONE, sizes)
    if (more > 0 || isTruncated) this.#tooMany.push(at === "" ? "." : at)
    const hasRules = !ignored && entries.some(({ name }) => name === ".gitignore")
    return { at, entries: entries.values(), scoped: hasRules ? await this.#withRules(at, outer) : outer }
  }

  async #withRules(at: string, outer: readonly Scoped[]): Promise<readonly Scoped[]> {
    try {
      const text = this.#folder.read(at === "" ? ".gitignore" : `${at}/.gitignore`, MAX_RULES_BYTES).bytes.toString()
      return [...outer, { base: at, rules: await readIgnoreRules(text) }]
    } catch {
      return outer // it is a directory, a link out of the folder, or too large: no rules
    }
  }

  /** Returns a promise if the walk should pause; undefined if it started only recently. */
  #pauseIfDue(): Promise<void> | undefined {
    this.#walking.signal.throwIfAborted()
    const now = performance.now()
    if (now > this.#end) throw new OutOfTime()
    if (now - this.#yielded < YIELD_MS) return undefined
    return turn().then(() => void (this.#yielded = performance.now()))
  }
}

interface Scoped {
  readonly base: string
  readonly rules: IgnoreRules
}

/** The rule of the innermost directory takes precedence. */
function isIgnored(scoped: readonly Scoped[], path: string, isDirectory: boolean): boolean {
  for (let i = scoped.length - 1; i >= 0; i--) {
    const { base, rules } = scoped[i] as Scoped
    const verdict = rules.isIgnored(base === "" ? path : path.slice(base.length + 1), isDirectory)
    if (verdict !== undefined) return verdict
  }
  return false
}

/** A directory that cannot be opened, or is deleted, does not end the search. */
function orNothing(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== "bad_request") throw error
}

const trimmed = (path: string) =>
  path
    .replace(/^(\.\/+)+/, "")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/^\.$/, "")
