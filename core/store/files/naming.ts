import type { StoredBytes, Replacement } from "../../engine/stored-files.ts"
import type { ConnectionId, UserId } from "../../protocol/ids.ts"
import type { Statement } from "../engine/operations.ts"

/**
 * Statements that create, replace or delete a file. Each is part of a change that also writes related rows, so that
 * both exist or neither.
 */

/** Names stored bytes as a file. */
export function nameBytes(user: UserId, path: string, { id, hash, size }: StoredBytes): Statement {
  const sql = "UPDATE kept_file SET path = ?, hash = ?, size = ? WHERE id = ? AND person = ? AND path IS NULL"
  return { sql, values: [path, hash, size, id, user] }
}

/** Reverts that if the connection was not recorded. */
export function unnameUnless(connection: ConnectionId, { id }: StoredBytes): Statement {
  const sql = `UPDATE kept_file SET path = NULL WHERE id = ?
    AND NOT EXISTS (SELECT 1 FROM connection WHERE connection.id = ?)`
  return { sql, values: [id, connection] }
}

/** Does nothing if the file has other bytes by now, or the new ones were swept. */
export function replaceBytes({ user, path, from, to }: Replacement): Statement[] {
  const unnamed = "DELETE FROM kept_file WHERE id = ? AND person = ? AND path IS NULL"
  const next = `UPDATE kept_file SET content = ?, hash = ?, size = ? WHERE person = ? AND path = ? AND content = ?`
  return [
    { sql: unnamed, values: [to.id, user], mustChange: true },
    { sql: next, values: [to.id, to.hash, to.size, user, path, from], mustChange: true },
    { sql: "DELETE FROM kept_file_part WHERE content = ?", values: [from] },
  ]
}

/** Deletes a file with its bytes, if it exists. */
export function removeFile(user: UserId, path: string): Statement[] {
  // Marked first under its row's lock, so that bytes of a concurrent replacement are deleted, too.
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
