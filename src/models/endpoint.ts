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
  return url.pathname === "/" ? withVersion(url) : withoutSlash(url.href)
}

/** A base address that always ends with `/v1`: Anthropic's own clients are given theirs without, its adapter wants it. */
export function toVersionedUrl(text: string): string | undefined {
  const url = parse(text)
  return url && withVersion(url)
}

function withVersion(url: URL): string {
  const base = withoutSlash(url.href)
  return base.endsWith("/v1") ? base : `${base}/v1`
}

const withoutSlash = (text: string): string => text.replace(/\/+$/, "")

function parse(text: string): URL | undefined {
  const url = URL.parse(text)
  return url && /^https?:$/.test(url.protocol) && url.hostname ? url : undefined
}
