import { tryReadJson } from "../shared/text/read-json.ts"
import type { PawlEvent } from "./parts.ts"

/** A part of a typed answer in progress: objects lack properties, lists lack items, and texts lack their end. */
export type PartialValue<Value> = Value extends string
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly PartialValue<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]?: PartialValue<Value[Key]> }
      : Value

/**
 * An event of `stream` with `answers`: the answer as far as the model has written it. It is not validated, and has no
 * transforms or defaults of the schema. `id` repeats the previous event's. If the model starts over, so does `value`.
 */
export interface PartialAnswer<Value = unknown> {
  readonly id: string
  readonly type: "partial"
  readonly data: { readonly value: PartialValue<Value> }
}

/** Longer replies, and deeper ones, have no partial answers. */
const MAX_CHARACTERS = 200_000
const MAX_DEPTH = 64
/** Up to this length each piece of text is parsed. */
const SHORT = 4096

/** Reads the partial answers of one run from its events. */
export class PartialAnswers {
  #text = ""
  #parsed = 0
  #last: string | undefined

  /** Returns the answer so far if the event adds to it. */
  read({ id, type, data }: PawlEvent): PartialAnswer | undefined {
    if (type === "message" || type === "restarted") {
      this.#text = ""
      this.#parsed = 0
      this.#last = undefined
    }
    if (type !== "text_delta") return undefined
    this.#text += data.text
    const { length } = this.#text
    // Parsing a long reply for each of its words would take time quadratic in its length.
    if (length > MAX_CHARACTERS || (length > SHORT && length - this.#parsed < length / 64)) return undefined
    this.#parsed = length
    const json = completeJson(this.#text)
    if (json === undefined || json === this.#last) return undefined
    const value = tryReadJson(json) // text around the answer may make it invalid
    if (value === undefined) return undefined
    this.#last = json
    return { id, type: "partial", data: { value } } as PartialAnswer
  }
}

/**
 * Completes the beginning of an object or a list: removes the unfinished property or item at its end, except a text,
 * and closes what is open. Undefined if there is no object or list. The result may be invalid if the text is.
 */
export function completeJson(text: string): string | undefined {
  const start = text.search(/[[{]/)
  if (start < 0) return undefined
  /** The brackets that close what is open, innermost first. */
  let open = ""
  let [isQuoted, isName] = [false, false]
  /** The text up to `end` is complete if `closing` follows. */
  let [end, closing] = [start, ""]
  const complete = (at: number) => {
    end = at
    closing = open
  }
  for (let at = start; at < text.length; at++) {
    const sign = text[at]!
    if (isQuoted) {
      if (sign === "\\") {
        const length = text[at + 1] === "u" ? 6 : 2
        if (at + length > text.length) break // an incomplete escape
        at += length - 1
      } else if (sign === '"') isQuoted = false
      if (!isName) end = at + 1
      continue
    }
    if (sign === '"') {
      isQuoted = true
      if (!isName) complete(at + 1)
    } else if (sign === "{" || sign === "[") {
      isName = sign === "{"
      open = (isName ? "}" : "]") + open
      if (open.length > MAX_DEPTH) return undefined
      complete(at + 1)
    } else if (sign === ":") isName = false
    else if (sign === ",") {
      complete(at)
      isName = open[0] === "}"
    } else if (sign === "}" || sign === "]") {
      if (open[0] !== sign) return undefined
      open = open.slice(1)
      isName = false
      complete(at + 1)
      if (open === "") break
    }
  }
  return text.slice(start, end) + (isQuoted && !isName ? '"' : "") + closing
}
