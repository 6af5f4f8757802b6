import type { ClientBase, Connection, Submittable } from "pg"
import { type NamedStatement, toMessages } from "./wire-messages.ts"

/** The values of a row as PostgreSQL's text, in the order of its columns. */
export type TextRow = readonly (string | null)[]

/**
 * Runs prepared statements one after the other in one transaction and one round trip, and returns the rows of each. If
 * one fails, none was done.
 *
 * The driver's own queries take at least half as much again of CPU time: they copy their parameters, describe the
 * columns each time, and create an object for each row.
 */
export function runNamed(client: ClientBase, statements: readonly NamedStatement[]): Promise<TextRow[][]> {
  return new Promise((resolve, reject) => {
    client.query(new NamedStatements(statements, resolve, reject))
  })
}

/** The prepared statements of each connection; the most recently used come last. */
const prepared = new WeakMap<Connection, Set<string>>()

/**
 * Per connection. A commit's plan takes a quarter of a megabyte on the server, and there is one for each number of
 * rows.
 */
const MAX_PREPARED = 100

/** The error code for a session that has lost its prepared statements. */
const STATEMENT_NOT_PREPARED = "26000"

/** Receives the driver's callbacks. */
class NamedStatements implements Submittable {
  readonly #statements: readonly NamedStatement[]
  readonly #resolve: (rows: TextRow[][]) => void
  readonly #reject: (error: unknown) => void
  readonly #rows: TextRow[][]
  #unprepared: readonly NamedStatement[] = []
  #at = 0

  constructor(
    statements: readonly NamedStatement[],
    resolve: (rows: TextRow[][]) => void,
    reject: (error: unknown) => void,
  ) {
    this.#statements = statements
    this.#resolve = resolve
    this.#reject = reject
    this.#rows = statements.map(() => [])
  }

  /** For code that inspects queries. */
  get text(): string {
    return this.#statements.map(({ text }) => text).join(";\n")
  }

  submit(connection: Connection): void {
    const names = prepared.get(connection) ?? new Set<string>()
    if (names.size === 0) prepared.set(connection, names)
    this.#unprepared = this.#statements.filter(({ name }) => !names.has(name))
    for (const { name } of this.#statements) if (names.delete(name)) names.add(name)
    const evicted = evictNames(names, this.#unprepared.length)
    // A connection that is not writable has ended, and rejects its queries itself.
    if (connection.stream.writable) connection.stream.write(toMessages(this.#statements, this.#unprepared, evicted))
  }

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    this.#rows[this.#at]?.push(fields)
  }

  handleCommandComplete(): void {
    this.#at++
  }

  handleError(error: unknown, connection: Connection): void {
    if ((error as { code?: unknown }).code === STATEMENT_NOT_PREPARED) prepared.delete(connection)
    this.#reject(error)
  }

  handleReadyForQuery(connection: Connection): void {
    const names = prepared.get(connection)
    for (const { name } of this.#unprepared) names?.add(name)
    this.#resolve(this.#rows)
  }
}

/** Removes the least recently used names, to make room. */
function evictNames(names: Set<string>, more: number): string[] {
  const out: string[] = []
  for (const name of names) {
    if (names.size + more <= MAX_PREPARED) break
    names.delete(name)
    out.push(name)
  }
  return out
}
