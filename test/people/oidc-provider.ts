import { createHash, randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { exportJWK, generateKeyPair, type GenerateKeyPairResult, type JWTPayload, SignJWT } from "jose"

interface Granted {
  readonly challenge: string
  readonly redirect: string
  readonly nonce: string
  readonly claims: JWTPayload
}

export const CLIENT = { id: "pawl", secret: "s3cret of the client" }

/**
 * An OpenID provider over real HTTP that signs real tokens, and signs in `who` without asking. It checks what a
 * provider has to check; a test can turn that off, or make it lie.
 */
export class OidcProvider implements AsyncDisposable {
  readonly #server: Server
  readonly #codes = new Map<string, Granted>()
  readonly #keys: GenerateKeyPairResult
  /** The claims of the next person to sign in. */
  who: JWTPayload & { sub: string } = { sub: "0001", name: "Ada" }
  /** Claims that only `userinfo` returns. */
  more: Record<string, unknown> = {}
  /** Claims that replace those of its tokens. */
  lies: JWTPayload = {}
  /** Signs with another key under the same name. */
  forger: GenerateKeyPairResult["privateKey"] | undefined
  /** Accepts a code more than once. */
  forgetful = false
  /** The status of every answer, if set. */
  broken: number | undefined
  /** Fields that replace those of its discovery document. */
  metadata: Record<string, unknown> = {}
  /** Refuses every sign-in with this error. */
  refuses: string | undefined
  readonly asked: string[] = []

  private constructor(server: Server, keys: GenerateKeyPairResult) {
    this.#server = server
    this.#keys = keys
    server.on("request", (request, response) => {
      void this.#answer(request).then(([status, body, headers = {}]) =>
        response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body)),
      )
    })
  }

  static async open(): Promise<OidcProvider> {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    return new OidcProvider(server, await generateKeyPair("RS256"))
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async #answer(request: IncomingMessage): Promise<[number, unknown, Record<string, string>?]> {
    const url = new URL(request.url ?? "/", this.issuer)
    this.asked.push(url.pathname)
    if (this.broken !== undefined) return [this.broken, { error: "server_error" }]
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        return [200, this.#metadata()]
      case "/jwks":
        return [200, { keys: [{ ...(await exportJWK(this.#keys.publicKey)), kid: "1", alg: "RS256" }] }]
      case "/authorize":
        return this.#authorize(url.searchParams)
      case "/token":
        return this.#token(request)
      case "/userinfo":
        return [200, { sub: this.who.sub, ...this.more }]
      default:
        return [404, {}]
    }
  }

  #metadata() {
    const { issuer } = this
    return {
      ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
      ...{ jwks_uri: `${issuer}/jwks`, userinfo_endpoint: `${issuer}/userinfo` },
      ...{ response_types_supported: ["code"], subject_types_supported: ["public"] },
      ...{ id_token_signing_alg_values_supported: ["RS256"], code_challenge_methods_supported: ["S256"] },
      ...{ authorization_response_iss_parameter_supported: true, ...this.metadata },
    }
  }

  #authorize(asked: URLSearchParams): [number, unknown, Record<string, string>?] {
    const get = (name: string) => asked.get(name) ?? ""
    if (get("client_id") !== CLIENT.id || get("response_type") !== "code") return [400, { error: "invalid_request" }]
    if (get("code_challenge_method") !== "S256" || get("nonce") === "") return [400, { error: "invalid_request" }]
    const back = new URL(get("redirect_uri"))
    back.searchParams.set("state", get("state"))
    back.searchParams.set("iss", this.issuer)
    if (this.refuses) {
      back.searchParams.set("error", this.refuses)
      back.searchParams.set("error_description", "Call 555-EVIL")
      return [302, {}, { location: back.href }]
    }
    const code = randomUUID()
    const granted = { challenge: get("code_challenge"), redirect: get("redirect_uri"), nonce: get("nonce") }
    this.#codes.set(code, { ...granted, claims: this.who })
    back.searchParams.set("code", code)
    return [302, {}, { location: back.href }]
  }

  async #token(request: IncomingMessage): Promise<[number, unknown]> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const form = new URLSearchParams(Buffer.concat(chunks).toString())
    // As in RFC 6749: both encoded as in a form.
    const basic = new URLSearchParams({ u: CLIENT.id, p: CLIENT.secret }).toString()
    const [user, password] = basic.split("&").map((part) => part.slice(2))
    const expected = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
    if (request.headers.authorization !== expected) return [401, { error: "invalid_client" }]
    const code = form.get("code") ?? ""
    const granted = this.#codes.get(code)
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url")
    if (granted?.challenge !== challenge || granted.redirect !== form.get("redirect_uri"))
      return [400, { error: "invalid_grant" }]
    if (!this.forgetful) this.#codes.delete(code)
    const now = Math.floor(Date.now() / 1000)
    const usual = { iss: this.issuer, aud: CLIENT.id, iat: now, exp: now + 300, nonce: granted.nonce }
    const id_token = await new SignJWT({ ...usual, ...granted.claims, ...this.lies })
      .setProtectedHeader({ alg: "RS256", kid: "1" })
      .sign(this.forger ?? this.#keys.privateKey)
    return [200, { access_token: randomUUID(), token_type: "Bearer", expires_in: 300, id_token }]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }
}
