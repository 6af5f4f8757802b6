import { hasCode } from "../../protocol/errors.ts"

/** What one look at an endpoint may take in all, its list and what else it is asked. OpenRouter's list has one megabyte. */
const MAX_BYTES = 8 * 1024 * 1024

/** Why an endpoint's list could not be had. It says nothing in the endpoint's words, and nothing of the key. */
export class ListFault extends Error {
  override readonly name = "ListFault"
  readonly status: number | undefined

  constructor(problem: string, status?: number) {
    super(problem)
    this.status = status
  }
}

/** One look at an endpoint: everything that is asked on the way shares its time and its bytes. */
export class JsonAsker {
  readonly #fetch: typeof globalThis.fetch
  readonly #headers: Readonly<Record<string, string>>
  readonly #signal: AbortSignal
  #bytesLeft = MAX_BYTES

  constructor(fetch: typeof globalThis.fetch, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    this.#fetch = fetch
    this.#headers = headers
    this.#signal = signal
  }

  /** What stands there; with something to send it is a POST. Throws a `ListFault`. */
  async ask(url: string, sent?: object): Promise<unknown> {
    const text = await this.#read(url, sent).catch((error: unknown) => {
      throw error instanceof ListFault ? error : this.#toFault(error)
    })
    try {
      return JSON.parse(text) as unknown
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
    let text = ""
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text + decoder.decode()
      this.#bytesLeft -= value.length
      if (this.#bytesLeft < 0) {
        await reader.cancel().catch(() => {})
        throw new ListFault(`its list is longer than ${MAX_BYTES / 1024 / 1024} MB`)
      }
      text += decoder.decode(value, { stream: true })
    }
  }

  /** No more than this: whoever gave us the address would learn from it which doors are open where. */
  #toFault(error: unknown): ListFault {
    if (this.#signal.aborted) return new ListFault("it did not answer in time")
    if (hasCode(error, "host_not_allowed")) return new ListFault("its address may not be reached from this server")
    return new ListFault("it could not be reached")
  }
}
