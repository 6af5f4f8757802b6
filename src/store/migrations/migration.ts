import type { NewIndex } from "../engine/new-index.ts"
import type { PartitionedTable } from "../engine/partitioned.ts"
import type { Words } from "../engine/schema-words.ts"

/**
 * One step of the schema. Its `name` is what databases remember as done: it never changes, or it would be done again.
 *
 * While a cluster is upgraded, nodes of the version before work on the new schema. So a step adds what they need not know
 * of: tables, and columns that may be left out. What is no longer needed is taken away by a later version, when no node
 * uses it any more.
 */
export type Migration = StatementsStep | IndexStep | PartitionStep

interface Step {
  readonly name: string
  /**
   * Only where nodes that do not know this step cannot work with what it leaves: the version that an operator has to start
   * instead of them. They refuse to start and name it.
   */
  readonly needs?: string
}

/** Safe to be killed in (one transaction), in plain SQL that both engines read alike. */
export interface StatementsStep extends Step {
  statements(words: Words): string[]
}

/** An index on a table that may be large: built outside of any transaction, while others go on writing to it. */
export interface IndexStep extends Step {
  readonly index: NewIndex
}

/**
 * Gives a table its parts, where the engine has such, in several transactions while others use it. Every version works with
 * the table as it was and as it will be, so that a node that has to wait for this for long does without it.
 */
export interface PartitionStep extends Step {
  readonly partition: PartitionedTable
}
