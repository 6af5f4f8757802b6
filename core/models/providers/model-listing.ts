import { splitQuery } from "./endpoints/endpoint.ts"

/** In which words an endpoint tells of its models. */
export type ListingShape = "chat" | "ollama" | "lmstudio" | "llamacpp"

/** How an endpoint is asked which models it has. */
export interface ModelListing {
  readonly shape: ListingShape
  /** What paths are put behind, without a slash at its end. */
  readonly base: string
  /** What every request carries behind its path. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  /** The prices it tells are what it charges, in dollars for a token. Of any other endpoint nobody knows what its numbers mean. */
  readonly tellsPrices: boolean
}

/** What a provider answers for nothing to whoever has a key. */
export interface ProviderProbe {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

interface Reached {
  readonly baseUrl: string
  readonly apiKey?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly listPrice?: boolean
}

/** Servers that tell more of their models than what chat completions have in common. */
const SHAPES: ReadonlyMap<string, ListingShape> = new Map([
  ["ollama", "ollama"],
  ["lmstudio", "lmstudio"],
  ["llamacpp", "llamacpp"],
])

/** How a server is asked that speaks chat completions, under the name of its provider or of its endpoint. */
export function toListing(name: string, reached: Reached): ModelListing {
  const { baseUrl, apiKey, headers = {}, listPrice = false } = reached
  return {
    shape: SHAPES.get(name) ?? "chat",
    ...splitQuery(baseUrl),
    headers: { ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}), ...headers },
    tellsPrices: name === "openrouter" && listPrice,
  }
}
