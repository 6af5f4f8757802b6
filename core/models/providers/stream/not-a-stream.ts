import type { AppError } from "../../../protocol/errors.ts"
import { type ErrorSource, brokenReply, toProviderError } from "../errors/errors.ts"
import { readErrorFacts } from "../errors/error-facts.ts"

/** Characters of an HTML or JSON answer that are searched for an error message. */
const MAX = 20_000

/** Looks at what a stream begins with: no event does with a brace, a bracket or an angle bracket. */
export class StreamStart {
  #bytes: Uint8Array[] = []
  #size = 0
  #isStream = false

  add(bytes: Uint8Array): void {
    if (this.#isStream || this.isFull) return
    this.#bytes.push(bytes)
    this.#size += bytes.length
    // Comments and blank lines may come before the first event, a byte order mark too.
    const [first] = this.text.replace(/^\uFEFF/, "").trimStart()
    if (first === undefined || /[{[<]/.test(first)) return
    this.#isStream = true
    this.#bytes = []
  }

  /** It began, and not as a stream does. */
  get isOdd(): boolean {
    return !this.#isStream && this.text.trim() !== ""
  }

  get isFull(): boolean {
    return !this.#isStream && this.#size >= MAX
  }

  get text(): string {
    return Buffer.concat(this.#bytes).subarray(0, MAX).toString()
  }
}

/** A request was ended because a document came in place of a stream. It may quote a key: `asError` makes it fit to be shown. */
export class NotAStream extends Error {
  readonly text: string

  constructor(text: string) {
    super("a document came in place of a stream")
    this.text = text
  }

  asError(source: ErrorSource): AppError {
    const { message } = readErrorFacts({ responseBody: this.text })
    const page = this.text.trim().startsWith("<")
    const what = page ? "a web page" : "a JSON document"
    const advice = `it answered with ${what} where a stream was asked for; check its base URL${page ? "" : " and that it can stream"}`
    if (!message) return brokenReply(advice, source, false)
    const error = toProviderError({ responseBody: this.text }, source)
    return error.code === "provider_error" ? brokenReply(`${message} (${advice})`, source, false) : error
  }
}
