import type { StorageRoom } from "../../engine/ports.ts"
import { type AppError, failure } from "../../protocol/errors.ts"
import { type StorageKind, type StorageUse, USUAL_PERSON_BYTES } from "../../protocol/account/storage.ts"
import { type ConversationId, isId, type UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { Commit, Operation } from "../engine/operations.ts"
import { isStorageFull } from "../engine/store-failure.ts"
import { storageKindOf } from "./counted-tables.ts"

/** With more rows than this, a reader merges a person's rows into one per table. */
const MAX_ROWS = 100

interface Row {
  readonly person: UserId
  readonly source: string
  readonly bytes: number
  readonly parts: number
}

/** How many bytes people store and may store. */
export class SqlStorage implements StorageRoom {
  readonly #engine: Engine
  #limitBytes = USUAL_PERSON_BYTES

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * Stores the limit in the database: the last process to start sets it. Without a number the stored limit stays,
   * because a command does not know the server's setting.
   */
  async setLimit(bytes: number | undefined): Promise<void> {
    const [row] = await this.#engine.query<{ bytes: number }>("SELECT bytes FROM storage_limit", [])
    this.#limitBytes = bytes ?? row?.bytes ?? USUAL_PERSON_BYTES
    if (row?.bytes === this.#limitBytes) return
    const statements = [
      { sql: "DELETE FROM storage_limit", values: [] },
      { sql: "INSERT INTO storage_limit (bytes) VALUES (?)", values: [this.#limitBytes] },
    ]
    await this.#engine.change({ type: "statements", statements })
  }

  /** By table, largest first. */
  async byTable(user: UserId): Promise<ReadonlyMap<string, number>> {
    return toTables(await this.#rows("?", user))
  }

  async read(user: UserId): Promise<StorageUse> {
    return this.#toUse(await this.#rows("?", user))
  }

  async demandRoom(user: UserId): Promise<void> {
    this.#demandRoom(this.#toUse(await this.#rows("?", user)))
  }

  async demandRoomFor(conversation: ConversationId): Promise<void> {
    const owner = "(SELECT id FROM person WHERE key = (SELECT person FROM conversation WHERE id = ?))"
    this.#demandRoom(this.#toUse(await this.#rows(owner, conversation)))
  }

  #demandRoom(use: StorageUse): void {
    if (use.bytes >= use.limitBytes) throw toFailure(use)
  }

  async #rows(owner: string, value: string): Promise<readonly Row[]> {
    const sql = `SELECT person, source, CAST(sum(bytes) AS BIGINT) AS bytes, CAST(count(*) AS BIGINT) AS parts
      FROM storage_use WHERE person = ${owner} GROUP BY person, source ORDER BY 3 DESC, 2`
    const rows = await this.#engine.query<Row>(sql, [value])
    const { compact } = this.#engine.byteCounts
    if (compact !== undefined && rows.reduce((sum, { parts }) => sum + parts, 0) > MAX_ROWS) {
      const user = rows[0]?.person
      await this.#engine.change({ type: "statements", statements: [{ sql: compact, values: [user, user] }] })
    }
    return rows
  }

  #toUse(rows: readonly Row[]): StorageUse {
    const sums = new Map<StorageKind, number>()
    for (const [table, bytes] of toTables(rows)) {
      const kind = storageKindOf(table)
      sums.set(kind, (sums.get(kind) ?? 0) + bytes)
    }
    const kinds = [...sums].map(([kind, bytes]) => ({ kind, bytes })).sort((one, other) => other.bytes - one.bytes)
    return { bytes: kinds.reduce((sum, { bytes }) => sum + bytes, 0), limitBytes: this.#limitBytes, kinds }
  }

  /** Converts an error of this operation: a storage error gets the person's usage. */
  async explain(error: unknown, operation: Operation): Promise<unknown> {
    if (!isStorageFull(error) || operation.type !== "statements") return error
    const values = new Set(operation.statements.flatMap((statement) => statement.values))
    const people = [...values]
      .filter((value): value is UserId => typeof value === "string" && isId("user", value))
      .slice(0, MAX_PEOPLE)
    const uses = await Promise.all(people.map((user) => this.read(user)))
    const [most] = uses.sort((one, other) => other.bytes - one.bytes)
    return most ? toFailure(most) : error
  }
}

const toTables = (rows: readonly Row[]): ReadonlyMap<string, number> =>
  new Map(rows.flatMap(({ source, bytes }) => (bytes > 0 ? [[source, bytes] as const] : [])))

/** A statement concerns one person, or a few who share something. */
const MAX_PEOPLE = 4

function toFailure({ bytes, limitBytes, kinds: [most] }: StorageUse): AppError {
  const { kind, bytes: mostBytes } = most ?? { kind: "conversations", bytes: 0 }
  return failure("storage_full", { limitBytes, bytes, most: kind, mostBytes })
}

/** Wraps an engine so that storage errors tell people what to do. */
export function withStorageErrors(engine: Engine, storage: SqlStorage): Engine {
  const change = async (operation: Operation) => {
    try {
      return await engine.change(operation as Commit)
    } catch (error) {
      throw await storage.explain(error, operation)
    }
  }
  return { ...engine, change: change as Engine["change"] }
}
