import type { ValidationIssue } from "../../engine/definition/schema.ts"
import { type Pattern, TooMuchWork } from "./check.ts"
import { checkValue } from "./check-value.ts"
import { type ParsedSchema, readJsonSchema, SchemaProblem } from "./read-schema.ts"

/** A schema as text, and a value to check; without a value only the schema is checked. */
export interface SchemaJob {
  readonly schema: string
  readonly value?: unknown
}

export type SchemaVerdict =
  | { readonly issues: readonly ValidationIssue[] }
  | { readonly problem: string }
  | { readonly tooMuchWork: true }

interface Usable {
  readonly read: ParsedSchema
  readonly patterns: ReadonlyMap<string, Pattern>
}

const MAX_CACHED = 50
const LIMITS = { parts: 4000, depth: 60 }

type CompilePatterns = (sources: ReadonlySet<string>) => ReadonlyMap<string, Pattern>

/** Executes jobs, with a cache of parsed schemas. */
export class SchemaJobs {
  readonly #cached = new Map<string, Usable>()
  readonly #compile: CompilePatterns
  readonly #steps: number

  constructor(compile: CompilePatterns, steps: number) {
    this.#compile = compile
    this.#steps = steps
  }

  do({ schema, ...input }: SchemaJob): SchemaVerdict {
    try {
      const { read, patterns } = this.#read(schema)
      return { issues: "value" in input ? checkValue(read, input.value, { patterns, steps: this.#steps }) : [] }
    } catch (error) {
      if (error instanceof SchemaProblem) return { problem: error.message }
      if (error instanceof TooMuchWork) return { tooMuchWork: true }
      throw error
    }
  }

  #read(text: string): Usable {
    const known = this.#cached.get(text)
    if (known) return known
    const read = readJsonSchema(JSON.parse(text), LIMITS)
    const usable = { read, patterns: this.#compile(read.patterns) }
    this.#cached.set(text, usable)
    const [oldest] = this.#cached.keys()
    if (this.#cached.size > MAX_CACHED && oldest !== undefined) this.#cached.delete(oldest)
    return usable
  }
}
