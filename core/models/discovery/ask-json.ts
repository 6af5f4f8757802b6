import { hasCode } from "../../protocol/errors.ts"
import type { ModelListing } from "../providers/model-listing.ts"
import { type JsonLimits, jsonLimits, readJson } from "../../shared/text/read-json.ts"

const MB = 1024 * 1024
/** One answer is parsed in one go, while nobody else is served: these take a fifth of a second. OpenRouter's list has one. */
const MAX_ANSWER_BYTES = 2 * MB
/** OpenRouter's list has some 30,000 values. */
const LIST: JsonLimits = { ...jsonLimits.answer, values: 200_000 }
/** One look in all, the list and what else is asked: Ollama tells of each model by itself. */
const MAX_BYTES = 8 * MB
/** The same at an address that a person has given, who may mean no good. */
const MAX_BYTES_OF_PEOPLE = MB

/** How an endpoint is reached: with whose means, and by which way. */
export interface EndpointAccess {
  readonly listing: ModelListing
  readonly fetch: typeof globalThis.fetch
  /** Its address was given by a person. */
  readonly isPersonal?: boolean
  /** Whose share of looks and of what is kept it takes; nobody's where it serves everybody. */
  readonly owner?: string | undefined
}

/** Why an endpoint's list could not be had. It says nothing in the endpoint's words, and nothing of the key. */
export class ListFault extends Error {
  override readonly name = "ListFault"
  readonly status: number | undefined

  constructor(problem: string, status?: number) {
    super(problem)
    this.status = status
  }
}

/** The endpoint did not answer at all, so that a model of it cannot answer either. */
export class SilentEndpoint extends ListFault {}

/** One look at an endpoint: everything that is asked on the way shares its time and its bytes. */
export class JsonAsker {
  readonly #fetch: typeof globalThis.fetch
  readonly #headers: Readonly<Record<string, string>>
  readonly #signal: AbortSignal
  #bytesLeft: number

  constructor({ fetch, listing, isPersonal = false }: EndpointAccess, signal: AbortSignal) {
    this.#fetch = fetch
    this.#headers = listing.headers
    this.#signal = signal
    this.#bytesLeft = isPersonal ? MAX_BYTES_OF_PEOPLE : MAX_BYTES
  }

  /** What stands there; with something to send it is a POST. Throws a `ListFault`. */
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
      // To another host it would take the key along.
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

  /** No more than this: whoever gave us the address would learn from it which doors are open where. */
  #toFault(error: unknown): ListFault {
    if (this.#signal.aborted) return new SilentEndpoint("it did not answer in time")
    if (hasCode(error, "host_not_allowed")) return new SilentEndpoint("its address may not be reached from this server")
    return new SilentEndpoint("it could not be reached")
  }
}
