import type { z } from "zod"
import { own } from "./json.ts"

/**
 * The zod parse option that replaces zod's own messages with sentences for people. Messages that a schema sets take
 * precedence.
 */
export const plainErrors = { error: schemaText } as const

type Issue = z.core.$ZodRawIssue

/** The problem of a value, as the rest of a sentence that starts with its name: "must be at most 2". */
export function schemaText(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${own(TYPES, issue.expected) ?? issue.expected}`
    case "too_big":
      return `must ${size(issue.origin)} ${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}${unit(issue.origin, issue.maximum)}`
    case "too_small":
      if (issue.origin === "string" && Number(issue.minimum) === 1) return "must not be empty"
      return `must ${size(issue.origin)} ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}${unit(issue.origin, issue.minimum)}`
    case "invalid_value":
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(", ")}`
    case "unrecognized_keys":
      return `has the unknown field ${issue.keys
        .slice(0, 3)
        .map((key) => JSON.stringify(key.slice(0, 60)))
        .join(", ")}`
    case "invalid_format":
      return own(FORMATS, issue.format) ?? "has the wrong format"
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`
    case "invalid_key":
      return "has a name that is not allowed"
    case "invalid_union": {
      const branches = issue.errors.flatMap(([first]) => (first && first.path.length === 0 ? [first.message] : []))
      const [first, ...others] = [...new Set(branches)]
      if (first === undefined) return "is not in one of the allowed forms"
      return [first, ...others.map((each) => each.replace(/^must be /, ""))].join(" or ")
    }
    default:
      return "is not allowed"
  }
}

/** The first problems of a value that does not fit its schema, parsed with `plainErrors`: "temperature must be at most 2". */
export function schemaProblems({ issues }: Pick<z.ZodError, "issues">, whole = "The value"): string {
  const all = issues.map(({ path, message }) => `${path.length === 0 ? whole : path.map(String).join(".")} ${message}`)
  return all.slice(0, 3).join("; ")
}

const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "empty",
  date: "a date",
}

const FORMATS: Readonly<Record<string, string>> = {
  url: "must be an address such as https://example.org",
  email: "must be an e-mail address",
  date: "must be a date such as 2026-01-31",
  datetime: "must be a time such as 2026-01-31T12:00:00Z",
}

const size = (origin: string) => (origin === "number" || origin === "int" || origin === "bigint" ? "be" : "have")

function unit(origin: string, number: number | bigint): string {
  const one = Number(number) === 1
  if (origin === "string") return one ? " character" : " characters"
  if (origin === "array" || origin === "set") return one ? " item" : " items"
  return origin === "object" || origin === "record" || origin === "map" ? (one ? " entry" : " entries") : ""
}
