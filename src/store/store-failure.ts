import { AppError, failure } from "../protocol/errors.ts"

const SQLITE_FULL = 13
const POSTGRES_DISK_FULL = "53100"

/** A failure of the database itself as callers get it: a full disk is named, because a person can do something about it. */
export function toFailure(error: unknown): AppError {
  if (error instanceof AppError) return error
  const problem = isFull(error)
    ? "the disk is full. What is stored can still be read, and writing goes on by itself when there is space again"
    : (error as Error).message
  const known = failure("store_unavailable", { problem })
  known.cause = error
  return known
}

/** SQLite's extended codes say more in the upper bits. */
function isFull(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: unknown }
  return (errcode !== undefined && (errcode & 0xff) === SQLITE_FULL) || code === POSTGRES_DISK_FULL || code === "ENOSPC"
}
