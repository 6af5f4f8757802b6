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

/** What each connection has prepared. */
const known = new WeakMap<Connection, Set<string>>()

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
    const names = known.get(connection)
    this.#unknown = names ? this.#statements.filter(({ name }) => !names.has(name)) : this.#statements
    // One that cannot be written to any more has ended, and says so to whoever waits.
    if (connection.stream.writable) connection.stream.write(toMessages(this.#statements, this.#unknown))
  }

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    this.#rows[this.#at]?.push(fields)
  }

  handleCommandComplete(): void {
    this.#at++
  }

  handleError(error: unknown): void {
    this.#reject(error)
  }

  handleReadyForQuery(connection: Connection): void {
    if (this.#unknown.length > 0) {
      const names = known.get(connection) ?? new Set()
      for (const { name } of this.#unknown) names.add(name)
      known.set(connection, names)
    }
    this.#resolve(this.#rows)
  }
}
