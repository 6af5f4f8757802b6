import type { ByteCounts } from "./byte-counts.ts"
import type { InboxAppend, Commit, OperationOutcome, Statements } from "./operations.ts"
import type { EventRow } from "./event-rows.ts"
import type { StateSource } from "./state-source.ts"
import type { FullText } from "./full-text.ts"
import type { NewIndex, PartitionedTable, SchemaSyntax } from "./schema-syntax.ts"

/** How long this process waits for the database, in milliseconds. */
export interface DatabaseTimeouts {
  /** For a connection, from the pool or over the network, before the request fails. */
  readonly connect: number
  /** For the next bytes on a connection. The server ends an idle transaction after one and a half times this. */
  readonly silence: number
}

export const DEFAULT_TIMEOUTS: DatabaseTimeouts = { connect: 10_000, silence: 10_000 }

/** Implemented by SQLite and PostgreSQL. No code outside this folder depends on which one is used. */
export interface Engine {
  readonly name: "sqlite" | "postgres"
  /** Atomic, and durable when it resolves. Rejects only if the database itself fails. */
  change(operation: Commit): Promise<Extract<OperationOutcome, { committed: unknown }> | RefusedOperation>
  change(operation: InboxAppend): Promise<Extract<OperationOutcome, { arrived: unknown }> | RefusedOperation>
  change(operation: Statements): Promise<Extract<OperationOutcome, { rows: unknown }> | RefusedOperation>
  /** Creates an index unless it exists. Others can read and write in the meantime; `lockMs` as for statements. */
  buildIndex(index: NewIndex, lockMs: number): Promise<void>
  /**
   * Adds a partition for the next keys, if the engine has partitions and it is missing. Others can read and write in
   * the meantime; `lockMs` as above.
   */
  addPartition(table: PartitionedTable, lockMs: number): Promise<void>
  /** Runs a query with `?` for values. */
  query<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>
  /** Events of a conversation, as arrays. */
  events(key: number, range: { after: number; upTo: number; limit: number }): Promise<EventRow[]>
  /** The events that a replay needs, without those that the newest run makes unnecessary. */
  eventsToReplay(key: number): Promise<EventRow[]>
  /**
   * The row of a conversation and its events in one round trip; undefined if it does not exist. Only for an engine that
   * is a server.
   */
  stateSource?(id: string, version: string): Promise<StateSource | undefined>
  /** The SQL of this engine for schemas. */
  readonly syntax: SchemaSyntax
  /** Full-text search in passages. */
  readonly fullText: FullText
  readonly byteCounts: ByteCounts
  /** True if the previous owner of this database, if it was of this kind, has provably ended. */
  readonly exclusive: boolean
  /** Other machines may use this database too, so shared data must not be in local files. */
  readonly manyMachines: boolean
  /** A local folder for data that can be rebuilt from the database. */
  cacheFolder?(what: string): string
  /**
   * Ends a SELECT that locks its rows and skips rows that others have locked. Only for an engine with several writers.
   */
  readonly skipLocked?: string
  /** SQL for the server's time in milliseconds. Only for an engine with a clock of its own. */
  readonly serverTime?: string
  /** Whether the key of a deleted row may be assigned again. */
  readonly reusesKeys: boolean
  /** Rejects if there is no space for further writes. Writes nothing permanent. */
  room(): Promise<void>
  /** Database settings that break the promise of `full` durability, as sentences. */
  weaknesses(): Promise<string[]>
  /** Resolves when deleted data can no longer be read in our files; `words`: nor in the full-text index. */
  scrub(what: { words: boolean }): Promise<void>
  /** Aborts if only a restart can make writing possible again, with the reason. */
  readonly broken: AbortSignal
  /** Shortens all timeouts, because the process is ending. */
  hurry(): void
  close(): Promise<void>
}

export type RefusedOperation = Extract<OperationOutcome, { ok: false }>
