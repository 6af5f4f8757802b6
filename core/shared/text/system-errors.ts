/** Errors of the operating system, of Node and of SQLite as clauses of a sentence. */
const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ENOENT: "the file or folder does not exist",
    ENOTDIR: "a part of the path is a file, not a folder",
    EISDIR: "it is a folder, not a file",
    EACCES: "you do not have permission",
    EPERM: "the system does not allow it",
    EROFS: "the disk is read-only",
    ENOSPC: "the disk is full",
    EDQUOT: "the disk quota is used up",
    EFBIG: "the file is too large for this disk",
    EEXIST: "it already exists",
    ENOTEMPTY: "the folder is not empty",
    EBUSY: "another program is using it",
    ETXTBSY: "another program is using it",
    EMFILE: "too many files are open",
    ENFILE: "too many files are open on this machine",
    EIO: "the disk reported an error",
    ELOOP: "the path contains a circle of symbolic links",
    ENAMETOOLONG: "the name is too long",
    EXDEV: "the two paths are on different disks",
    ENOMEM: "the machine is out of memory",
    EPIPE: "the other program closed the connection",
    EADDRINUSE: "another program already uses this port",
    EADDRNOTAVAIL: "this machine does not have this address",
    ECONNREFUSED: "nothing answers at this address",
    ECONNRESET: "the other side closed the connection",
    ECONNABORTED: "the connection was closed",
    ETIMEDOUT: "no answer came in time",
    EHOSTUNREACH: "the host cannot be reached",
    EHOSTDOWN: "the host is down",
    ENETUNREACH: "there is no network connection to the host",
    ENETDOWN: "the network is down",
    ENOTFOUND: "the host name does not exist",
    EAI_AGAIN: "the host name cannot be resolved",
    ERR_SOCKET_BAD_PORT: "the port is not valid",
    ERR_INVALID_URL: "the address is not a valid URL",
    ERR_TLS_CERT_ALTNAME_INVALID: "the TLS certificate is for another host",
    CERT_HAS_EXPIRED: "the TLS certificate has expired",
    DEPTH_ZERO_SELF_SIGNED_CERT: "the TLS certificate is self-signed",
    SELF_SIGNED_CERT_IN_CHAIN: "the TLS certificate is self-signed",
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the TLS certificate cannot be verified",
    UND_ERR_CONNECT_TIMEOUT: "no answer came in time",
    UND_ERR_HEADERS_TIMEOUT: "no answer came in time",
    UND_ERR_BODY_TIMEOUT: "the answer stopped in the middle",
    UND_ERR_SOCKET: "the other side closed the connection",
    HPE_INVALID_CONSTANT: "the other side does not speak HTTP",
  }),
)

/** SQLite's result codes; its extended codes say more in the upper bits. */
const SQLITE_REASONS: Readonly<Record<number, string>> = {
  3: "you do not have permission",
  5: "another program is using it",
  6: "another program is using it",
  8: "it is read-only",
  10: "the disk reported an error",
  11: "the file is damaged",
  13: "the disk is full",
  14: "the file or its folder cannot be opened",
  23: "you do not have permission",
  26: "the file is not a SQLite database",
}

const GENERIC_ERRORS: ReadonlySet<string> = new Set(["Error", "TypeError", "AggregateError"])

const CODE = /\b(E[A-Z]{3,}\d?|EAI_AGAIN|ERR_TLS\w+|UND_ERR_\w+|CERT_HAS_EXPIRED|[A-Z]+_SIGNED_CERT\w*)\b/

/**
 * Why the system refused something, as a clause without a full stop: "the disk is full". Looks into causes and the parts of
 * an aggregate. Undefined if the error does not come from the system.
 */
export function systemReason(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined
  const { name, code, errcode, cause, errors, syscall } = error as SystemError
  if (errcode !== undefined) return SQLITE_REASONS[errcode & 0xff]
  const ofCode = typeof code === "string" ? REASONS.get(code) : undefined
  if (ofCode !== undefined) return ofCode
  for (const inner of errors ?? []) {
    const reason = systemReason(inner)
    if (reason !== undefined) return reason
  }
  // A message of ours is more specific than its cause.
  const ofCause = name === undefined || GENERIC_ERRORS.has(name) ? systemReason(cause) : undefined
  if (ofCause !== undefined) return ofCause
  return syscall === undefined || typeof code !== "string" ? undefined : `the system reported the error ${code}`
}

/** Why something failed, as a clause without a full stop: the reason of the system, or the message of the error. */
export function failureReason(error: unknown): string {
  const reason = systemReason(error)
  if (reason !== undefined) return reason
  const { message = "", name } = error as { message?: string; name?: string }
  return withoutSystemText(message || name || String(error)).replace(/\.$/, "")
}

/** The text, or the sentence for the system error that it contains: "getaddrinfo ENOTFOUND x" becomes "the host name does not exist". */
export function withoutSystemText(text: string): string {
  const [, code = ""] = CODE.exec(text) ?? []
  return REASONS.get(code) ?? text
}

/** The position at which `JSON.parse` stopped, for a sentence about a file: " (line 3, column 5)". Empty if its message has no position. */
export function jsonPosition(error: unknown): string {
  const { message = "" } = error as { message?: string }
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? []
  if (line !== undefined) return ` (line ${line}, column ${column})`
  return message.includes("end of JSON") ? " (it ends too early)" : ""
}

interface SystemError {
  readonly name?: string
  readonly code?: unknown
  readonly errcode?: number
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
  readonly syscall?: string
}
