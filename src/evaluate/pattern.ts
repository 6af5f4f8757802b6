import { RE2JS } from "re2js"

/** Whether a text has what a pattern describes, in time that grows with the text alone: what models write is anybody's. */
export function hasPattern(pattern: string, text: string): boolean {
  return RE2JS.compile(pattern).matcher(text).find()
}

/** What is wrong with a pattern; undefined where it can be looked for. */
export function patternFault(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
