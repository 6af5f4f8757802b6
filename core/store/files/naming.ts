import type { StoredBytes, Replacement } from "../../engine/stored-files.ts"
import type { ConnectionId, UserId } from "../../protocol/ids.ts"
import type { Statement } from "../engine/operations.ts"

/**
 * The statements that make a file of bytes, give it others, or remove it: each is part of a change that also writes what
 * belongs to it, so that there is never the one without the other.
 */

/** Makes a file of bytes that are in the store. */
export function nameBytes(user: UserId, path: string, { id, hash, size }: StoredBytes): Statement {
  const sql = "UPDATE kept_file SET path = ?, hash = ?, size = ? WHERE id = ? AND person = ? AND path IS NULL"
  return { sql, values: [path, hash, size, id, user] }
}

/** Takes that back where the connection that it was made for was not recorded. */
export function unnameWithout(connection: ConnectionId, { id }: StoredBytes): Statement {
  const sql = `UPDATE kept_file SET path = NULL WHERE id = ?
    AND NOT EXISTS (SELECT 1 FROM connection WHERE connection.id = ?)`
  return { sql, values: [id, connection] }
}

/** Nothing of it is done where the file has other bytes by now, or the new ones have been swept up. */
export function replaceBytes({ user, path, from, to }: Replacement): Statement[] {
  const unnamed = "DELETE FROM kept_file WHERE id = ? AND person = ? AND path IS NULL"
  const next = `UPDATE kept_file SET content = ?, hash = ?, size = ? WHERE person = ? AND path = ? AND content = ?`
  return [
    { sql: unnamed, values: [to.id, user], mustChange: true },
    { sql: next, values: [to.id, to.hash, to.size, user, path, from], mustChange: true },
    { sql: "DELETE FROM kept_file_part WHERE content = ?", values: [from] },
  ]
}

/** Removes a file, if there is one, with its bytes. */
export function removeFile(user: UserId, path: string): Statement[] {
  // It is marked first, under the lock of its row: bytes that a change is just putting in place of these go with it.
  const marked = "person = ? AND path IS NULL AND created_at = 0"
  return [
    { sql: "UPDATE kept_file SET path = NULL, created_at = 0 WHERE person = ? AND path = ?", values: [user, path] },
    {
      sql: `DELETE FROM kept_file_part WHERE content IN (SELECT content FROM kept_file WHERE ${marked})`,
      values: [user],
    },
    { sql: `DELETE FROM kept_file WHERE ${marked}`, values: [user] },
  ]
}
