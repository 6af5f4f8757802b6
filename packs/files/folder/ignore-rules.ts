import { loadEngine, toGlob } from "./glob.ts"

const MAX_RULES = 2000
/**
 * Limit for all rules of a file. Every path is matched against each of them, and a hostile repository can contain any
 * rules.
 */
const MAX_PROGRAMS = 20_000
/** Twice the longest pattern. A longer line is skipped without looking for its end. */
const LONGEST_LINE = 1000

interface Rule {
  readonly negated: boolean
  readonly onlyDirectories: boolean
  matches(path: string): boolean
}

/** The rules of a `.gitignore`, for paths relative to its directory. An invalid rule is ignored. */
export interface IgnoreRules {
  /** True to ignore, false to include a path that another file ignores, undefined without a matching rule. */
  isIgnored(path: string, isDirectory: boolean): boolean | undefined
}

export async function readIgnoreRules(text: string): Promise<IgnoreRules> {
  const engine = await loadEngine()
  let left = MAX_PROGRAMS
  const rules = text
    .split(/\r?\n/)
    .slice(0, MAX_RULES)
    .flatMap((line): Rule[] => {
      if (line.length > LONGEST_LINE || left < 0) return []
      const trimmed = line.replace(/(?<!\\)[ \t]+$/, "")
      if (trimmed === "" || trimmed.startsWith("#")) return []
      const negated = trimmed.startsWith("!")
      const body = trimmed.slice(negated ? 1 : 0).replace(/^\\(?=[#!])/, "")
      const onlyDirectories = body.endsWith("/")
      const path = body.replace(/(?<!\/)\/+$/, "")
      // A slash in the middle or at the start ties a rule to this directory; without one it applies at any depth.
      const anchored = path.includes("/") ? path.replace(/^\//, "") : `**/${path}`
      try {
        const glob = toGlob(engine, anchored)
        left -= glob.size
        return left < 0 ? [] : [{ negated, onlyDirectories, matches: glob.matches }]
      } catch {
        return []
      }
    })
  return {
    isIgnored(path, isDirectory) {
      const last = rules.findLast((rule) => (isDirectory || !rule.onlyDirectories) && rule.matches(path))
      return last && !last.negated
    },
  }
}
