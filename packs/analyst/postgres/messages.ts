const HEAD = 5

/**
 * Passes only complete, well-formed messages of a server on. The driver searches for the end of a text without checking
 * the end of its message: an unterminated text would make it search forever and block this process.
 */
export class MessageFilter {
  #chunks: Buffer[] = []
  #bufferedBytes = 0
  #wanted = HEAD
  #left: number

  constructor(mostBytes: number) {
    this.#left = mostBytes
  }

  /**
   * Returns the complete messages so far; undefined if there are none. Throws for malformed messages, and beyond the
   * limit.
   */
  take(chunk: Buffer): Buffer | undefined {
    this.#left -= chunk.length
    if (this.#left < 0) throw new TooMuch()
    this.#chunks.push(chunk)
    this.#bufferedBytes += chunk.length
    if (this.#bufferedBytes < this.#wanted) return undefined
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#bufferedBytes)
    let at = 0
    this.#wanted = HEAD
    while (bytes.length - at >= HEAD) {
      const length = bytes.readInt32BE(at + 1) + 1
      if (length < HEAD) throw new NoMessage()
      if (bytes.length - at < length) {
        this.#wanted = length
        break
      }
      if (!isWellFormed(bytes[at] as number, bytes.subarray(at + HEAD, at + length))) throw new NoMessage()
      at += length
    }
    this.#chunks = at < bytes.length ? [bytes.subarray(at)] : []
    this.#bufferedBytes = bytes.length - at
    return at === 0 ? undefined : bytes.subarray(0, at)
  }
}

/** The server sent more than the limit. */
export class TooMuch extends Error {
  override name = "TooMuch"
}

class NoMessage extends Error {
  override name = "NoMessage"
  override message = "what answers there is not PostgreSQL, or is broken"
}

/** True if every text ends inside its message. Other types are read by length, so a missing end causes an error. */
function isWellFormed(type: number, body: Buffer): boolean {
  switch (String.fromCharCode(type)) {
    case "S": // ParameterStatus: a name and a value
      return endOfTexts(body, 0, 2) >= 0
    case "A": // NotificationResponse: a number, a channel and a text
      return endOfTexts(body, 4, 2) >= 0
    case "C": // CommandComplete: a tag
      return endOfTexts(body, 0, 1) >= 0
    case "E":
    case "N":
      return hasFields(body)
    case "T":
      return hasColumns(body)
    case "R": // AuthenticationSASL: a list of mechanisms
      return body.length >= 4 && (body.readInt32BE(0) !== 10 || endsWithNothing(body))
    default:
      return true
  }
}

/** Returns the end of the last of `count` zero-terminated texts; -1 if one is not terminated. */
function endOfTexts(body: Buffer, from: number, count: number): number {
  let at = from
  for (let left = count; left > 0; left--) {
    if (at > body.length) return -1
    const end = body.indexOf(0, at)
    if (end < 0) return -1
    at = end + 1
  }
  return at
}

/** True if the body is a list of error fields: each a type byte and a NUL-terminated string, then a final NUL. */
function hasFields(body: Buffer): boolean {
  for (let at = 0; at >= 0 && at < body.length; at = endOfTexts(body, at + 1, 1)) if (body[at] === 0) return true
  return false
}

/** True if the body is a row description: a column count, then a name and eighteen bytes for each column. */
function hasColumns(body: Buffer): boolean {
  if (body.length < 2) return false
  let at = 2
  for (let left = body.readUInt16BE(0); left > 0; left--) {
    const end = endOfTexts(body, at, 1)
    if (end < 0 || end + 18 > body.length) return false
    at = end + 18
  }
  return true
}

/** A list of names that ends with an empty one. */
function endsWithNothing(body: Buffer): boolean {
  for (let at = 4; at >= 0 && at < body.length; at = endOfTexts(body, at, 1)) if (body[at] === 0) return true
  return false
}
