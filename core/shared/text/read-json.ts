/** Longer answers are prose, and would take long to check. */
const MAX_CHARACTERS = 200_000

/** Parses the JSON of an answer without what models add around it: a code fence, or text before and after. */
export function readJsonAnswer(text: string): { readonly value: unknown } | { readonly problem: string } {
  const trimmed = text.trim()
  if (trimmed === "") return { problem: "There is no answer." }
  if (trimmed.length > MAX_CHARACTERS) return { problem: `It is longer than ${MAX_CHARACTERS} characters.` }
  const from = trimmed.search(/[[{]/)
  const to = Math.max(trimmed.lastIndexOf("}"), trimmed.lastIndexOf("]"))
  const inner = from >= 0 && to > from ? trimmed.slice(from, to + 1) : undefined
  let problem = ""
  for (const candidate of inner === undefined || inner === trimmed ? [trimmed] : [trimmed, inner]) {
    try {
      return { value: readJson(candidate) }
    } catch (error) {
      problem = (error as Error).message.slice(0, 200)
    }
  }
  return { problem: `It is not JSON: ${problem}.` }
}

/** Limits for untrusted JSON text. */
export interface JsonLimits {
  /** UTF-16 units of the whole text. */
  readonly characters: number
  /** Values in the whole text: each object, array and item counts. */
  readonly values: number
  /** Names in a single object. */
  readonly names: number
  readonly depth: number
}

const MB = 1024 * 1024
/** Deeper than any known document. Recursive readers of deeper ones overflow the stack. */
const DEPTH = 64

/**
 * Limits by kind of text. A value takes about 0.1 µs to parse and up to 10 µs to validate, on the main thread: each
 * limit keeps one text below half a second.
 */
export const jsonLimits = {
  /** A request, a frame, the arguments of a tool call. */
  message: { characters: MB, values: 50_000, names: 5_000, depth: DEPTH },
  /** A whole workspace, or the answer to a tool call on a device. */
  workspace: { characters: 8 * MB, values: 250_000, names: 5_000, depth: DEPTH },
  /** A file in base64. */
  file: { characters: 32 * MB, values: 1_000, names: 200, depth: DEPTH },
  /**
   * A response of a server that we called: an MCP server, a list of models. Its depth is hardly limited, because a
   * write that was applied must not be in doubt just because its result is deep.
   */
  answer: { characters: 4 * MB, values: 50_000, names: 10_000, depth: 50_000 },
  /** One event of a provider's stream: the largest contain an image in base64. */
  streamEvent: { characters: 16 * MB, values: 50_000, names: 10_000, depth: 200 },
  /** Embeddings: numbers, which are fast to read. */
  vectors: { characters: 16 * MB, values: 250_000, names: 100, depth: 10 },
} satisfies Readonly<Record<string, JsonLimits>>

/** A text exceeds its limits. The message says which, as in "it holds more than 50000 values". */
export class JsonLimitError extends Error {
  override readonly name = "JsonLimitError"
}

/**
 * Parses untrusted JSON. Throws a `JsonLimitError` before it parses a text that exceeds its limits, and a `SyntaxError`
 * if it is not JSON.
 */
export function readJson(text: string, limits: JsonLimits = jsonLimits.message): unknown {
  new JsonMeter(limits).add(text)
  return JSON.parse(text)
}

/** Characters counted in one turn of the event loop: about 10 ms. */
const TURN = MB

/** The same for very long text: other work gets its turns of the event loop during the count. */
export async function readJsonInTurns(
  text: string,
  limits: JsonLimits,
  nextTurn: () => Promise<void>,
): Promise<unknown> {
  const meter = new JsonMeter(limits)
  for (let at = 0; at < text.length; at += TURN) {
    if (at > 0) await nextTurn()
    meter.add(text, at, Math.min(at + TURN, text.length))
  }
  return JSON.parse(text)
}

/** The same for text that may not be JSON: undefined if it cannot be parsed. */
export function tryReadJson(text: string, limits: JsonLimits = jsonLimits.message): unknown {
  try {
    return readJson(text, limits)
  } catch {
    return undefined
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const ARRAY = 0x5b
const ARRAY_END = 0x5d
const OBJECT = 0x7b
const OBJECT_END = 0x7d
const NEWLINE = 0x0a
const RETURN = 0x0d

/**
 * Counts the content of JSON text without parsing it. The text may come in pieces, and as bytes decoded as Latin-1,
 * because every counted character is ASCII. A line break ends a string: valid JSON has none in a string, and the lines
 * of an event stream are counted independently.
 */
export class JsonMeter {
  readonly #limits: JsonLimits
  /** For each open object the names so far, minus infinity for an array. Longer than `#depth` if brackets were closed. */
  readonly #names: number[] = []
  #characters = 0
  #values = 1
  #depth = 0
  #isQuoted = false
  #isEscaped = false

  constructor(limits: JsonLimits) {
    this.#limits = limits
  }

  /** Throws a `JsonLimitError` if the text so far exceeds a limit. */
  add(text: string, from = 0, to = text.length): void {
    const { characters, values, names, depth } = this.#limits
    this.#characters += to - from
    if (this.#characters > characters) throw new JsonLimitError(`it is longer than ${characters} characters`)
    // Local variables: fields take three times as long.
    const open = this.#names
    let [counted, level, isQuoted, isEscaped] = [this.#values, this.#depth, this.#isQuoted, this.#isEscaped]
    for (let at = from; at < to; at++) {
      const sign = text.charCodeAt(at)
      if (isQuoted) {
        if (isEscaped) isEscaped = false
        else if (sign === BACKSLASH) isEscaped = true
        else if (sign === QUOTE || sign === NEWLINE || sign === RETURN) isQuoted = false
        continue
      }
      switch (sign) {
        case QUOTE:
          isQuoted = true
          break
        case COMMA:
          if (++counted > values) throw tooManyValues(values)
          if (level > 0 && ++open[level - 1]! >= names)
            throw new JsonLimitError(`one of its objects has more than ${names} names`)
          break
        case ARRAY:
        case OBJECT:
          if (++counted > values) throw tooManyValues(values)
          open[level++] = sign === OBJECT ? 0 : Number.NEGATIVE_INFINITY
          if (level > depth) throw new JsonLimitError(`it is nested more than ${depth} deep`)
          break
        case ARRAY_END:
        case OBJECT_END:
          if (level > 0) level--
      }
    }
    this.#values = counted
    this.#depth = level
    this.#isQuoted = isQuoted
    this.#isEscaped = isEscaped
    if (counted > values) throw tooManyValues(values)
  }

  /** Starts over with a new text. */
  reset(): void {
    this.#characters = 0
    this.#values = 1
    this.#depth = 0
    this.#isQuoted = false
    this.#isEscaped = false
  }
}

const tooManyValues = (values: number) => new JsonLimitError(`it holds more than ${values} values`)
