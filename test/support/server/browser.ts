import type { Scope } from "../../../core/protocol/account/sign-in.ts"
import { type Face, type Reply, Visitor } from "./face.ts"

type Headers = Record<string, string>

/** Sends the headers of a browser on a page of the server: its cookie, its origin, and no token. */
export class Browser {
  readonly #face: Face
  readonly #from: string | undefined
  /** `name=value`, as it is sent; undefined where there is none. */
  cookie: string | undefined
  /** The secret that the page stores in addition to the cookie, if any. */
  pageSecret: string | undefined
  /** The last `Set-Cookie` as it came. */
  setCookie: string | undefined

  constructor(face: Face, from?: string) {
    this.#face = face
    this.#from = from
  }

  /** A browser that has signed in with a fresh link. */
  static async of(face: Face, name: string, ...granted: Scope[]): Promise<Browser> {
    const browser = new Browser(face)
    const { status, text } = await browser.signIn(await linkFor(face, name, ...granted))
    if (status !== 200) throw new Error(text)
    return browser
  }

  signIn = (secret: string) => this.ask("POST", "/api/auth/sign-in", { body: { secret } })
  get = (path: string, headers?: Headers) => this.ask("GET", path, { headers })
  post = (path: string, body?: unknown, headers?: Headers) => this.ask("POST", path, { body, headers })

  /** An empty header is not sent. */
  ask(method: string, path: string, { body, headers = {} }: { body?: unknown; headers?: Headers | undefined } = {}) {
    const own: Headers = { "sec-fetch-site": "same-origin", ...(this.cookie ? { cookie: this.cookie } : {}) }
    if (this.pageSecret !== undefined) own["x-pawl-session"] = this.pageSecret
    if (method !== "GET") own.origin = "http://localhost"
    const sent = Object.fromEntries(Object.entries({ ...own, ...headers }).filter(([, value]) => value !== ""))
    return new Visitor((request) => this.#fetch(request), undefined).ask(method, path, { body, headers: sent })
  }

  async #fetch(request: Request): Promise<Response> {
    const response = await this.#face.fetch(request, this.#from)
    if (response.ok && request.url.endsWith("/api/auth/sign-in"))
      this.pageSecret = ((await response.clone().json()) as { pageSecret: string }).pageSecret
    const set = response.headers.get("set-cookie")
    if (set !== null) {
      this.setCookie = set
      this.cookie = /max-age=0/i.test(set) ? undefined : set.split(";")[0]
    }
    return response
  }
}

/** The secret of a fresh sign-in link. */
export async function linkFor(face: Face, name: string, ...granted: Scope[]): Promise<string> {
  const { people, sessions } = face.store
  const scopes: Scope[] = granted.length > 0 ? granted : ["read", "chat", "approve", "manage"]
  const now = face.pawl.ports.clock.now()
  return sessions.createLink(await people.ensure(name, now), scopes, now)
}

export const codeOf = ({ status, body }: Reply): [number, string | undefined] => [
  status,
  body?.code ?? body?.error?.code, // problem JSON, or the error format of another protocol
]
