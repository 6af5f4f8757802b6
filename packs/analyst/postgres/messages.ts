const HEAD = 5

/**
 * Lets whole, well-formed messages of a server through. The driver looks for the end of a text without a look at the end of
 * its message: one that has none keeps it, and with it this process, looking for ever.
 */
export class MessageFilter {
  #chunks: Buffer[] = []
  #held = 0
  #wanted = HEAD
  #left: number

  constructor(mostBytes: number) {
    this.#left = mostBytes
  }

  /** The messages that are whole now; undefined where none is. Throws at what is no message, and when it is too much. */
  take(chunk: Buffer): Buffer | undefined {
    this.#left -= chunk.length
    if (this.#left < 0) throw new TooMuch()
    this.#chunks.push(chunk)
    this.#held += chunk.length
    if (this.#held < this.#wanted) return undefined
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#held)
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
    this.#held = bytes.length - at
    return at === 0 ? undefined : bytes.subarray(0, at)
  }
}

/** More came in than may. */
export class TooMuch extends Error {
  override name = "TooMuch"
}

class NoMessage extends Error {
  override name = "NoMessage"
  override message = "what answers there is not PostgreSQL, or is broken"
}

/** Whether every text ends inside its message. What has none is read by lengths, and an end that is missing is an error. */
function isWellFormed(type: number, body: Buffer): boolean {
  switch (String.fromCharCode(type)) {
    case "S": // a setting: its name and value
      return endOfTexts(body, 0, 2) >= 0
    case "A": // a notification: a number, its channel and text
      return endOfTexts(body, 4, 2) >= 0
    case "C": // the end of a statement: what it was
      return endOfTexts(body, 0, 1) >= 0
    case "E":
    case "N":
      return hasFields(body)
    case "T":
      return hasColumns(body)
    case "R": // of several ways to sign in: a list of names
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

/** A letter and a text each, and a zero after the last. */
function hasFields(body: Buffer): boolean {
  for (let at = 0; at >= 0 && at < body.length; at = endOfTexts(body, at + 1, 1)) if (body[at] === 0) return true
  return false
}

/** A count, and for each column its name and eighteen bytes. */
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

/** Names, and an empty one after the last. */
function endsWithNothing(body: Buffer): boolean {
  for (let at = 4; at >= 0 && at < body.length; at = endOfTexts(body, at, 1)) if (body[at] === 0) return true
  return false
}
