import type { RE2JS } from "re2js"
import { fileRefusal } from "./folder.ts"

type Engine = typeof RE2JS

/** Loaded on first use, because the start does not need it. */
export const loadEngine = async (): Promise<Engine> => (await import("re2js")).RE2JS

export interface Glob {
  /** The size of its program: multiplied by the length of a path, the worst cost of a match. */
  readonly size: number
  matches(path: string): boolean
}

const MAX = 500
const ALTERNATIVES = /\{([^{}/]*)\}/

/**
 * Compiles a glob such as `src/**` + `/*.ts` for whole paths. Matches in linear time: a backtracking engine would never
 * finish a pattern such as `*a*a*a*a*b`.
 */
export function toGlob(engine: Engine, glob: string, flags = 0): Glob {
  if (glob.length > MAX) throw fileRefusal(`A pattern has at most ${MAX} characters`)
  const pattern = engine.compile(toSource(engine, glob), flags | engine.DOTALL)
  return { size: pattern.programSize(), matches: (path) => pattern.matches(path) }
}

/** A glob as models write it: without a slash it matches a name at any depth. */
export function toFileGlob(engine: Engine, glob: string): ReturnType<typeof toGlob> {
  return toGlob(engine, glob.includes("/") ? glob.replace(/^\.?\//, "") : `**/${glob}`)
}

function toSource(engine: Engine, glob: string): string {
  let source = ""
  for (let at = 0; at < glob.length;) {
    const rest = glob.slice(at)
    const set = /^\[([!^]?)([^\]/]+)\]/.exec(rest)
    const either = ALTERNATIVES.exec(rest)
    if (rest.startsWith("**/")) [source, at] = [`${source}(?:[^/]+/)*`, at + 3]
    else if (rest === "**") [source, at] = [`${source}.*`, at + 2]
    else if (rest.startsWith("*")) [source, at] = [`${source}[^/]*`, at + 1]
    else if (rest.startsWith("?")) [source, at] = [`${source}[^/]`, at + 1]
    else if (either?.index === 0) {
      const choices = (either[1] ?? "").split(",").map((choice) => toSource(engine, choice))
      ;[source, at] = [`${source}(?:${choices.join("|")})`, at + either[0].length]
    } else if (set) {
      const members = (set[2] ?? "").replaceAll(/[\\\]^&~|[]/g, "\\$&")
      ;[source, at] = [`${source}[${set[1] ? "^" : ""}${members}]`, at + set[0].length]
    } else if (rest.startsWith("\\") && rest.length > 1) [source, at] = [source + engine.quote(rest[1] ?? ""), at + 2]
    else [source, at] = [source + engine.quote(rest[0] ?? ""), at + 1]
  }
  return source
}
