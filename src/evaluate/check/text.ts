import type { AnswerCheck, TextCheck } from "../file/expectation.ts"
import { hasPattern } from "../pattern.ts"
import { fits, hasWords } from "./fits.ts"

const MAX_SHOWN = 300

/** What a text should have and has not, or has and should not, in sentences. */
export function checkText({ contains, matches, not }: TextCheck, text: string): string[] {
  const said = `it says ${shortened(text)}`
  return [
    ...toList(contains).flatMap((words) => (hasWords(text, words) ? [] : [`"${words}" is not in it; ${said}`])),
    ...toList(matches).flatMap((pattern) => (hasPattern(pattern, text) ? [] : [`/${pattern}/ is not in it; ${said}`])),
    ...toList(not?.contains).flatMap((words) => (hasWords(text, words) ? [`"${words}" is in it; ${said}`] : [])),
    ...toList(not?.matches).flatMap((pattern) => (hasPattern(pattern, text) ? [`/${pattern}/ is in it; ${said}`] : [])),
  ]
}

/** The same, and whether it is JSON that has what is expected. */
export function checkAnswerText({ json, ...check }: AnswerCheck, text: string): string[] {
  const problems = checkText(check, text)
  if (json === undefined || fits(json, parsed(text))) return problems
  return [...problems, `it is not JSON with ${JSON.stringify(json)}; it says ${shortened(text)}`]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const toList = (given: string | readonly string[] | undefined): readonly string[] =>
  given === undefined ? [] : typeof given === "string" ? [given] : given

/** In one line, as far as it tells something. */
export function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  if (line === "") return "nothing"
  return `"${line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN).toWellFormed()}…` : line}"`
}
