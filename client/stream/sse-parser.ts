/** One server-sent event. */
export interface StreamEvent {
  /** The last id of the stream, on this event or an earlier one. */
  readonly id: string
  readonly type: string
  readonly data: string
}

/** Longer than any frame. Limits memory for a stream that never ends its line. */
const MAX_LENGTH = 16 * 1024 * 1024

/**
 * Parses `text/event-stream` as WHATWG defines it. Bytes may be split anywhere: within a character, between CR and LF,
 * within a field. An incomplete event at the end of the stream is dropped.
 */
export class EventParser {
  /** The latest `retry:` value. */
  retryMs: number | undefined
  readonly #decoder = new TextDecoder("utf-8") // removes a byte order mark at the very beginning only
  readonly #maxLength: number
  /** The pieces of the current line. They are joined once, so that a long line takes linear time. */
  #line: string[] = []
  #lineLength = 0
  #afterCr = false
  #id = ""
  #type = ""
  #data: string[] = []
  #dataLength = 0

  constructor(maxLength = MAX_LENGTH) {
    this.#maxLength = maxLength
  }

  /** Returns the events that these bytes complete. */
  push(bytes: Uint8Array): StreamEvent[] {
    const text = this.#decoder.decode(bytes, { stream: true })
    const events: StreamEvent[] = []
    let start = 0
    if (this.#afterCr && text.length > 0) {
      this.#afterCr = false
      if (text.startsWith("\n")) start = 1 // the second half of a CRLF whose CR already ended the line
    }
    for (;;) {
      const end = endOfLine(text, start)
      if (end === -1) break
      this.#keep(text.slice(start, end))
      this.#endLine(events)
      start = end + 1
      if (text[end] !== "\r") continue
      if (start === text.length) this.#afterCr = true
      else if (text[start] === "\n") start++
    }
    if (start < text.length) this.#keep(text.slice(start))
    return events
  }

  #keep(piece: string): void {
    this.#line.push(piece)
    this.#lineLength += piece.length
    if (this.#lineLength + this.#dataLength > this.#maxLength) {
      throw new RangeError(`an event of the stream is longer than ${this.#maxLength} characters`)
    }
  }

  #endLine(events: StreamEvent[]): void {
    const line = this.#line.length === 1 ? (this.#line[0] as string) : this.#line.join("")
    this.#line = []
    this.#lineLength = 0
    if (line === "") return this.#endEvent(events)
    const colon = line.indexOf(":")
    if (colon === 0) return // a comment
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    this.#set(field, value)
  }

  #set(field: string, value: string): void {
    switch (field) {
      case "event":
        this.#type = value
        break
      case "data":
        this.#data.push(value)
        this.#dataLength += value.length + 1
        break
      case "id":
        if (!value.includes("\0")) this.#id = value
        break
      case "retry":
        if (/^[0-9]+$/.test(value)) this.retryMs = Number(value)
        break
      default: // unknown fields are ignored
    }
  }

  #endEvent(events: StreamEvent[]): void {
    // Without a `data` line there is no event, but its id counts.
    if (this.#data.length > 0) {
      events.push({ id: this.#id, type: this.#type || "message", data: this.#data.join("\n") })
    }
    this.#type = ""
    this.#data = []
    this.#dataLength = 0
  }
}

function endOfLine(text: string, start: number): number {
  LINE_END.lastIndex = start
  return LINE_END.exec(text)?.index ?? -1
}

const LINE_END = /[\r\n]/g
