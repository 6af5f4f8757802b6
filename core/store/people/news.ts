import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

type Kind = "conversations" | "workspace" | "library"

interface Count {
  readonly user: UserId
  readonly kind: Kind
  readonly count: number
}

/** People per query. */
const AT_ONCE = 100
const SOME = new Array<string>(AT_ONCE).fill("?").join(", ")

/**
 * Counts changes of a person's data for the nodes of a database: a node whose last count is lower has something to
 * show. A count says that something changed, not what, so counting late does no harm.
 */
export class SqlNews {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Counts a change for each person. In the order of their keys, so that two nodes cannot deadlock. */
  async tell(kind: Kind, users: readonly UserId[]): Promise<Count[]> {
    const sql = `INSERT INTO news (person, kind, count) SELECT key, ?, 1 FROM person WHERE id IN (${SOME}) ORDER BY key
      ON CONFLICT (person, kind) DO UPDATE SET count = news.count + 1`
    for (const values of portions(users)) {
      await this.#engine.change({ type: "statements", statements: [{ sql, values: [kind, ...values] }] })
    }
    return (await this.read(users)).filter((count) => count.kind === kind)
  }

  async read(users: readonly UserId[]): Promise<Count[]> {
    const sql = `SELECT person.id AS "user", news.kind, news.count FROM news JOIN person ON person.key = news.person
      WHERE person.id IN (${SOME})`
    const found = await Promise.all(portions(users).map((values) => this.#engine.query<Count>(sql, values)))
    return found.flat()
  }
}

/** Padded to one length, so that the statement is always the same and stays prepared. */
function portions(users: readonly UserId[]): string[][] {
  const count = Math.ceil(users.length / AT_ONCE)
  return Array.from({ length: count }, (_, portion) =>
    Array.from({ length: AT_ONCE }, (_, at) => users[portion * AT_ONCE + at] ?? ""),
  )
}
