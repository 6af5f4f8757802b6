import { STORAGE_FULL } from "./byte-counts.ts"
import { AppError, failure, hasCode } from "../../protocol/errors.ts"

const SQLITE_FULL = 13
const SQLITE_UNREADABLE = new Set([5, 6, 10, 14]) // busy, locked, disk error, cannot be opened
const POSTGRES_DISK_FULL = "53100"
/**
 * Connection errors, too many connections, shutdown, startup, standby, or a timeout of the server. By class or by code.
 */
const POSTGRES_UNREACHABLE = /^(08|53|57P|58)|^(25006|25P0[34])$/
const CONNECTION_LOST = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN"],
])
const NAME_UNKNOWN = new Set(["ENOTFOUND", "EAI_AGAIN", "ENOENT"])
/** Errors that the driver reports only as text. */
const DRIVER_SAYS =
  /connection terminated|timeout exceeded when trying to connect|connection error and is not queryable|was closed and is not queryable/i

/** A failed write as callers get it. A full disk is named, because a person can act on it. */
export function toWriteFailure(error: unknown): AppError {
  return unavailable(error) ?? asFailure(error, (error as Error).message)
}

/** A failed read: a store error if the database is unreachable, otherwise the error itself. */
export function toReadFailure(error: unknown): unknown {
  return unavailable(error) ?? error
}

function unavailable(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  if (isFull(error)) return asFailure(error, DISK_FULL)
  return isUnreachable(error) ? storeUnreachable(error) : undefined
}

const UNREACHABLE = "the database cannot be reached; Pawl retries automatically"

/** Does not use the driver's text, which contains addresses. */
export function storeUnreachable(error: unknown): AppError {
  return asFailure(error, UNREACHABLE)
}

export const DISK_FULL =
  "the disk is full. What is stored can still be read, and writing continues when there is space again"

/**
 * The message of a command that ends because of the store: unlike a server, it does not retry. Undefined for other
 * errors.
 */
export function endReason(error: unknown): string | undefined {
  const { message = "" } = error as { message?: string }
  const isStore = hasCode(error, "store_unavailable")
  if (isFull(error) || (isStore && message.includes(DISK_FULL)))
    return "The disk is full, so nothing can be written. What is stored is safe. Free some space on the disk, then run this again."
  if (isStore && message.includes(UNREACHABLE))
    return "The database cannot be reached. Run this again when it is available."
  return undefined
}

function asFailure(cause: unknown, problem: string): AppError {
  const known = failure("store_unavailable", { problem })
  known.cause = cause
  return known
}

/** A lock timeout or a deadlock: nothing was done, and it can be retried. */
export function isLockTimeout(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  return /^(55P03|40P01)$/.test(String(cause?.code ?? code))
}

/** Whether a trigger refused a statement because the person's storage is full. Nothing was done. */
export const isStorageFull = (error: unknown): boolean =>
  error instanceof AppError && (error.cause as { message?: unknown } | undefined)?.message === STORAGE_FULL

/** SQLite's extended codes use the upper bits. */
function isFull(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: unknown }
  return (errcode !== undefined && (errcode & 0xff) === SQLITE_FULL) || code === POSTGRES_DISK_FULL || code === "ENOSPC"
}

/** Whether the database is unreachable. A connection with this error must not be reused. */
export function isUnreachable(error: unknown): boolean {
  const { errcode, code, message } = error as { errcode?: number; code?: unknown; message?: unknown }
  if (errcode !== undefined) return SQLITE_UNREADABLE.has(errcode & 0xff)
  if (typeof code === "string")
    return CONNECTION_LOST.has(code) || NAME_UNKNOWN.has(code) || POSTGRES_UNREACHABLE.test(code)
  // Several addresses were tried, and none answered.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isUnreachable)
  return typeof message === "string" && DRIVER_SAYS.test(message)
}
