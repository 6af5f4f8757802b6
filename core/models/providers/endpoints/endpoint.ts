const OLLAMA_PORT = "11434"

/**
 * Normalizes the base address of a server with OpenAI's format under `/v1`, with or without scheme, trailing slash and
 * `/v1`. Undefined if it is not an address.
 */
export function toLocalEndpoint(text: string): string | undefined {
  const url = parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`)
  return url && withVersion(url)
}

/** `OLLAMA_HOST` as Ollama reads it: the port is optional, and 0.0.0.0, where it listens, becomes 127.0.0.1. */
export function toOllamaEndpoint(text: string): string | undefined {
  const bare = !/^[a-z]+:\/\//i.test(text)
  const url = parse(bare ? `http://${text}` : text)
  if (!url) return undefined
  if (bare && url.port === "" && !/:80(\/|$)/.test(text)) url.port = OLLAMA_PORT
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"
  return withVersion(url)
}

/** A base address without trailing slash; adds `/v1` if there is no path. */
export function toBaseUrl(text: string): string | undefined {
  const url = parse(text)
  if (!url) return undefined
  return url.pathname === "/" ? withVersion(url) : withPath(url, withoutSlash(url.pathname))
}

/** The OpenAI-compatible address of an Azure resource, which the portal shows without a path. */
export function toAzureEndpoint(text: string): string | undefined {
  const url = parse(text)
  if (!url) return undefined
  const path = withoutSlash(url.pathname)
  return withPath(url, path === "" || path === "/" || path === "/openai" ? "/openai/v1" : path)
}

/** The address of Gemini; adds `/v1beta` if there is no path. */
export function toGeminiEndpoint(text: string): string | undefined {
  const url = parse(text)
  return url && withPath(url, withoutSlash(url.pathname.replace(/^\/$/, "/v1beta")))
}

/** An address without trailing slash; `usual` is the default path. */
export function toAddress(text: string, usual = ""): string | undefined {
  const url = parse(text)
  if (!url) return undefined
  return withoutSlash(withPath(url, url.pathname === "/" ? usual : withoutSlash(url.pathname)))
}

/** Whether a text is a single label of a host name, so that it cannot lead to another host. */
export const isHostLabel = (text: string): boolean => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(text)

/** A base address that ends with `/v1`: Anthropic's own clients expect it without, its adapter with it. */
export function toVersionedUrl(text: string): string | undefined {
  const url = parse(text)
  return url && withVersion(url)
}

/**
 * Splits a base address into the part that paths are appended to and the query of every request, such as Azure's
 * `?api-version=…`.
 */
export function splitQuery(baseUrl: string): { readonly base: string; readonly query: string } {
  const at = baseUrl.indexOf("?")
  return at === -1 ? { base: baseUrl, query: "" } : { base: baseUrl.slice(0, at), query: baseUrl.slice(at) }
}

/** Wraps a `fetch` to add this query to every address. */
export function withQuery(fetch: typeof globalThis.fetch, query: string): typeof globalThis.fetch {
  if (query === "") return fetch
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input))
    url.search = url.search === "" ? query : `${query}&${url.search.slice(1)}`
    return fetch(input instanceof Request ? new Request(url, input) : url.href, init)
  }
}

function withVersion(url: URL): string {
  const path = withoutSlash(url.pathname)
  return withPath(url, path.endsWith("/v1") ? path : `${path}/v1`)
}

// Changes only the path: text that is appended to the whole address would end up in a query.
function withPath(url: URL, path: string): string {
  const changed = new URL(url)
  changed.pathname = path
  changed.hash = ""
  return changed.href
}

const withoutSlash = (text: string): string => text.replace(/(?<!\/)\/+$/, "")

function parse(text: string): URL | undefined {
  const url = URL.parse(text)
  return url && /^https?:$/.test(url.protocol) && url.hostname ? url : undefined
}
