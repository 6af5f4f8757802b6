import { setImmediate as turn } from "node:timers/promises"
import type { Folder } from "./folder.ts"
import { type IgnoreRules, readIgnoreRules } from "./ignore-rules.ts"

const MAX_IN_ONE = 20_000
const MAX_RULES_BYTES = 100_000
const YIELD_MS = 10

export interface Walking {
  readonly signal: AbortSignal
  /** Milliseconds after which it stops, having told so. */
  readonly withinMs: number
  /** Also what `.gitignore` leaves out. */
  readonly ignored?: boolean
  /** For callers that open each file anyway: sizes are not looked up. */
  readonly sizes?: "sizes" | "no-sizes"
}

export interface Walked {
  readonly path: string
  /** 0 where nobody asked for it. */
  readonly size: number
}

/** Why a walk ended before its end. */
class OutOfTime extends Error {}

/** Gives each file to `use` until that is enough. `late`: the time of the walk was up before. */
export async function goThrough(
  files: AsyncIterable<Walked> | Iterable<Walked>,
  use: (file: Walked) => "enough" | void,
): Promise<"whole" | "enough" | "late"> {
  try {
    for await (const file of files) if (use(file) === "enough") return "enough"
    return "whole"
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error
    return "late"
  }
}

/**
 * The files below a path, in the order of their names, without those that `.gitignore` leaves out and without `.git`.
 * Links are not followed: what they lead to is met under its own name, or is not here. It gives way to others while it
 * goes, and throws `OutOfTime` when its time is up.
 */
export async function* walkFiles(
  folder: Folder,
  path: string,
  walking: Walking,
): AsyncGenerator<Walked, void, undefined> {
  const { signal, withinMs, ignored = false, sizes = "sizes" } = walking
  const end = performance.now() + withinMs
  let yielded = performance.now()
  yield* inside(trimmed(path), [])

  async function* inside(at: string, outer: readonly Scoped[]): AsyncGenerator<Walked, void, undefined> {
    await breathe()
    const { entries } = folder.list(at === "" ? "." : at, MAX_IN_ONE, sizes)
    const scoped = ignored
      ? outer
      : await withRules(
          at,
          outer,
          entries.some(({ name }) => name === ".gitignore"),
        )
    for (const { name, type, size } of entries) {
      const below = at === "" ? name : `${at}/${name}`
      if (
        name === ".git" ||
        (type !== "file" && type !== "directory") ||
        isIgnored(scoped, below, type === "directory")
      )
        continue
      if (type === "directory") {
        yield* orNothing(inside(below, scoped))
        continue
      }
      await breathe() // whoever is given a file takes time with it
      yield { path: below, size }
    }
  }

  async function withRules(at: string, outer: readonly Scoped[], present: boolean): Promise<readonly Scoped[]> {
    if (!present) return outer
    try {
      const text = folder.read(at === "" ? ".gitignore" : `${at}/.gitignore`, MAX_RULES_BYTES).bytes.toString()
      return [...outer, { base: at, rules: await readIgnoreRules(text) }]
    } catch {
      return outer // a directory, a link out of here, too large: no rules
    }
  }

  async function breathe(): Promise<void> {
    signal.throwIfAborted()
    if (performance.now() > end) throw new OutOfTime()
    if (performance.now() - yielded < YIELD_MS) return
    await turn()
    yielded = performance.now()
  }
}

interface Scoped {
  readonly base: string
  readonly rules: IgnoreRules
}

/** The innermost opinion counts. */
function isIgnored(scoped: readonly Scoped[], path: string, isDirectory: boolean): boolean {
  for (const { base, rules } of scoped.toReversed()) {
    const verdict = rules.judge(base === "" ? path : path.slice(base.length + 1), isDirectory)
    if (verdict !== undefined) return verdict
  }
  return false
}

/** A directory that cannot be opened, or is gone, is no reason to find nothing elsewhere. */
async function* orNothing(walk: AsyncGenerator<Walked, void, undefined>): AsyncGenerator<Walked, void, undefined> {
  try {
    yield* walk
  } catch (error) {
    if ((error as { code?: unknown }).code !== "bad_request") throw error
  }
}

const trimmed = (path: string) =>
  path
    .replace(/^(\.\/+)+/, "")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/^\.$/, "")
