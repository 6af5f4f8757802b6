/** What a statement is given in one place. PostgreSQL reads all of them as texts, and knows the types from the statement. */
export type Scalar = string | number | boolean | null | undefined
export type WireValue = Scalar | readonly Scalar[]

/** `text` is always the same for the same name. */
export interface NamedStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly WireValue[]
}

const LONG_TEXT = 512
/** Most bytes that a UTF-16 unit takes in UTF-8. */
const UNIT_BYTES = 3
/** Of a statement's messages without its values, its name and its text: more than it ever is. */
const FRAME_BYTES = 64

/**
 * The messages that run statements one after the other, in one transaction of their own: all of them in one piece, as each
 * write is a system call. `unknown` are those that the server is to prepare first. What it may know under the name is
 * forgotten before: whether an attempt that failed came so far nobody knows, and to prepare a name twice is an error. So are
 * `forgotten`, which are to take no room any more.
 */
export function toMessages(
  statements: readonly NamedStatement[],
  unknown: readonly NamedStatement[],
  forgotten: readonly string[],
): Buffer {
  const values = statements.map((statement) => statement.values.map(toText))
  let most = FRAME_BYTES
  for (const { name, text } of unknown) most += FRAME_BYTES + 2 * name.length + mostBytes(text)
  statements.forEach(({ name }, index) => {
    most += FRAME_BYTES + name.length
    for (const value of values[index] ?? []) most += value === null ? 4 : 4 + mostBytes(value)
  })
  for (const name of forgotten) most += FRAME_BYTES + name.length
  const to = new MessageBuffer(most)
  for (const name of forgotten) to.message("C", () => to.byte("S").name(name))
  for (const { name, text } of unknown) {
    to.message("C", () => to.byte("S").name(name))
    to.message("P", () => to.name(name).name(text).int16(0))
  }
  statements.forEach(({ name }, index) => {
    to.message("B", () =>
      to
        .name("")
        .name(name)
        .int16(0)
        .values(values[index] ?? [])
        .int16(0),
    )
    to.message("E", () => to.name("").int32(0))
  })
  to.message("S", () => to)
  return to.written()
}

class MessageBuffer {
  readonly #bytes: Buffer
  #end = 0

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size)
  }

  /** A letter that says what follows, and its length, which is known behind it. */
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

const mostBytes = (text: string): number =>
  text.length > LONG_TEXT ? Buffer.byteLength(text) : text.length * UNIT_BYTES

function toText(value: WireValue): string | null {
  if (typeof value === "string") return value
  if (value === null || value === undefined) return null
  return typeof value === "object" ? toArrayText(value) : String(value)
}

/** As PostgreSQL writes arrays: what is quoted is a text, also where it says NULL. */
function toArrayText(values: readonly Scalar[]): string {
  let text = "{"
  for (const value of values) {
    if (text.length > 1) text += ","
    if (typeof value === "string") text += `"${value.replace(/[\\"]/g, "\\$&")}"`
    else text += value ?? "NULL"
  }
  return `${text}}`
}
