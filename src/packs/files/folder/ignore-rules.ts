import { loadEngine, toGlob } from "./glob.ts"

const MAX_RULES = 2000
/** Twice what a pattern may have: of a longer line not even its end is looked for. */
const LONGEST_LINE = 1000

interface Rule {
  readonly negated: boolean
  readonly onlyDirectories: boolean
  matches(path: string): boolean
}

/** The rules of a `.gitignore`, for paths from its own directory on. A rule that cannot be read is none. */
export interface IgnoreRules {
  /** True to leave out, false to take in again what another file leaves out, undefined for no opinion. */
  judge(path: string, isDirectory: boolean): boolean | undefined
}

export async function readIgnoreRules(text: string): Promise<IgnoreRules> {
  const engine = await loadEngine()
  const rules = text
    .split(/\r?\n/)
    .slice(0, MAX_RULES)
    .flatMap((line): Rule[] => {
      if (line.length > LONGEST_LINE) return []
      const trimmed = line.replace(/(?<!\\)[ \t]+$/, "")
      if (trimmed === "" || trimmed.startsWith("#")) return []
      const negated = trimmed.startsWith("!")
      const body = trimmed.slice(negated ? 1 : 0).replace(/^\\(?=[#!])/, "")
      const onlyDirectories = body.endsWith("/")
      const glob = body.replace(/(?<!\/)\/+$/, "")
      // A slash in the middle or at the start ties a rule to this directory; without one it holds at every depth.
      const anchored = glob.includes("/") ? glob.replace(/^\//, "") : `**/${glob}`
      try {
        return [{ negated, onlyDirectories, ...toGlob(engine, anchored) }]
      } catch {
        return []
      }
    })
  return {
    judge(path, isDirectory) {
      const last = rules.findLast((rule) => (isDirectory || !rule.onlyDirectories) && rule.matches(path))
      return last && !last.negated
    },
  }
}
