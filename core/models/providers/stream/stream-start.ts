import type { AppError } from "../../../protocol/errors.ts"
import { type ErrorSource, brokenReply, toProviderError } from "../errors/errors.ts"
import { readErrorFacts } from "../errors/error-facts.ts"

/** Characters of an HTML or JSON answer that are searched for an error message. */
const MAX = 20_000

/** Examines the start of a stream: no event starts with a brace, a bracket or an angle bracket. */
export class StreamStart {
  #bytes: Uint8Array[] = []
  #size = 0
  #isStream = false

  add(bytes: Uint8Array): void {
    if (this.#isStream || this.isFull) return
    this.#bytes.push(bytes)
    this.#size += bytes.length
    // Comments, blank lines or a byte order mark may precede the first event.
    const [first] = this.text.replace(/^\uFEFF/, "").trimStart()
    if (first === undefined || /[{[<]/.test(first)) return
    this.#isStream = true
    this.#bytes = []
  }

  /** It has started, but not like a stream. */
  get isDocument(): boolean {
    return !this.#isStream && this.text.trim() !== ""
  }

  get isFull(): boolean {
    return !this.#isStream && this.#size >= MAX
  }

  get text(): string {
    return Buffer.concat(this.#bytes).subarray(0, MAX).toString()
  }
}

/** A request was ended because the response was a document. The text may quote a key; `asError` removes it. */
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
