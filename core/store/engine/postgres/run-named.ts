import type { ClientBase, Connection, Submittable } from "pg"
import { type NamedStatement, toMessages } from "./wire-messages.ts"

/** The values of a row as PostgreSQL writes them, in the order of its columns. */
export type TextRow = readonly (string | null)[]

/**
 * The rows of each of the statements, which are run one after the other in one transaction of their own, on one way to
 * the server and back. Where one of them fails, none was done.
 *
 * The driver's own queries take half as much again of the processor's time, or more: they copy what they are given,
 * ask for the columns each time, and make an object of each row.
 */
export function runNamed(client: ClientBase, statements: readonly NamedStatement[]): Promise<TextRow[][]> {
  return new Promise((resolve, reject) => {
    client.query(new NamedStatements(statements, resolve, reject))
  })
}

/** What each connection has prepared; what was used last comes last. */
const known = new WeakMap<Connection, Set<string>>()

/** Of each connection. A commit costs the server a quarter of a megabyte, and has a text for each number of rows of its parts. */
const MAX_KNOWN = 100

/** The session has lost what it had prepared. */
const UNKNOWN_STATEMENT = "26000"

/** What the driver calls with the answers, as they come. */
class NamedStatements implements Submittable {
  readonly #statements: readonly NamedStatement[]
  readonly #resolve: (rows: TextRow[][]) => void
  readonly #reject: (error: unknown) => void
  readonly #rows: TextRow[][]
  #unknown: readonly NamedStatement[] = []
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

  /** For whoever watches what is sent. */
  get text(): string {
    return this.#statements.map(({ text }) => text).join(";\n")
  }

  submit(connection: Connection): void {
    const names = known.get(connection) ?? new Set<string>()
    if (names.size === 0) known.set(connection, names)
    this.#unknown = this.#statements.filter(({ name }) => !names.has(name))
    for (const { name } of this.#statements) if (names.delete(name)) names.add(name)
    const forgotten = leaveRoom(names, this.#unknown.length)
    // One that cannot be written to any more has ended, and says so to whoever waits.
    if (connection.stream.writable) connection.stream.write(toMessages(this.#statements, this.#unknown, forgotten))
  }

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    this.#rows[this.#at]?.push(fields)
  }

  handleCommandComplete(): void {
    this.#at++
  }

  handleError(error: unknown, connection: Connection): void {
    if ((error as { code?: unknown }).code === UNKNOWN_STATEMENT) known.delete(connection)
    this.#reject(error)
  }

  handleReadyForQuery(connection: Connection): void {
    const names = known.get(connection)
    for (const { name } of this.#unknown) names?.add(name)
    this.#resolve(this.#rows)
  }
}

/** Takes out those that were not used for longest, as far as there would be too many. */
function leaveRoom(names: Set<string>, more: number): string[] {
  const out: string[] = []
  for (const name of names) {
    if (names.size + more <= MAX_KNOWN) break
    names.delete(name)
    out.push(name)
  }
  return out
}
