import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { Engine } from "./engine/engine.ts"
import type { Statement } from "./engine/operations.ts"
import { secretHash } from "./people/hashed-secret.ts"
import { passageFiles } from "./library/passage-indexes.ts"
import { noteFiles } from "./workspace/note-rows.ts"
import type { PlacedFiles } from "./files/placed-files.ts"
import { removeFilesOnlyUsedIn } from "./files/sweep-message-files.ts"
import { readPackTables } from "./packs/register.ts"
import { personalTables, type PersonalTable } from "./personal-tables.ts"

/** Longer than any request or run that began before a person was erased can last. */
const STRAGGLERS_MS = 24 * 60 * 60 * 1000

/** Takes conversations and people out of the database with everything that belongs to them, each in one transaction. */
export class Erasure {
  readonly #engine: Engine
  readonly #places: Pick<PlacedFiles, "removeGoneOrLater">
  readonly #now: () => number
  /** Whose words are known to be out of the index: that costs a pass over all of it. */
  readonly #scrubbed = new Set<UserId>()

  constructor(engine: Engine, places: Pick<PlacedFiles, "removeGoneOrLater">, now: () => number) {
    this.#engine = engine
    this.#places = places
    this.#now = now
  }

  /** False where there is none of that id, or it is somebody else's. */
  async conversation(user: UserId, id: ConversationId): Promise<boolean> {
    const mine = { sql: "id = ? AND person IN (SELECT key FROM person WHERE id = ?)", values: [id, user] }
    const tables = personalTables.filter(({ names }) => !names.startsWith("person"))
    const [lock, ...rest] = conversations(mine, tables, this.#engine.reusesKeys)
    const own = removeFilesOnlyUsedIn(user, id)
    const statements = [{ ...(lock as Statement), mustChange: true }, ...own, ...rest]
    const { ok } = await this.#engine.change({ type: "statements", statements, patience: "long" })
    if (!ok) return false
    // The rows first: a change that is refused has taken no bytes, and from here on nobody reads them. What is not removed now
    // is on record as left to be removed.
    await this.#places.removeGoneOrLater(user)
    await this.#engine.scrub({ words: false })
    return true
  }

  /** False where the person is gone already. */
  async person(user: UserId): Promise<boolean> {
    const gone = "INSERT INTO erased_person (id, at) SELECT id, ? FROM person WHERE id = ? ON CONFLICT (id) DO NOTHING"
    // The row stays for a while, so that its key is given to nobody else; no name ends with a space, so nobody finds it.
    // Changing what is unique also keeps out, on PostgreSQL, whoever would refer to it in this moment.
    const nameless =
      "UPDATE person SET name = id || ' ', called = NULL, chosen_model = NULL, page_model = NULL, terminal_model = NULL WHERE id = ?"
    const statements = [
      { sql: gone, values: [this.#now(), user], mustChange: true },
      ...(await this.#identityOf(user)),
      { sql: nameless, values: [user] },
      ...(await this.#everythingOf(user)),
    ]
    const { ok } = await this.#engine.change({ type: "statements", statements, patience: "long" })
    if (!ok) return false
    await this.#places.removeGoneOrLater(user)
    await this.#scrub(user)
    return true
  }

  /** Somebody of an issuer of JWTs is remembered as a hash, so that a token from before does not make them anew. */
  async #identityOf(user: UserId): Promise<Statement[]> {
    const [row] = await this.#engine.query<{ name: string }>("SELECT name FROM person WHERE id = ?", [user])
    if (!row?.name.startsWith(" ")) return []
    const sql = "INSERT INTO erased_identity (hash, at) VALUES (?, ?) ON CONFLICT (hash) DO UPDATE SET at = excluded.at"
    return [{ sql, values: [secretHash(row.name), this.#now()] }]
  }

  async #scrub(user: UserId): Promise<void> {
    // On other nodes within ten minutes, and before: what is gone is not read from a file.
    for (const files of [passageFiles(this.#engine), noteFiles(this.#engine)])
      await files?.sweep({ halfWritten: "leave" })
    await this.#engine.scrub({ words: !this.#scrubbed.has(user) })
    this.#scrubbed.add(user)
  }

  /** Which conversations of a person somebody works on, and all there are. */
  async conversationsOf(user: UserId): Promise<{ id: ConversationId; atWork: boolean }[]> {
    const sql = "SELECT c.id, c.owner FROM conversation c JOIN person p ON p.key = c.person WHERE p.id = ?"
    const rows = await this.#engine.query<{ id: ConversationId; owner: string | null }>(sql, [user])
    return rows.map(({ id, owner }) => ({ id, atWork: owner !== null }))
  }

  /** Erases what was still under way when its person was erased: a message, a token, the effect of a tool. Whose it was. */
  async sweep(): Promise<UserId[]> {
    const sql = "SELECT id, at FROM erased_person"
    const erased = await this.#engine.query<{ id: UserId; at: number }>(sql, [])
    for (const { id, at } of erased) {
      const last = at + STRAGGLERS_MS < this.#now() ? purge(id) : []
      const statements = [...(await this.#everythingOf(id)), ...last]
      await this.#engine.change({ type: "statements", statements, patience: "long" })
      await this.#places.removeGoneOrLater(id)
      await this.#scrub(id) // also for one whose server died before it had
    }
    return erased.map(({ id }) => id)
  }

  async #everythingOf(user: UserId): Promise<Statement[]> {
    const theirs = { sql: "person IN (SELECT key FROM person WHERE id = ?)", values: [user] }
    const ofPacks = await readPackTables(this.#engine)
    const ofPerson = [...personalTables.filter(({ names }) => names.startsWith("person")), ...ofPacks]
    const ofConversations = personalTables.filter(({ names }) => !names.startsWith("person"))
    return [
      ...conversations(theirs, ofConversations, this.#engine.reusesKeys),
      ...ofPerson.map(({ table, column, names }): Statement => {
        const whose = names === "person id" ? "?" : "(SELECT key FROM person WHERE id = ?)"
        return { sql: `DELETE FROM ${table} WHERE ${column} = ${whose}`, values: [user] }
      }),
    ]
  }
}

interface Condition {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Removes conversations, their rows in these tables first. */
function conversations(which: Condition, tables: readonly PersonalTable[], reusesKeys: boolean): Statement[] {
  const { sql: where, values } = which
  const keys = `SELECT key FROM conversation WHERE ${where}`
  const rows: Record<PersonalTable["names"], string> = {
    "conversation key": keys,
    "conversation id": `SELECT id FROM conversation WHERE ${where}`,
    "call of a conversation": `SELECT call_id FROM event WHERE call_id IS NOT NULL AND conversation IN (${keys})`,
    "person key": "",
    "person id": "",
  }
  return [
    // First, because this is the row on which every commit hangs: from here on no writer, wherever it is, adds anything.
    { sql: `UPDATE conversation SET owner = NULL, fence = fence + 1, seen = arrivals WHERE ${where}`, values },
    ...tables.flatMap(({ table, column, names, foundBy }) =>
      (foundBy ? further(foundBy, which) : [{ sql: "", values: [] }]).map((found) => {
        const sql = `DELETE FROM ${table} WHERE ${column} IN (${rows[names]})${found.sql}`
        return { sql, values: [...values, ...found.values] }
      }),
    ),
    ...(reusesKeys ? [keepKey(which)] : []),
    { sql: `DELETE FROM conversation WHERE ${where}`, values },
    { sql: "DELETE FROM conversation WHERE person = 0 AND key < (SELECT max(key) FROM conversation)", values: [] },
  ]
}

/** A condition that an index answers; of several, each for rows that the others leave out. */
function further(foundBy: NonNullable<PersonalTable["foundBy"]>, { sql: where, values }: Condition): Condition[] {
  const keys = `SELECT key FROM conversation WHERE ${where}`
  switch (foundBy) {
    case "started runs": {
      const begun = `SELECT message_id FROM event WHERE type = 'run_started' AND conversation IN (${keys})`
      return [{ sql: ` AND id IN (${begun})`, values }]
    }
    case "user id": {
      const whose = `SELECT person FROM conversation WHERE ${where}`
      return [{ sql: ` AND user_id IN (SELECT id FROM person WHERE key IN (${whose}))`, values }]
    }
    case "person":
      // Where it is not noted yet whose a row is there is an index by conversation; else all of one person's are looked at.
      return [
        { sql: " AND person IS NULL", values: [] },
        { sql: ` AND person IN (SELECT person FROM conversation WHERE ${where})`, values },
      ]
  }
}

/**
 * SQLite gives the highest key again once its row is gone, and a writer that has not noticed yet would write into the
 * next person's conversation. An empty row of nobody, one higher, stands in the way until there is a newer one.
 */
function keepKey({ sql: where, values }: Condition): Statement {
  const sql = `UPDATE conversation SET key = key + 1, id = 'erased_' || key, person = 0, title = NULL, agent = '',
    model = NULL, provider = NULL WHERE key = (SELECT max(key) FROM conversation) AND ${where}`
  return { sql, values }
}

function purge(user: UserId): Statement[] {
  return [
    // The newest key stays taken, for the same reason.
    { sql: "DELETE FROM person WHERE id = ? AND key < (SELECT max(key) FROM person)", values: [user] },
    { sql: "DELETE FROM erased_person WHERE id = ? AND id NOT IN (SELECT id FROM person)", values: [user] },
  ]
}
