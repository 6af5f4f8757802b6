import { failure } from "../core/protocol/errors.ts"
import type { Route } from "../core/protocol/routes/route.ts"
import { unreachable } from "./client-error.ts"
import { type ClientClock, clientClock } from "./clock.ts"

/** Options of `createClient` and `createSocketClient`: the server's address and how to authenticate. */
export interface ClientOptions {
  /** The address of the server, such as `http://127.0.0.1:7295`. It can be empty in a page of the server itself. */
  readonly baseUrl: string | URL
  /**
   * A personal access token, or a function that returns one for each request. Without it, the page's session cookie is
   * sent.
   */
  readonly token?: string | undefined | (() => string | undefined | Promise<string | undefined>)
  /**
   * In a page: returns the `pageSecret` from sign-in, without which the cookie is not valid. Called for each request,
   * because another tab may have signed in.
   */
  readonly pageSecret?: () => string | null | undefined
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: ClientClock
  /** Returns a number from 0 to 1, which spreads the retries of many clients. */
  readonly random?: () => number
}

export type SentFile = Blob | string | Uint8Array<ArrayBuffer>

/** The parts of a request besides its route. */
export interface RequestParts {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
  /** A file to send instead of a JSON body. */
  readonly file?: SentFile
  /** The media type of the file. Default: the first that the route accepts. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** Sends requests with address and credentials, for calls and streams. Its errors have codes. */
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
    // Browsers refuse a `fetch` that is called as a method of another object.
    this.#fetch = fetch ?? ((input, init) => globalThis.fetch(input, init))
    this.clock = clock
    this.random = random
  }

  /** The address for a WebSocket. A relative address is resolved against the page. */
  socketUrl(path: string): string {
    const page = (globalThis as { location?: { href: string } }).location?.href
    const url = new URL(`${this.#base}${path}`, page)
    url.protocol = url.protocol.replace("http", "ws")
    return url.href
  }

  /** Returns the response, including error responses. Throws `unreachable`, or the reason of the caller's signal. */
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
        // With a token no cookie is sent: it could belong to another person.
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

/** The name of a route in errors. */
export const label = (name: string, { method, path }: Route): string => `${name} (${method} ${path})`

export function toPath(path: string, params: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = params[name]
    // `..` would change the path in every encoding, so the request would go to another route.
    if (typeof value !== "string" || /^\.{0,2}$/.test(value)) {
      throw failure("bad_request", { problem: `${name}: "${value}" cannot be part of ${path}.` })
    }
    return encodeURIComponent(value)
  })
}

function toSearch(query: Readonly<Record<string, unknown>> = {}): string {
  const defined = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  if (defined.length === 0) return ""
  return `?${defined.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`).join("&")}`
}
