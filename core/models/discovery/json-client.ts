import { hasCode } from "../../protocol/errors.ts"
import type { ModelListing } from "../providers/model-listing.ts"
import { type JsonLimits, jsonLimits, readJson } from "../../shared/text/read-json.ts"

const MB = 1024 * 1024
/**
 * An answer is parsed in one go, which blocks other requests: this many bytes take a fifth of a second. OpenRouter's
 * list has one million.
 */
const MAX_ANSWER_BYTES = 2 * MB
/** OpenRouter's list has some 30,000 values. */
const LIST: JsonLimits = { ...jsonLimits.answer, values: 200_000 }
/** The total of one inquiry: Ollama reports each model separately. */
const MAX_BYTES = 8 * MB
/** The same for an address that a person provided, who may be hostile. */
const MAX_BYTES_PERSONAL = MB

/** How an endpoint is reached and with which credentials. */
export interface EndpointAccess {
  readonly listing: ModelListing
  readonly fetch: typeof globalThis.fetch
  /** A person provided its address. */
  readonly isPersonal?: boolean
  /** The person whose share it counts towards; undefined for endpoints of all people. */
  readonly owner?: string | undefined
}

/** Why an endpoint's list could not be read. Contains neither the endpoint's text nor the key. */
export class ListFault extends Error {
  override readonly name = "ListFault"
  readonly status: number | undefined

  constructor(problem: string, status?: number) {
    super(problem)
    this.status = status
  }
}

/** The endpoint did not answer, so its models cannot answer either. */
export class SilentEndpoint extends ListFault {}

/** One inquiry at an endpoint: all of its requests share a time limit and a byte limit. */
export class JsonClient {
  readonly #fetch: typeof globalThis.fetch
  readonly #headers: Readonly<Record<string, string>>
  readonly #signal: AbortSignal
  #bytesLeft: number

  constructor({ fetch, listing, isPersonal = false }: EndpointAccess, signal: AbortSignal) {
    this.#fetch = fetch
    this.#headers = listing.headers
    this.#signal = signal
    this.#bytesLeft = isPersonal ? MAX_BYTES_PERSONAL : MAX_BYTES
  }

  /** Reads JSON; with `sent` as a POST. Throws a `ListFault`. */
  async ask(url: string, sent?: object): Promise<unknown> {
    const text = await this.#read(url, sent).catch((error: unknown) => {
      throw error instanceof ListFault ? error : this.#toFault(error)
    })
    try {
      return readJson(text, LIST)
    } catch {
      throw new ListFault("what it answered is not JSON")
    }
  }

  async #read(url: string, sent: object | undefined): Promise<string> {
    const response = await this.#fetch(url, {
      method: sent ? "POST" : "GET",
      headers: {
        ...(sent ? { "content-type": "application/json" } : {}),
        accept: "application/json",
        ...this.#headers,
      },
      ...(sent ? { body: JSON.stringify(sent) } : {}),
      // A redirect would send the key to another host.
      redirect: "error",
      signal: this.#signal,
    })
    if (!response.ok) {
      await response.body?.cancel().catch(() => {})
      throw new ListFault(
        /^40[13]$/.test(`${response.status}`) ? "it refused the key" : `it answered with status ${response.status}`,
        response.status,
      )
    }
    return this.#readBody(response)
  }

  async #readBody({ body }: Response): Promise<string> {
    if (!body) return ""
    const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>
    const decoder = new TextDecoder()
    const most = Math.min(MAX_ANSWER_BYTES, this.#bytesLeft)
    let [text, left] = ["", most]
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text + decoder.decode()
      left -= value.length
      this.#bytesLeft -= value.length
      if (left < 0 || this.#bytesLeft < 0) {
        await reader.cancel().catch(() => {})
        throw new ListFault(`its list is longer than ${Math.max(1, Math.round(most / MB))} MB`)
      }
      text += decoder.decode(value, { stream: true })
    }
  }

  /** Gives no details, because they would reveal open ports to the person who provided the address. */
  #toFault(error: unknown): ListFault {
    if (this.#signal.aborted) return new SilentEndpoint("it did not answer in time")
    if (hasCode(error, "host_not_allowed")) return new SilentEndpoint("its address may not be reached from this server")
    return new SilentEndpoint("it could not be reached")
  }
}
