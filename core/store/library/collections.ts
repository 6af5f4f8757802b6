import type { Page } from "../../protocol/answers.ts"
import { failure } from "../../protocol/errors.ts"
import { type CollectionId, newId, type UserId } from "../../protocol/ids.ts"
import type { CollectionView } from "../../protocol/library.ts"
import type { PageQuery } from "../../protocol/requests.ts"
import type { Engine } from "../engine/engine.ts"
import { newestFirst } from "../engine/newest-first.ts"
import { toTime } from "../engine/row-values.ts"

/** The maximum collections of a person: each has an index in memory while it is searched. */
export const MAX_COLLECTIONS = 100
const COLUMNS = "x.id, x.name, x.documents, x.passages, x.created_at, x.updated_at"

interface Row {
  readonly id: CollectionId
  readonly name: string
  readonly documents: number
  readonly passages: number
  readonly created_at: number
  readonly updated_at: number
}

/** Collections of people. `SqlDocuments` has their contents. */
export class SqlCollections {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  list(user: UserId, page: PageQuery): Promise<Page<CollectionView>> {
    return newestFirst<Row, CollectionView>(this.#engine, page, {
      select: `SELECT ${COLUMNS} FROM collection x WHERE x.person = ?`,
      values: [user],
      toItem: toView,
    })
  }

  async find(user: UserId, id: CollectionId): Promise<CollectionView | undefined> {
    const sql = `SELECT ${COLUMNS} FROM collection x WHERE x.id = ? AND x.person = ?`
    const [row] = await this.#engine.query<Row>(sql, [id, user])
    return row && toView(row)
  }

  /** All collections of a person, or those of the given ones that belong to them. */
  async sizes(user: UserId, among?: readonly CollectionId[]): Promise<{ id: CollectionId; passages: number }[]> {
    const sql = "SELECT id, passages FROM collection WHERE person = ?"
    const rows = await this.#engine.query<{ id: CollectionId; passages: number }>(sql, [user])
    return among ? rows.filter(({ id }) => among.includes(id)) : rows
  }

  async create(user: UserId, name: string): Promise<CollectionView> {
    const now = this.#now()
    const id = newId("col", user, now)
    const sql = `INSERT INTO collection (id, person, name, created_at, updated_at) SELECT ?, ?, ?, CAST(? AS BIGINT), CAST(? AS BIGINT)
      WHERE (SELECT count(*) FROM collection WHERE person = ?) < ${MAX_COLLECTIONS} ON CONFLICT (person, name) DO NOTHING`
    const statements = [{ sql, values: [id, user, name, now, now, user], mustChange: true }]
    const { ok } = await this.#engine.change({ type: "statements", statements })
    const created = ok ? await this.find(user, id) : undefined
    if (created) return created
    if (await this.#named(user, name)) throw failure("name_taken", { name })
    throw failure("too_many", { what: "collections", most: MAX_COLLECTIONS })
  }

  /** The collection of this name, created if necessary; of several concurrent callers one creates it. */
  async ensure(user: UserId, name: string): Promise<CollectionId> {
    const found = await this.#named(user, name)
    if (found) return found
    try {
      return (await this.create(user, name)).id
    } catch (error) {
      const existing = await this.#named(user, name)
      if (existing) return existing
      throw error
    }
  }

  async #named(user: UserId, name: string): Promise<CollectionId | undefined> {
    const sql = "SELECT id FROM collection WHERE person = ? AND name = ?"
    return (await this.#engine.query<{ id: CollectionId }>(sql, [user, name]))[0]?.id
  }
}

function toView({ id, name, documents, passages, created_at, updated_at }: Row): CollectionView {
  return { id, name, documents, passages, createdAt: toTime(created_at), updatedAt: toTime(updated_at) }
}
