import { Tolerance } from "../../evaluate/file/eval-file.ts"
import { CommandError, readFlags } from "../process/command.ts"

const flags = {
  model: { type: "string", multiple: true },
  judge: { type: "string" },
  filter: { type: "string", multiple: true },
  repeat: { type: "string" },
  concurrency: { type: "string" },
  "fail-fast": { type: "boolean" },
  "max-cost": { type: "string" },
  json: { type: "boolean" },
  save: { type: "string" },
  baseline: { type: "string" },
  schema: { type: "boolean" },
  tolerate: { type: "string", multiple: true },
} as const

/** What the command line says. What means nothing there is refused before anything is asked. */
export function readEvalFlags(words: readonly string[]) {
  const { values, positionals } = readFlags("eval", words, flags)
  const { baseline, save, judge, json = false, schema = false } = values
  const tolerated = toTolerance(values.tolerate ?? [])
  if (tolerated && baseline === undefined) throw new CommandError("--tolerate says nothing without --baseline.")
  return {
    ...{ paths: positionals, baseline, save, judge, json, schema, tolerated },
    models: values.model ?? [],
    filter: values.filter ?? [],
    repeat: wholeNumber("repeat", values.repeat),
    concurrency: wholeNumber("concurrency", values.concurrency),
    failFast: values["fail-fast"] ?? false,
    maxCostUsd: amount(values["max-cost"]),
  }
}

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new CommandError(`--${flag} takes a number from 1 on, not "${text}".`)
  return Number(text)
}

function amount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const dollars = Number(text)
  if (text.trim() === "" || !(dollars > 0))
    throw new CommandError(`--max-cost takes dollars such as 0.50, not "${text}".`)
  return dollars
}

function toTolerance(given: readonly string[]): Tolerance | undefined {
  if (given.length === 0) return undefined
  const pairs = given.map((word) => {
    const [name = "", share = ""] = word.split("=", 2)
    return [name, share] as const
  })
  const { data, error } = Tolerance.safeParse(Object.fromEntries(pairs))
  if (data) return data
  throw new CommandError(
    `--tolerate takes cost, tokens, latency or latencyWithoutModel with a percentage, such as cost=20%: ${error.issues[0]?.message}.`,
  )
}
