import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { Engine } from "./engine/engine.ts"
import type { Statement } from "./engine/operations.ts"
import { secretHash } from "./people/hashed-secret.ts"
import { passageFiles } from "./library/passage-indexes.ts"
import { noteFiles } from "./workspace/note-rows.ts"
import type { FolderFiles } from "./files/folder-files.ts"
import { removeFilesOnlyUsedIn } from "./files/sweep-message-files.ts"
import { readPackTables } from "./packs/register.ts"
import { personalTables, type PersonalTable } from "./personal-tables.ts"

/** Longer than any request or run from before an erasure can last. */
const STRAGGLERS_MS = 24 * 60 * 60 * 1000

/** Erases conversations and people with all of their rows, each in one transaction. */
export class Erasure {
  readonly #engine: Engine
  readonly #places: Pick<FolderFiles, "removeGoneOrLater">
  readonly #now: () => number
  /** People whose text was removed from the full-text index, which requires rebuilding all of it. */
  readonly #scrubbed = new Set<UserId>()

  constructor(engine: Engine, places: Pick<FolderFiles, "removeGoneOrLater">, now: () => number) {
    this.#engine = engine
    this.#places = places
    this.#now = now
  }

  /** False if it does not exist or belongs to another person. */
  async conversation(user: UserId, id: ConversationId): Promise<boolean> {
    const mine = { sql: "id = ? AND person IN (SELECT key FROM person WHERE id = ?)", values: [id, user] }
    const tables = personalTables.filter(({ names }) => !names.startsWith("person"))
    const [lock, ...rest] = deleteConversations(mine, tables, this.#engine.reusesKeys)
    const own = removeFilesOnlyUsedIn(user, id)
    const statements = [{ ...(lock as Statement), mustChange: true }, ...own, ...rest]
    const { ok } = await this.#engine.change({ type: "statements", statements, patience: "long" })
    if (!ok) return false
    // Rows before bytes: if the change is refused, no bytes are lost; afterwards they are never read. Bytes that cannot
    // be removed now are recorded for a later sweep.
    await this.#places.removeGoneOrLater(user)
    await this.#engine.scrub({ words: false })
    return true
  }

  /** False if the person is already erased. */
  async person(user: UserId): Promise<boolean> {
    const recordErasure =
      "INSERT INTO erased_person (id, at) SELECT id, ? FROM person WHERE id = ? ON CONFLICT (id) DO NOTHING"
    // The row stays for a while, so that its key is not reused. No valid name ends with a space, so it cannot be found.
    // On PostgreSQL, updating a unique column also blocks concurrent references to the row.
    const clearName =
      "UPDATE person SET name = id || ' ', called = NULL, chosen_model = NULL, page_model = NULL, terminal_model = NULL WHERE id = ?"
    const statements = [
      { sql: recordErasure, values: [this.#now(), user], mustChange: true },
      ...(await this.#identityOf(user)),
      { sql: clearName, values: [user] },
      ...(await this.#deletionsOf(user)),
    ]
    const { ok } = await this.#engine.change({ type: "statements", statements, patience: "long" })
    if (!ok) return false
    await this.#places.removeGoneOrLater(user)
    await this.#scrub(user)
    return true
  }

  /** The hash of an issuer's person is stored, so that an older token does not create them again. */
  async #identityOf(user: UserId): Promise<Statement[]> {
    const [row] = await this.#engine.query<{ name: string }>("SELECT name FROM person WHERE id = ?", [user])
    if (!row?.name.startsWith(" ")) return []
    const sql = "INSERT INTO erased_identity (hash, at) VALUES (?, ?) ON CONFLICT (hash) DO UPDATE SET at = excluded.at"
    return [{ sql, values: [secretHash(row.name), this.#now()] }]
  }

  async #scrub(user: UserId): Promise<void> {
    // Other nodes do this within ten minutes; until then they ignore deleted entries of their files.
    for (const files of [passageFiles(this.#engine), noteFiles(this.#engine)])
      await files?.sweep({ halfWritten: "leave" })
    await this.#engine.scrub({ words: !this.#scrubbed.has(user) })
    this.#scrubbed.add(user)
  }

  /** All conversations of a person, and whether a node works on them. */
  async conversationsOf(user: UserId): Promise<{ id: ConversationId; atWork: boolean }[]> {
    const sql = "SELECT c.id, c.owner FROM conversation c JOIN person p ON p.key = c.person WHERE p.id = ?"
    const rows = await this.#engine.query<{ id: ConversationId; owner: string | null }>(sql, [user])
    return rows.map(({ id, owner }) => ({ id, atWork: owner !== null }))
  }

  /** Erases what was in progress when its person was erased: messages, tokens, effects of tools. Returns the people. */
  async sweep(): Promise<UserId[]> {
    const sql = "SELECT id, at FROM erased_person"
    const erased = await this.#engine.query<{ id: UserId; at: number }>(sql, [])
    for (const { id, at } of erased) {
      const last = at + STRAGGLERS_MS < this.#now() ? purge(id) : []
      const statements = [...(await this.#deletionsOf(id)), ...last]
      await this.#engine.change({ type: "statements", statements, patience: "long" })
      await this.#places.removeGoneOrLater(id)
      await this.#scrub(id) // also if the server failed before it did this
    }
    return erased.map(({ id }) => id)
  }

  async #deletionsOf(user: UserId): Promise<Statement[]> {
    const owned = { sql: "person IN (SELECT key FROM person WHERE id = ?)", values: [user] }
    const ofPacks = await readPackTables(this.#engine)
    const ofPerson = [...personalTables.filter(({ names }) => names.startsWith("person")), ...ofPacks]
    const ofConversations = personalTables.filter(({ names }) => !names.startsWith("person"))
    return [
      ...deleteConversations(owned, ofConversations, this.#engine.reusesKeys),
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

/** Deletes conversations, after their rows in these tables. */
function deleteConversations(which: Condition, tables: readonly PersonalTable[], reusesKeys: boolean): Statement[] {
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
    // First, because every commit checks this row: from now on no writer on any node can append.
    { sql: `UPDATE conversation SET owner = NULL, fence = fence + 1, seen = arrivals WHERE ${where}`, values },
    ...tables.flatMap(({ table, column, names, foundBy }) =>
      (foundBy ? extraConditions(foundBy, which) : [{ sql: "", values: [] }]).map((found) => {
        const sql = `DELETE FROM ${table} WHERE ${column} IN (${rows[names]})${found.sql}`
        return { sql, values: [...values, ...found.values] }
      }),
    ),
    ...(reusesKeys ? [reserveKey(which)] : []),
    { sql: `DELETE FROM conversation WHERE ${where}`, values },
    { sql: "DELETE FROM conversation WHERE person = 0 AND key < (SELECT max(key) FROM conversation)", values: [] },
  ]
}

/** A condition that an index supports; several if each covers different rows. */
function extraConditions(
  foundBy: NonNullable<PersonalTable["foundBy"]>,
  { sql: where, values }: Condition,
): Condition[] {
  const keys = `SELECT key FROM conversation WHERE ${where}`
  switch (foundBy) {
    case "started runs": {
      const started = `SELECT message_id FROM event WHERE type = 'run_started' AND conversation IN (${keys})`
      return [{ sql: ` AND id IN (${started})`, values }]
    }
    case "user id": {
      const whose = `SELECT person FROM conversation WHERE ${where}`
      return [{ sql: ` AND user_id IN (SELECT id FROM person WHERE key IN (${whose}))`, values }]
    }
    case "person":
      // Rows whose person is not set yet have an index by conversation; the others are found by person.
      return [
        { sql: " AND person IS NULL", values: [] },
        { sql: ` AND person IN (SELECT person FROM conversation WHERE ${where})`, values },
      ]
  }
}

/**
 * SQLite reuses the highest key after its row is deleted, and a writer that has not noticed could write into another
 * person's conversation. An empty row with the next key prevents that until there is a newer one.
 */
function reserveKey({ sql: where, values }: Condition): Statement {
  const sql = `UPDATE conversation SET key = key + 1, id = 'erased_' || key, person = 0, title = NULL, agent = '',
    model = NULL, provider = NULL WHERE key = (SELECT max(key) FROM conversation) AND ${where}`
  return { sql, values }
}

function purge(user: UserId): Statement[] {
  return [
    // The highest key stays in use, for the same reason.
    { sql: "DELETE FROM person WHERE id = ? AND key < (SELECT max(key) FROM person)", values: [user] },
    { sql: "DELETE FROM erased_person WHERE id = ? AND id NOT IN (SELECT id FROM person)", values: [user] },
  ]
}
