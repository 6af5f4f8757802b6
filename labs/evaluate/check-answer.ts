import { own } from "../../core/shared/text/json.ts"
import { tryReadJson } from "../../core/shared/text/read-json.ts"
import {
  type AnswerCheck,
  type AnswerExpectation,
  type ExpectedCall,
  type SequenceCheck,
  type TextCheck,
  hasPattern,
} from "./file/expectation.ts"
import type { RecordedAnswer, RecordedCall, FailedCheck } from "./happened.ts"

/** Returns the unmet expectations about an answer, its calls and its proposals. */
export function checkExpectedAnswer(expected: AnswerExpectation, happened: RecordedAnswer): FailedCheck[] {
  const { answer, calls, proposals, ends } = expected
  const { status, error } = happened
  const of = (expectation: string, problems: readonly string[]) => problems.map((problem) => ({ expectation, problem }))
  const why = error === undefined ? "" : `: ${error}`
  const isEnded = ends === undefined ? status !== "failed" : status === ends
  return [
    ...of("ends", isEnded ? [] : [`its run ended as ${status}${why}`]),
    ...of("answer", answer ? checkAnswerText(answer, happened.text) : []),
    ...of("calls", calls ? checkSequence(calls, happened.calls, "calls") : []),
    ...of("proposals", proposals ? checkSequence(proposals, happened.proposals, "proposals") : []),
  ]
}

const MAX_SHOWN = 300

/** Returns sentences about missing and forbidden parts of a text. */
export function checkText({ contains, matches, not }: TextCheck, text: string): string[] {
  const said = `it says ${shortened(text)}`
  return [
    ...toList(contains).flatMap((words) => (hasWords(text, words) ? [] : [`"${words}" is not in it; ${said}`])),
    ...toList(matches).flatMap((pattern) => (hasPattern(pattern, text) ? [] : [`/${pattern}/ is not in it; ${said}`])),
    ...toList(not?.contains).flatMap((words) => (hasWords(text, words) ? [`"${words}" is in it; ${said}`] : [])),
    ...toList(not?.matches).flatMap((pattern) => (hasPattern(pattern, text) ? [`/${pattern}/ is in it; ${said}`] : [])),
  ]
}

/** The same, and checks the parsed JSON of the answer. */
export function checkAnswerText({ json, ...check }: AnswerCheck, text: string): string[] {
  const problems = checkText(check, text)
  if (json === undefined || fits(json, tryReadJson(text))) return problems
  return [...problems, `it is not JSON with ${JSON.stringify(json)}; it says ${shortened(text)}`]
}

const toList = (given: string | readonly string[] | undefined): readonly string[] =>
  given === undefined ? [] : typeof given === "string" ? [given] : given

/** A shortened text on one line, for an error. */
function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  if (line === "") return "nothing"
  return `"${line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN).toWellFormed()}…` : line}"`
}

/**
 * True if a value has all that is expected of it: objects may have more fields, lists may not have more items. Instead
 * of a text, `{ $contains: … }` searches words in it and `{ $matches: … }` a pattern.
 */
export function fits(expected: unknown, actual: unknown): boolean {
  if (Array.isArray(expected))
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, index) => fits(item, actual[index]))
    )
  if (typeof expected !== "object" || expected === null) return Object.is(expected, actual)
  const wanted = expected as Readonly<Record<string, unknown>>
  const { $contains: words, $matches: pattern } = wanted
  if (typeof words === "string") return typeof actual === "string" && hasWords(actual, words)
  if (typeof pattern === "string") return typeof actual === "string" && hasPattern(pattern, actual)
  if (typeof actual !== "object" || actual === null || Array.isArray(actual)) return false
  const found = actual as Readonly<Record<string, unknown>>
  return Object.entries(wanted).every(([key, value]) => fits(value, own(found, key)))
}

/** Ignores case. */
const hasWords = (text: string, words: string): boolean => text.toLowerCase().includes(words.toLowerCase())

const MAX_CALLS_SHOWN = 200

/** Returns sentences about wrong calls or proposals. */
export function checkSequence(check: SequenceCheck, happened: readonly RecordedCall[], what: string): string[] {
  const { include = [], inOrder = [], exactly, none = [] } = check
  const made = `the ${what} were ${happened.length === 0 ? "none" : happened.map(told).join(", ")}`
  const missing = notAmong(include, happened).map((expected) => `${asked(expected)} is missing; ${made}`)
  const late = firstOutOfOrder(inOrder, happened)
  const others = none.filter((tool) => happened.some((call) => call.tool === tool))
  const isExact =
    exactly === undefined ||
    (exactly.length === happened.length && exactly.every((expected, index) => isMet(expected, happened[index])))
  return [
    ...missing,
    ...(late ? [`${asked(late)} does not come in its place; ${made}`] : []),
    ...(isExact ? [] : [`they should be exactly ${exactly.map(asked).join(", ") || "none"}; ${made}`]),
    ...others.map((tool) => `${tool} should not be among them; ${made}`),
  ]
}

const isMet = (expected: ExpectedCall, call: RecordedCall | undefined): boolean =>
  call !== undefined &&
  call.tool === expected.tool &&
  (expected.status === undefined || expected.status === call.status) &&
  fits(expected.arguments ?? {}, call.arguments)

/**
 * The expected calls without a matching one. Each call matches at most one. An expectation with more conditions chooses
 * first, so that `create_task` does not use up the call that `create_task` with arguments needs.
 */
function notAmong(expected: readonly ExpectedCall[], happened: readonly RecordedCall[]): ExpectedCall[] {
  const left = [...happened]
  const strict = expected.toSorted((a, b) => weight(b) - weight(a))
  return strict.filter((each) => {
    const index = left.findIndex((call) => isMet(each, call))
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
}

const weight = ({ arguments: given = {}, status }: ExpectedCall): number =>
  JSON.stringify(given).length + (status === undefined ? 0 : 1)

function firstOutOfOrder(
  expected: readonly ExpectedCall[],
  happened: readonly RecordedCall[],
): ExpectedCall | undefined {
  let from = 0
  return expected.find((each) => {
    const index = happened.findIndex((call, place) => place >= from && isMet(each, call))
    from = index + 1
    return index < 0
  })
}

const asked = ({ tool, arguments: given, status }: ExpectedCall): string =>
  `${tool}${given ? ` ${JSON.stringify(given)}` : ""}${status ? ` (${status})` : ""}`

const told = ({ tool, arguments: given, status, result }: RecordedCall): string => {
  const why = status === "error" && result ? `: ${shorten(result)}` : ""
  return `${tool} ${shorten(JSON.stringify(given))} (${status}${why})`
}

const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ")
  return line.length > MAX_CALLS_SHOWN ? `${line.slice(0, MAX_CALLS_SHOWN).toWellFormed()}…` : line
}
