import type { EmbeddingModelV4 } from "@ai-sdk/provider"
import { type Clock, systemClock } from "../../shared/time/clock.ts"
import type { Embedder } from "../../protocol/workspace.ts"
import { jsonLimits } from "../../shared/text/read-json.ts"
import { splitQuery, withQuery } from "../providers/endpoints/endpoint.ts"
import { SilenceWatch } from "../providers/stream/silence-watch.ts"
import { embedPooled } from "../../shared/vectors/text-windows.ts"
import { brokenReply, type ErrorSource, toProviderError } from "../providers/errors/errors.ts"
import { type RetryPolicy, retryRequest } from "../providers/retry.ts"
import { watchedFetch } from "../providers/stream/watched-fetch.ts"

export interface OpenaiEmbedderOptions {
  readonly apiKey: string
  /** With its version, without a trailing slash. */
  readonly baseUrl: string
  /** Further texts that must never be in an error. */
  readonly secrets?: readonly string[]
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: Clock
  readonly retry?: Omit<RetryPolicy, "clock">
  readonly idleMs?: number
}

const MODEL = "text-embedding-3-small"
const DIMENSIONS = 1536
/** The model accepts 8,191 tokens, and a request 300,000. */
const WINDOWS = { tokens: 6000, most: 16 }
const MAX_PER_REQUEST = 40

/** OpenAI's small embedding model. Returns complete vectors; everything else is a typed error. */
export class OpenaiEmbedder implements Embedder {
  readonly name = `openai/${MODEL}`
  readonly dimensions = DIMENSIONS
  readonly #options: OpenaiEmbedderOptions
  readonly #clock: Clock
  readonly #source: ErrorSource
  #adapter: Promise<EmbeddingModelV4> | undefined

  constructor(options: OpenaiEmbedderOptions) {
    const { apiKey, secrets = [], clock = systemClock } = options
    this.#options = options
    this.#clock = clock
    this.#source = { provider: "OpenAI", secrets: [apiKey, ...secrets], now: () => clock.now() }
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    return embedPooled(texts, { limits: WINDOWS, dimensions: DIMENSIONS }, async (windows) => {
      const vectors: number[][] = []
      for (let at = 0; at < windows.length; at += MAX_PER_REQUEST) {
        const values = windows.slice(at, at + MAX_PER_REQUEST)
        const policy = { ...this.#options.retry, clock: this.#clock }
        vectors.push(...(await retryRequest(() => this.#ask(values, signal), policy, signal)))
      }
      return vectors
    })
  }

  async #ask(values: string[], caller: AbortSignal): Promise<number[][]> {
    caller.throwIfAborted()
    const { provider } = this.#source
    const watch = new SilenceWatch(caller, { provider, clock: this.#clock, limitMs: this.#options.idleMs })
    try {
      const adapter = await this.#loaded()
      const { embeddings } = await adapter.doEmbed({ values, abortSignal: watch.signal })
      if (embeddings.length !== values.length || !embeddings.every(isVector))
        throw brokenReply(`it did not send ${values.length} vector(s) of ${DIMENSIONS} numbers`, this.#source)
      return embeddings
    } catch (error) {
      throw watch.signal.aborted ? watch.signal.reason : toProviderError(error, this.#source)
    } finally {
      watch.close()
    }
  }

  async #loaded(): Promise<EmbeddingModelV4> {
    try {
      return await (this.#adapter ??= this.#load())
    } catch (error) {
      this.#adapter = undefined
      throw error
    }
  }

  /** Imported on first use, because the import takes a tenth of a second. */
  async #load(): Promise<EmbeddingModelV4> {
    const { apiKey, baseUrl, fetch } = this.#options
    const { base, query } = splitQuery(baseUrl)
    const { OpenAIEmbeddingModel } = await import("@ai-sdk/openai/internal")
    return new OpenAIEmbeddingModel(MODEL, {
      provider: "openai.embedding",
      url: ({ path }) => base + path,
      headers: { Authorization: `Bearer ${apiKey}` },
      fetch: withQuery(watchedFetch(fetch, { limits: jsonLimits.vectors }), query),
    })
  }
}

const isVector = (numbers: readonly number[]) =>
  numbers.length === DIMENSIONS && numbers.every((number) => Number.isFinite(Math.fround(number)))
