import type { ByteCounts } from "./byte-counts.ts"
import type { InboxAppend, Commit, OperationOutcome, Statements } from "./operations.ts"
import type { EventRow } from "./event-rows.ts"
import type { FoldSource } from "./fold-source.ts"
import type { NewIndex } from "./new-index.ts"
import type { PartitionedTable } from "./partitioned.ts"
import type { FullText } from "./full-text.ts"
import type { SchemaSyntax } from "./schema-syntax.ts"

/** What SQLite and PostgreSQL each implement; above it nothing knows which one it is. */
export interface Engine {
  readonly name: "sqlite" | "postgres"
  /** Atomic and durable when it resolves. Rejects only when the database itself fails. */
  change(operation: Commit): Promise<Extract<OperationOutcome, { committed: unknown }> | RefusedOperation>
  change(operation: InboxAppend): Promise<Extract<OperationOutcome, { arrived: unknown }> | RefusedOperation>
  change(operation: Statements): Promise<Extract<OperationOutcome, { rows: unknown }> | RefusedOperation>
  /** Nothing where it is there already. Others can read and write meanwhile; `lockMs` as for statements. */
  buildIndex(index: NewIndex, lockMs: number): Promise<void>
  /**
   * Adds a partition for keys that do not exist yet, if the engine has partitions and there is none. Others read and write
   * meanwhile, `lockMs` as above.
   */
  addPartition(table: PartitionedTable, lockMs: number): Promise<void>
  /** Rows of a query, with `?` for values. */
  query<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>
  /** Events of a conversation, as arrays. */
  events(key: number, range: { after: number; upTo: number; limit: number }): Promise<EventRow[]>
  /** The same for whoever folds them all: without what the newest run makes needless. */
  eventsToFold(key: number): Promise<EventRow[]>
  /**
   * The row of a conversation and its events to fold, in one go; undefined where it is not there. Only where each question
   * is a way to a server: elsewhere they are asked one after the other.
   */
  foldSource?(id: string, version: string): Promise<FoldSource | undefined>
  /** How a schema is written for this engine. */
  readonly syntax: SchemaSyntax
  /** How passages are found by their words. */
  readonly fullText: FullText
  /** How the bytes of people's rows are counted. */
  readonly byteCounts: ByteCounts
  /** True when the earlier owner of this database, if it was of this kind, is provably dead. */
  readonly exclusive: boolean
  /** Other machines, each with a disk of its own, may use this database too: what all of them need cannot lie on a disk. */
  readonly manyMachines: boolean
  /** The path of a folder of this machine for what can be made of the database again: beside its file, or a node's own. */
  cacheFolder?(what: string): string
  /** Ends a SELECT that locks its rows and passes over those that others have locked; only where there are several writers. */
  readonly skipLocked?: string
  /** The milliseconds of the database server's own clock, as SQL; only where it is a server, with a clock of its own. */
  readonly serverTime?: string
  /** A key the database has counted up is given again when its row is gone. */
  readonly reusesKeys: boolean
  /** Rejects, with the reason, where there is no room for what is written next. Writes nothing that stays. */
  room(): Promise<void>
  /** What the database itself is set to that breaks the promise of `full` durability, in sentences. */
  weaknesses(): Promise<string[]>
  /** Resolves when nothing of what was deleted can be read in our files; `words`: also not in the index over words. */
  scrub(what: { words: boolean }): Promise<void>
  /** Aborts when only a new start can make writing possible again; the reason says why. */
  readonly broken: AbortSignal
  /** The process goes down: a database that is silent is not waited for much longer. */
  hurry(): void
  close(): Promise<void>
}

export type RefusedOperation = Extract<OperationOutcome, { ok: false }>
