import { readFile } from "node:fs/promises"
import type { z } from "zod"
import { EvalFile } from "./eval-file.ts"
import { plainErrors } from "../../../core/shared/text/schema-text.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"

/** The problems of a file, one line each: `evals/tasks.yaml:12:5: case "milk", expect.calls: …`. */
export class EvalFileFault extends Error {
  override readonly name = "EvalFileFault"
}

const MAX_FAULTS = 20
const MAX_BYTES = 16 * 1024 * 1024

/** Reads YAML, which includes JSON, and reports problems with their positions. */
export async function readEvalFile(path: string): Promise<EvalFile> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new EvalFileFault(`${path} cannot be read: ${failureReason(error)}.`)
  })
  if (text.length > MAX_BYTES) throw new EvalFileFault(`${path} is larger than ${MAX_BYTES / 1024 / 1024} MB.`)
  return parseEvalFile(text, path)
}

/** Parses the text of a file. */
export async function parseEvalFile(text: string, path: string): Promise<EvalFile> {
  // Imported here, because no other command reads YAML.
  const { LineCounter, parseDocument } = await import("yaml")
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${path}:${line}:${col}`
  }
  const broken = document.errors.map(({ pos, message }) => `${at(pos[0])}: ${message.split("\n")[0]}`)
  if (broken.length > 0) throw new EvalFileFault(broken.slice(0, MAX_FAULTS).join("\n"))
  const value: unknown = document.toJS({ maxAliasCount: 1000 })
  const { data, error } = EvalFile.safeParse(value, plainErrors)
  if (data) return data
  const found = withoutEchoes(error.issues.flatMap(inMostFitting)).map(({ path: field, message, key }) => {
    const start = startOf(document, key === undefined ? field : [...field, key])
    return { start, words: `${at(start)}: ${fieldName(value, field)}${message}` }
  })
  const faults = found.toSorted((a, b) => a.start - b.start).map(({ words }) => words)
  const more = faults.length > MAX_FAULTS ? [`… and ${faults.length - MAX_FAULTS} more`] : []
  throw new EvalFileFault(faults.slice(0, MAX_FAULTS).concat(more).join("\n"))
}

interface Fault {
  readonly path: readonly PropertyKey[]
  readonly message: string
  /** The unknown field. */
  readonly key?: string
  /** The type is right, but the value is invalid. */
  readonly isNear?: boolean
  /** The shape is right, but it violates one of our rules. */
  readonly isRule?: boolean
}

/** Drops problems that follow from a misspelt field. */
const withoutEchoes = (faults: readonly Fault[]): Fault[] =>
  faults.filter(
    ({ path, isRule }) => !isRule || !faults.some((other) => other.key !== undefined && same(other.path, path)),
  )

const same = (a: readonly PropertyKey[], b: readonly PropertyKey[]): boolean =>
  a.length === b.length && a.every((part, index) => part === b[index])

/**
 * If several forms are possible, zod only reports that none matches. Reports the problems of the form that matches
 * best, or all forms if none matches at all.
 */
function inMostFitting(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ path: issue.path, key, message: `unknown field "${key}"` }))
  if (issue.code !== "invalid_union") {
    const isNear = issue.code !== "invalid_type" && issue.code !== "invalid_value"
    return [{ path: issue.path, message: issue.message, isNear, isRule: issue.code === "custom" }]
  }
  const ways = issue.errors.map((faults) =>
    faults.flatMap(inMostFitting).map((fault) => ({ ...fault, path: [...issue.path, ...fault.path] })),
  )
  const depth = (faults: readonly Fault[]) =>
    Math.min(...faults.map(({ path, key, isNear }) => path.length + (key !== undefined || isNear ? 0.5 : 0)))
  const best = ways
    .filter((faults) => faults.length > 0)
    .toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0]
  return best && depth(best) > issue.path.length ? best : [{ path: issue.path, message: issue.message }]
}

interface Node {
  readonly range?: readonly [number, number, number] | null
  readonly items?: readonly { readonly key?: Node & { readonly value?: unknown } }[]
}

/** The position of a field by its name, or of its parent. */
function startOf(
  document: { getIn(path: unknown[], keepScalar: true): unknown },
  path: readonly PropertyKey[],
): number {
  const nodeAt = (length: number) => document.getIn(path.slice(0, length), true) as Node | null | undefined
  for (let length = path.length; length > 0; length--) {
    const within = length === 1 ? undefined : nodeAt(length - 1)
    const name = within?.items?.find((item) => item.key?.value === path[length - 1])?.key
    const range = name?.range ?? nodeAt(length)?.range
    if (range) return range[0]
  }
  return 0
}

/** `case "milk", expect.calls[0]: `; a case without a name is named by its number. */
function fieldName(value: unknown, path: readonly PropertyKey[]): string {
  const isCase = path[0] === "cases" && typeof path[1] === "number"
  const words = (isCase ? path.slice(2) : path).map((part, index) =>
    typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`,
  )
  const field = words.join("")
  if (!isCase) return field === "" ? "" : `${field}: `
  const given = (value as { cases: { name?: unknown }[] }).cases[path[1] as number]?.name
  const name = typeof given === "string" ? JSON.stringify(given) : Number(path[1]) + 1
  return `case ${name}${field === "" ? "" : `, ${field}`}: `
}
