import type { ValidationIssue } from "../../engine/definition/schema.ts"
import { type Pattern, TooMuchWork } from "./check.ts"
import { checkValue } from "./check-value.ts"
import { type ReadSchema, readJsonSchema, SchemaProblem } from "./read-schema.ts"

/** A schema as text, and the value that has to fit it; without one, only whether the schema can be used. */
export interface SchemaJob {
  readonly schema: string
  readonly value?: unknown
}

export type SchemaVerdict =
  | { readonly issues: readonly ValidationIssue[] }
  | { readonly problem: string }
  | { readonly tooMuchWork: true }

interface Usable {
  readonly read: ReadSchema
  readonly patterns: ReadonlyMap<string, Pattern>
}

const MAX_CACHED = 50
const LIMITS = { parts: 4000, depth: 60 }

export type CompilePatterns = (sources: ReadonlySet<string>) => ReadonlyMap<string, Pattern>

/** Does such jobs one after the other, and keeps the schemas that it has read last. */
export class SchemaJobs {
  readonly #cached = new Map<string, Usable>()
  readonly #compile: CompilePatterns
  readonly #steps: number

  constructor(compile: CompilePatterns, steps: number) {
    this.#compile = compile
    this.#steps = steps
  }

  do({ schema, ...given }: SchemaJob): SchemaVerdict {
    try {
      const { read, patterns } = this.#read(schema)
      return { issues: "value" in given ? checkValue(read, given.value, { patterns, steps: this.#steps }) : [] }
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
