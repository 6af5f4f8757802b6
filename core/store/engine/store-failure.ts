import { STORAGE_FULL } from "./byte-counts.ts"
import { AppError, failure, hasCode } from "../../protocol/errors.ts"

const SQLITE_FULL = 13
const SQLITE_UNREADABLE = new Set([5, 6, 10, 14]) // busy, locked, an error of the disk, cannot be opened
const POSTGRES_DISK_FULL = "53100"
/** Lost or refused connections, one too many, a server that goes down, starts, is a standby, or ends who takes too long. By class, or by code. */
const POSTGRES_AWAY = /^(08|53|57P|58)|^(25006|25P0[34])$/
const CONNECTION_LOST = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN"],
])
const NAME_UNKNOWN = new Set(["ENOTFOUND", "EAI_AGAIN", "ENOENT"])
/** What the driver says in words only. */
const DRIVER_SAYS =
  /connection terminated|timeout exceeded when trying to connect|connection error and is not queryable|was closed and is not queryable/i

/** A write that failed, as callers get it: a full disk is named, because a person can do something about it. */
export function toWriteFailure(error: unknown): AppError {
  return unavailable(error) ?? asFailure(error, (error as Error).message)
}

/** A read that failed, where it is the database that cannot be reached or read; anything else is a fault of ours. */
export function toReadFailure(error: unknown): unknown {
  return unavailable(error) ?? error
}

function unavailable(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  if (isFull(error)) return asFailure(error, FULL)
  return isAway(error) ? storeAway(error) : undefined
}

const AWAY = "the database cannot be reached; Pawl retries automatically"

/** Not in the driver's words: they name addresses. */
export function storeAway(error: unknown): AppError {
  return asFailure(error, AWAY)
}

export const FULL =
  "the disk is full. What is stored can still be read, and writing continues when there is space again"

/**
 * What a program reports that ends because of the store: unlike a server that keeps running, it tries nothing again. Undefined
 * for other errors.
 */
export function reasonOfEnd(error: unknown): string | undefined {
  const { message = "" } = error as { message?: string }
  const isStore = hasCode(error, "store_unavailable")
  if (isFull(error) || (isStore && message.includes(FULL)))
    return "The disk is full, so nothing can be written. What is stored is safe. Free some space on the disk, then run this again."
  if (isStore && message.includes(AWAY)) return "The database cannot be reached. Run this again when it is available."
  return undefined
}

function asFailure(cause: unknown, problem: string): AppError {
  const known = failure("store_unavailable", { problem })
  known.cause = cause
  return known
}

/** A lock that others held on for too long, or that two wanted from each other: nothing was done, and it can be tried again. */
export function isLockTimeout(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  return /^(55P03|40P01)$/.test(String(cause?.code ?? code))
}

/** Whether a trigger has refused a statement, because a person has used all of their storage. Nothing of it was done. */
export const isStorageFull = (error: unknown): boolean =>
  error instanceof AppError && (error.cause as { message?: unknown } | undefined)?.message === STORAGE_FULL

/** SQLite's extended codes say more in the upper bits. */
function isFull(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: unknown }
  return (errcode !== undefined && (errcode & 0xff) === SQLITE_FULL) || code === POSTGRES_DISK_FULL || code === "ENOSPC"
}

/** Whether it is the database that is not there, or not for us; a connection that says so is worth nothing any more. */
export function isAway(error: unknown): boolean {
  const { errcode, code, message } = error as { errcode?: number; code?: unknown; message?: unknown }
  if (errcode !== undefined) return SQLITE_UNREADABLE.has(errcode & 0xff)
  if (typeof code === "string") return CONNECTION_LOST.has(code) || NAME_UNKNOWN.has(code) || POSTGRES_AWAY.test(code)
  // Several addresses were tried, and none answered.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isAway)
  return typeof message === "string" && DRIVER_SAYS.test(message)
}
