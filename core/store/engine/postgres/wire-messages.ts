/** A parameter. PostgreSQL gets all of them as text, and takes their types from the statement. */
export type Scalar = string | number | boolean | null | undefined
export type WireValue = Scalar | readonly Scalar[]

/** The same name always has the same text. */
export interface NamedStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly WireValue[]
}

const LONG_TEXT = 512
/** The maximum UTF-8 bytes of a UTF-16 unit. */
const UNIT_BYTES = 3
/** Upper bound, in bytes, for the protocol overhead of one statement. */
const FRAME_BYTES = 64

/**
 * The protocol messages that run statements in one transaction, as one buffer, because each write is a system call.
 * `unprepared` statements are prepared first. Their names are closed before, because a failed attempt may or may not
 * have prepared them, and preparing a name twice is an error. `evicted` names are closed to free memory.
 */
export function toMessages(
  statements: readonly NamedStatement[],
  unprepared: readonly NamedStatement[],
  evicted: readonly string[],
): Buffer {
  const values = statements.map((statement) => statement.values.map(toText))
  let size = FRAME_BYTES
  for (const { name, text } of unprepared) size += FRAME_BYTES + 2 * name.length + maxBytes(text)
  statements.forEach(({ name }, index) => {
    size += FRAME_BYTES + name.length
    for (const value of values[index] ?? []) size += value === null ? 4 : 4 + maxBytes(value)
  })
  for (const name of evicted) size += FRAME_BYTES + name.length
  const buffer = new MessageBuffer(size)
  for (const name of evicted) buffer.message("C", () => buffer.byte("S").name(name))
  for (const { name, text } of unprepared) {
    buffer.message("C", () => buffer.byte("S").name(name))
    buffer.message("P", () => buffer.name(name).name(text).int16(0))
  }
  statements.forEach(({ name }, index) => {
    buffer.message("B", () =>
      buffer
        .name("")
        .name(name)
        .int16(0)
        .values(values[index] ?? [])
        .int16(0),
    )
    buffer.message("E", () => buffer.name("").int32(0))
  })
  buffer.message("S", () => buffer)
  return buffer.written()
}

class MessageBuffer {
  readonly #bytes: Buffer
  #end = 0

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size)
  }

  /** Writes a type, the length, which is filled in at the end, and the body. */
  message(type: string, body: () => MessageBuffer): void {
    this.byte(type)
    const start = this.#end
    this.#end += 4
    body()
    this.#bytes.writeInt32BE(this.#end - start, start)
  }

  byte(letter: string): this {
    this.#bytes[this.#end++] = letter.charCodeAt(0)
    return this
  }

  name(text: string): this {
    this.#end += this.#bytes.write(text, this.#end)
    this.#bytes[this.#end++] = 0
    return this
  }

  int16(value: number): this {
    this.#end = this.#bytes.writeInt16BE(value, this.#end)
    return this
  }

  int32(value: number): this {
    this.#end = this.#bytes.writeInt32BE(value, this.#end)
    return this
  }

  values(texts: readonly (string | null)[]): this {
    this.#end = this.#bytes.writeUInt16BE(texts.length, this.#end)
    for (const text of texts) {
      if (text === null) this.int32(-1)
      else {
        const length = this.#bytes.write(text, this.#end + 4)
        this.int32(length)
        this.#end += length
      }
    }
    return this
  }

  written(): Buffer {
    return this.#bytes.subarray(0, this.#end)
  }
}

const maxBytes = (text: string): number =>
  text.length > LONG_TEXT ? Buffer.byteLength(text) : text.length * UNIT_BYTES

function toText(value: WireValue): string | null {
  if (typeof value === "string") return value
  if (value === null || value === undefined) return null
  return typeof value === "object" ? toArrayText(value) : String(value)
}

/** PostgreSQL's array syntax. A quoted NULL is a text. */
function toArrayText(values: readonly Scalar[]): string {
  let text = "{"
  for (const value of values) {
    if (text.length > 1) text += ","
    if (typeof value === "string") text += `"${value.replace(/[\\"]/g, "\\$&")}"`
    else text += value ?? "NULL"
  }
  return `${text}}`
}
