import { type Face, type Reply, Visitor } from "../support/server/face.ts"

/** A browser on its way to an issuer and back: keeps cookies by their names, and what our page stores for its origin. */
export class IssuerBrowser {
  readonly #face: Face
  readonly cookies = new Map<string, string>()
  /** As in `Set-Cookie`, newest last. */
  readonly set: string[] = []
  pageHalf: string | undefined
  pageSecret: string | undefined

  constructor(face: Face) {
    this.#face = face
  }

  get = (path: string) => this.ask("GET", path)
  post = (path: string, body?: unknown, headers?: Record<string, string>) => this.ask("POST", path, body, headers)

  async ask(method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<Reply> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const headers = {
      ...{ "sec-fetch-site": "same-origin", ...(cookie ? { cookie } : {}) },
      ...(this.pageSecret ? { "x-pawl-session": this.pageSecret } : {}),
      ...(method === "GET" ? {} : { origin: "http://localhost" }),
      ...more,
    }
    const reply = await new Visitor((request) => this.#face.fetch(request), undefined).ask(method, path, {
      body,
      headers,
    })
    for (const line of reply.headers.getSetCookie()) {
      this.set.push(line)
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return reply
  }

  /** Presses the button, and returns the address to which the issuer redirects. */
  async goAndComeBack(): Promise<URL> {
    const begun = await this.post("/api/auth/oidc/begin")
    if (begun.status !== 200) throw new Error(begun.text)
    this.pageHalf = begun.body.pageHalf
    const sent = await fetch(begun.body.redirectTo, { redirect: "manual" })
    return new URL(sent.headers.get("location") ?? `about:blank?${sent.status}`)
  }

  /** Finishes the sign-in as the page does to which the browser returns. */
  async finish(cameBackTo: URL, pageHalf = this.pageHalf ?? "none"): Promise<Reply> {
    const reply = await this.post("/api/auth/oidc/finish", { pageHalf, answer: cameBackTo.search.slice(1) })
    if (reply.status === 200) this.pageSecret = reply.body.pageSecret
    return reply
  }

  signIn = async (): Promise<Reply> => this.finish(await this.goAndComeBack())
}
