import { own } from "../../protocol/own.ts"
import { hasPattern } from "../pattern.ts"

/**
 * Whether a value has all that is expected of it: objects may have more fields, lists may not have more items. In the place
 * of a text, `{ $contains: … }` asks for words in it and `{ $matches: … }` for a pattern.
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

/** Large and small letters alike. */
export const hasWords = (text: string, words: string): boolean => text.toLowerCase().includes(words.toLowerCase())
