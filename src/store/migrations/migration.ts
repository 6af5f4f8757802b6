import type { Words } from "../engine/schema-words.ts"

/**
 * One step of the schema: safe to be killed in (one transaction), in plain SQL that both engines read alike. Its `name` is
 * what databases remember as done: it never changes, or it would be done again.
 */
export interface Migration {
  readonly name: string
  statements(words: Words): string[]
}
