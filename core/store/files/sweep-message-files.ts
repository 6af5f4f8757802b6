import { type FileId, isId, type UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"

/** Longer than an upload takes. */
const UNFINISHED_MS = 60 * 60_000
/** How long a file waits for a message that refers to it. */
export const UNUSED_MS = 24 * 60 * 60_000
/** Rows per sweep; sweeps are frequent. */
const AT_ONCE = 200

/** Deletes interrupted uploads, uses without a message, and unused files. */
export async function sweepMessageFiles(engine: Engine, now: number): Promise<void> {
  const interrupted = "SELECT id FROM message_file WHERE hash IS NULL AND created_at < ? LIMIT ?"
  for (const { id } of await engine.query<{ id: FileId }>(interrupted, [now - UNFINISHED_MS, AT_ONCE]))
    await change(engine, removeWhere(id, { sql: "hash IS NULL AND created_at < ?", values: [now - UNFINISHED_MS] }))
  await checkUses(engine, now)
  const unused = `SELECT id FROM message_file WHERE hash IS NOT NULL AND created_at < ?
    AND NOT EXISTS (SELECT 1 FROM message_file_use WHERE file = message_file.id) LIMIT ?`
  for (const { id } of await engine.query<{ id: FileId }>(unused, [now - UNUSED_MS, AT_ONCE]))
    await change(engine, removeUnused(id, now - UNUSED_MS))
}

interface UseRow {
  readonly file: FileId
  readonly conversation: string
  readonly message: string
}

/** A use is recorded before its message or result. A process that fails in between leaves a use without either. */
async function checkUses(engine: Engine, now: number): Promise<void> {
  const sql =
    "SELECT file, conversation, message FROM message_file_use WHERE checked_at IS NULL AND used_at < ? LIMIT ?"
  for (const use of await engine.query<UseRow>(sql, [now - UNUSED_MS, AT_ONCE])) {
    const which = "WHERE file = ? AND conversation = ? AND message = ?"
    const values = [use.file, use.conversation, use.message]
    const statement = (await isNamed(engine, use))
      ? { sql: `UPDATE message_file_use SET checked_at = ? ${which}`, values: [now, ...values] }
      : { sql: `DELETE FROM message_file_use ${which} AND used_at < ?`, values: [...values, now - UNUSED_MS] }
    await change(engine, [statement])
  }
}

async function isNamed(engine: Engine, { file, conversation, message }: UseRow): Promise<boolean> {
  const key = "(SELECT key FROM conversation WHERE id = ?)"
  // Without a message, a use is of a whole conversation that was forked from another.
  if (message === "") return (await engine.query("SELECT id FROM conversation WHERE id = ?", [conversation])).length > 0
  if (isId("call", message)) {
    const ended = `SELECT body FROM event WHERE conversation = ${key} AND call_id = ? AND type = 'tool_end'`
    const ends = await engine.query<{ body: string | null }>(ended, [conversation, message])
    return ends.some(({ body }) => body?.includes(`"${file}"`))
  }
  // In the order in which a message moves; in the reverse order, a message that is consumed in between would be in
  // neither.
  const waiting = await engine.query<{ body: string }>(`SELECT body FROM inbox WHERE conversation = ${key}`, [
    conversation,
  ])
  if (waiting.some(({ body }) => (JSON.parse(body) as { id?: string }).id === message)) return true
  const messageSql = `SELECT position FROM event WHERE conversation = ${key} AND message_id = ?`
  return (await engine.query(messageSql, [conversation, message])).length > 0
}

/** Locks the row first: a concurrent use waits and finds the file gone, or is visible here. */
function removeUnused(id: FileId, before: number): Statement[] {
  const lock = "UPDATE message_file SET size = size WHERE id = ? AND created_at < ?"
  const unused = "NOT EXISTS (SELECT 1 FROM message_file_use WHERE file = ?)"
  return [{ sql: lock, values: [id, before], mustChange: true }, ...removeWhere(id, { sql: unused, values: [id] })]
}

function removeWhere(id: FileId, { sql, values }: Statement): Statement[] {
  return [
    { sql: `DELETE FROM message_file WHERE id = ? AND ${sql}`, values: [id, ...values], mustChange: true },
    { sql: "DELETE FROM message_file_part WHERE file = ?", values: [id] },
    { sql: "DELETE FROM message_file_text WHERE file = ?", values: [id] },
  ]
}

/**
 * Deletes the files that only this conversation used: part of the change that erases it, before its uses are deleted.
 * Uploads without a message stay.
 */
export function removeFilesOnlyUsedIn(user: UserId, conversation: string): Statement[] {
  const marked = "person = ? AND hash LIKE 'erased %'"
  return [
    {
      // A separate statement locks them, so that the next one sees concurrent uses.
      sql: `UPDATE message_file SET size = size WHERE person = ?
        AND id IN (SELECT file FROM message_file_use WHERE conversation = ?)`,
      values: [user, conversation],
    },
    {
      sql: `UPDATE message_file SET hash = 'erased ' || id WHERE person = ? AND hash IS NOT NULL
        AND id IN (SELECT file FROM message_file_use WHERE conversation = ?)
        AND NOT EXISTS (SELECT 1 FROM message_file_use other WHERE other.file = message_file.id AND other.conversation <> ?)`,
      values: [user, conversation, conversation],
    },
    ...["message_file_part", "message_file_text"].map((table) => ({
      sql: `DELETE FROM ${table} WHERE file IN (SELECT id FROM message_file WHERE ${marked})`,
      values: [user],
    })),
    { sql: `DELETE FROM message_file WHERE ${marked}`, values: [user] },
  ]
}

async function change(engine: Engine, statements: readonly Statement[]): Promise<void> {
  await engine.change({ type: "statements", statements })
}
