import { failure } from "../protocol/errors.ts"
import type { Route } from "../protocol/routes/route.ts"
import { unreachable } from "./client-error.ts"
import { type ClientClock, clientClock } from "./clock.ts"

export interface ClientOptions {
  /** Where the server is: `http://127.0.0.1:7295`; in a page of the server itself it may be "". */
  readonly baseUrl: string | URL
  /** A personal access token, or what fetches one for each request. Without one the session cookie of the page is sent. */
  readonly token?: string | undefined | (() => string | undefined | Promise<string | undefined>)
  /** In a page: what the sign-in gave it to keep, which the cookie counts with. Read for each request: another tab may have signed in. */
  readonly pageSecret?: () => string | null | undefined
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: ClientClock
  /** Between 0 and 1; spreads the tries of many clients. */
  readonly random?: () => number
}

export type SentFile = Blob | string | Uint8Array<ArrayBuffer>

/** What a request is made of besides its route. */
export interface RequestParts {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
  /** In place of a body, for a route that takes one. */
  readonly file?: SentFile
  /** Of the file; the first that the route takes, where it is not said. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** One way to the server, shared by calls and streams: addresses, identity, and failures that have a code. */
export class Transport {
  readonly clock: ClientClock
  readonly random: () => number
  readonly #base: string
  readonly #token: ClientOptions["token"]
  readonly #pageSecret: () => string | null | undefined
  readonly #fetch: typeof globalThis.fetch

  constructor({ baseUrl, token, pageSecret, fetch, clock = clientClock, random = Math.random }: ClientOptions) {
    this.#base = String(baseUrl).replace(/(?<!\/)\/+$/, "")
    this.#token = token
    this.#pageSecret = pageSecret ?? (() => undefined)
    // Browsers refuse a `fetch` that is called as a method of anything but the window.
    this.#fetch = fetch ?? ((input, init) => globalThis.fetch(input, init))
    this.clock = clock
    this.random = random
  }

  /** Where a socket is opened; an address without a server is the page's own. */
  socketUrl(path: string): string {
    const page = (globalThis as { location?: { href: string } }).location?.href
    const url = new URL(`${this.#base}${path}`, page)
    url.protocol = url.protocol.replace("http", "ws")
    return url.href
  }

  /** The response as it is, refusals included. Fails with `unreachable`, or with the reason of the caller's own signal. */
  async send(name: string, route: Route, sent: RequestParts): Promise<Response> {
    const { body, file, signal, type = route.takes?.[0] } = sent
    signal?.throwIfAborted()
    const url = `${this.#base}${toPath(route.path, sent.params)}${toSearch(sent.query)}`
    const token = typeof this.#token === "function" ? await this.#token() : this.#token
    const pageSecret = token === undefined ? this.#pageSecret() : undefined
    const headers: Record<string, string> = {
      accept: "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(pageSecret ? { "x-pawl-session": pageSecret } : {}),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(file === undefined || type === undefined ? {} : { "content-type": type }),
      ...sent.headers,
    }
    try {
      return await this.#fetch(url, {
        method: route.method,
        headers,
        // With a token no cookie goes along: it could only name somebody else.
        credentials: token === undefined ? "same-origin" : "omit",
        cache: "no-store",
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(file === undefined ? {} : { body: file }),
        ...(signal ? { signal } : {}),
      })
    } catch (error) {
      signal?.throwIfAborted()
      throw unreachable(label(name, route), error)
    }
  }
}

/** How an error names a route. */
export const label = (name: string, { method, path }: Route): string => `${name} (${method} ${path})`

export function toPath(path: string, params: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = params[name]
    // Dots survive every way of escaping: a URL takes `..` as the folder above, and the request would go elsewhere.
    if (typeof value !== "string" || /^\.{0,2}$/.test(value)) {
      throw failure("bad_request", { problem: `${name}: "${value}" cannot be part of ${path}.` })
    }
    return encodeURIComponent(value)
  })
}

function toSearch(query: Readonly<Record<string, unknown>> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  if (given.length === 0) return ""
  return `?${given.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`).join("&")}`
}
