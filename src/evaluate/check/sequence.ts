import type { ExpectedCall, SequenceCheck } from "../file/expectation.ts"
import type { HappenedCall } from "../happened.ts"
import { fits } from "./fits.ts"

const MAX_SHOWN = 200

/** What is wrong with the calls, or proposals, that were made, in sentences. */
export function checkSequence(check: SequenceCheck, happened: readonly HappenedCall[], what: string): string[] {
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

const isMet = (expected: ExpectedCall, call: HappenedCall | undefined): boolean =>
  call !== undefined &&
  call.tool === expected.tool &&
  (expected.status === undefined || expected.status === call.status) &&
  fits(expected.arguments ?? {}, call.arguments)

/**
 * Those for which no call is left. Each call stands for one at most; who asks for more of a call chooses first, so that
 * `create_task` does not take the one that `create_task` with arguments needs.
 */
function notAmong(expected: readonly ExpectedCall[], happened: readonly HappenedCall[]): ExpectedCall[] {
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
  happened: readonly HappenedCall[],
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

const told = ({ tool, arguments: given, status, result }: HappenedCall): string => {
  const why = status === "error" && result ? `: ${shorten(result)}` : ""
  return `${tool} ${shorten(JSON.stringify(given))} (${status}${why})`
}

const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ")
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN).toWellFormed()}…` : line
}
