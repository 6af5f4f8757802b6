import { splitQuery } from "./endpoints/endpoint.ts"

/** The format of a model list. */
export type ListingShape = "chat" | "ollama" | "lmstudio" | "llamacpp"

/** How to request an endpoint's model list. */
export interface ModelListing {
  readonly shape: ListingShape
  /** The base of its paths, without trailing slash. */
  readonly base: string
  /** The query of every request. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  /** Its prices are what it charges, in dollars per token. The meaning of other endpoints' prices is unknown. */
  readonly hasPrices: boolean
}

/** A free request that anyone with a key can make. */
export interface ProviderProbe {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

interface ListingAccess {
  readonly baseUrl: string
  readonly apiKey?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly listPrice?: boolean
}

/** Servers that report more about their models than the common format. */
const SHAPES: ReadonlyMap<string, ListingShape> = new Map([
  ["ollama", "ollama"],
  ["lmstudio", "lmstudio"],
  ["llamacpp", "llamacpp"],
])

/** Returns how to request the model list of a chat-completions server. `name` is its provider or endpoint. */
export function toListing(name: string, access: ListingAccess): ModelListing {
  const { baseUrl, apiKey, headers = {}, listPrice = false } = access
  return {
    shape: SHAPES.get(name) ?? "chat",
    ...splitQuery(baseUrl),
    headers: { ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}), ...headers },
    hasPrices: name === "openrouter" && listPrice,
  }
}
