const OLLAMA_PORT = "11434"

/**
 * The base address of a server that speaks OpenAI's dialect under `/v1`, however people write it: with or without
 * scheme, trailing slash and `/v1`. Undefined where the text is no address.
 */
export function toLocalEndpoint(text: string): string | undefined {
  const url = parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`)
  return url && withVersion(url)
}

/** `OLLAMA_HOST` as Ollama reads it: the port may be missing, and 0.0.0.0, where it listens, is reached on this machine. */
export function toOllamaEndpoint(text: string): string | undefined {
  const bare = !/^[a-z]+:\/\//i.test(text)
  const url = parse(bare ? `http://${text}` : text)
  if (!url) return undefined
  if (bare && url.port === "" && !/:80(\/|$)/.test(text)) url.port = OLLAMA_PORT
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"
  return withVersion(url)
}

/** A base address as it is given, without its trailing slash; `/v1` is added where there is no path at all. */
export function toBaseUrl(text: string): string | undefined {
  const url = parse(text)
  if (!url) return undefined
  return url.pathname === "/" ? withVersion(url) : withPath(url, withoutSlash(url.pathname))
}

/** Where a resource of Azure speaks as OpenAI does: people have its address without a path, as the portal shows it. */
export function toAzureEndpoint(text: string): string | undefined {
  const url = parse(text)
  if (!url) return undefined
  const path = withoutSlash(url.pathname)
  return withPath(url, path === "" || path === "/" || path === "/openai" ? "/openai/v1" : path)
}

/** Where Gemini is: its models lie under `/v1beta`, unless a path is given. */
export function toGeminiEndpoint(text: string): string | undefined {
  const url = parse(text)
  return url && withPath(url, withoutSlash(url.pathname.replace(/^\/$/, "/v1beta")))
}

/** An address as it is given, without its trailing slash; `usual` in place of a path where it has none. */
export function toAddress(text: string, usual = ""): string | undefined {
  const url = parse(text)
  if (!url) return undefined
  return withoutSlash(withPath(url, url.pathname === "/" ? usual : withoutSlash(url.pathname)))
}

/** Whether a text can be one of the names between the dots of a host: whatever else it held could lead elsewhere. */
export const isHostLabel = (text: string): boolean => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(text)

/** A base address that always ends with `/v1`: Anthropic's own clients are given theirs without, its adapter wants it. */
export function toVersionedUrl(text: string): string | undefined {
  const url = parse(text)
  return url && withVersion(url)
}

/**
 * A base address in two: what paths are put behind, and the query that every request has to carry, such as Azure's
 * `?api-version=…`.
 */
export function splitQuery(baseUrl: string): { readonly base: string; readonly query: string } {
  const at = baseUrl.indexOf("?")
  return at === -1 ? { base: baseUrl, query: "" } : { base: baseUrl.slice(0, at), query: baseUrl.slice(at) }
}

/** The same `fetch`, with this query on every address beside what it has of its own. */
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

// Only the path is touched: what is put behind the whole text would end up in a query.
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
