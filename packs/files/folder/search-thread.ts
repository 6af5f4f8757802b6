import { parentPort } from "node:worker_threads"
import { RE2JS } from "re2js"

/** Texts to search with one pattern. Without texts, only checks that the pattern is valid. */
export interface PatternJob {
  readonly pattern: string
  readonly isRegex: boolean
  readonly ignoreCase: boolean
  readonly texts: readonly string[]
  readonly maxLines: number
}

/** Found lines, each with the index of its text and its line number, both from 0. */
export type PatternAnswer =
  | { readonly found: readonly (readonly [text: number, line: number, words: string])[] }
  | { readonly problem: string }

parentPort?.on("message", (job: PatternJob) => parentPort?.postMessage(search(job)))

function search({ pattern, isRegex, ignoreCase, texts, maxLines }: PatternJob): PatternAnswer {
  let compiled: RE2JS
  try {
    const flags = RE2JS.MULTILINE | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    compiled = RE2JS.compile(isRegex ? pattern : RE2JS.quote(pattern), flags)
  } catch (error) {
    return { problem: (error as Error).message }
  }
  const found: [number, number, string][] = []
  for (const [at, text] of texts.entries()) {
    if (!compiled.test(text)) continue
    for (const [line, words] of text.split("\n").entries()) {
      if (!compiled.test(words)) continue
      found.push([at, line, words])
      if (found.length === maxLines) return { found }
    }
  }
  return { found }
}
