import { createHash, randomBytes } from "node:crypto"
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client"
import { beforeAll, describe, expect, test } from "vitest"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { says } from "../../core/models/scripted/script.ts"
import type { Statements } from "../../core/store/engine/operations.ts"
import { anyDatabase, databasesInTurn } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { Browser, codeOf } from "../support/server/browser.ts"
import { Face, Visitor } from "../support/server/face.ts"

const REDIRECT = "https://client.example/callback"
const RESOURCE = "http://localhost/mcp"
const FORM = { "content-type": "application/x-www-form-urlencoded" }

describe("a program that signs in by itself", () => {
  const clock = new TurnedClock()
  let face: Face
  let ada: Browser
  let stranger: Visitor

  beforeAll(async () => {
    const { url } = await anyDatabase[0]!.create()
    face = await Face.open({ url, model: scripted(always(says("Four of them."))), clock })
    ada = await Browser.of(face, "ada")
    stranger = new Visitor((request) => face.fetch(request), undefined)
    return () => face[Symbol.asyncDispose]()
  })

  /** The in-memory storage of the official client. */
  function provider() {
    let information: StoredOAuthClientInformation | undefined
    let tokens: StoredOAuthTokens | undefined
    let verifier = ""
    let discovered: OAuthDiscoveryState | undefined
    const sent: URL[] = []
    const keeps: OAuthClientProvider = {
      redirectUrl: REDIRECT,
      clientMetadata: { client_name: "Inspector", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" },
      state: () => "state-1",
      clientInformation: () => information,
      saveClientInformation: (saved) => void (information = saved),
      tokens: () => tokens,
      saveTokens: (saved) => void (tokens = saved),
      redirectToAuthorization: (url) => void sent.push(url),
      saveCodeVerifier: (saved) => void (verifier = saved),
      codeVerifier: () => verifier,
      discoveryState: () => discovered,
      saveDiscoveryState: (saved) => void (discovered = saved),
    }
    return { keeps, sent, token: () => tokens?.access_token }
  }

  const transportFor = (authProvider: OAuthClientProvider) =>
    new StreamableHTTPClientTransport(new URL(RESOURCE), {
      authProvider,
      fetch: async (url, init) => face.fetch(new Request(url, init)),
    })
  const asked = (url: URL) => Object.fromEntries(url.searchParams)
  const consent = (url: URL, agrees: boolean) => ada.post("/api/oauth/consent", { ...asked(url), agrees })

  test("the official client finds its way, the person consents, and sees the program among their tokens", async () => {
    const { keeps, sent, token } = provider()
    const first = transportFor(keeps)
    await expect(new Client({ name: "t", version: "1" }).connect(first)).rejects.toThrow(UnauthorizedError)
    const [url] = sent as [URL]
    expect(`${url.origin}${url.pathname}`).toBe("http://localhost/oauth/authorize")
    expect(asked(url)).toMatchObject({ code_challenge_method: "S256", resource: RESOURCE, state: "state-1" })
    const question = await ada.get(`/api/oauth/consent${url.search}`)
    expect(question.body).toEqual({
      client: { name: "Inspector", redirectsTo: "client.example" },
      scopes: ["read", "chat"],
      user: { name: "ada" },
    })
    const back = new URL((await consent(url, true)).body.redirectTo)
    expect([back.origin, back.searchParams.get("state"), back.searchParams.get("iss")]).toEqual([
      ...["https://client.example", "state-1", "http://localhost"],
    ])
    await first.finishAuth(back.searchParams)
    const client = new Client({ name: "t", version: "1" })
    await client.connect(transportFor(keeps))
    const told = await client.callTool({ name: "ask_agent", arguments: { message: "How many?", agent: "test" } })
    expect(JSON.stringify(told.content)).toContain("Four of them.")
    const listed = (await ada.get("/api/tokens")).body.items
    expect(listed[0]).toMatchObject({ name: "Inspector", scopes: ["read", "chat"], resource: RESOURCE })
    expect(listed[1]?.name).not.toBe("Inspector")
    // Renews by itself when its hour is over.
    const before = token()
    clock.shift(61 * 60_000)
    expect(await works(before!)).toBe(false)
    await client.listTools()
    expect([token() === before, await works(token()!)]).toEqual([false, true])
    expect((await ada.get("/api/tokens")).body.items.map(({ id }: { id: string }) => id)).toEqual(
      listed.map(({ id }: { id: string }) => id),
    )
    await ada.ask("DELETE", `/api/tokens/${listed[0].id}`)
    expect(await works(token()!)).toBe(false)
    await client.close()
  })

  /** A registered program with a fresh code, and all that the code is bound to. */
  async function granted(more: Record<string, string> = {}) {
    const { body } = await stranger.post("/oauth/register", { client_name: "Other", redirect_uris: [REDIRECT] })
    const code_verifier = randomBytes(32).toString("base64url")
    const code_challenge = createHash("sha256").update(code_verifier).digest("base64url")
    const request = {
      ...{ response_type: "code", client_id: body.client_id, redirect_uri: REDIRECT, code_challenge },
      ...{ code_challenge_method: "S256", resource: RESOURCE, ...more },
    }
    const answer = await ada.post("/api/oauth/consent", { ...request, agrees: true })
    const code = answer.status === 200 ? new URL(answer.body.redirectTo).searchParams.get("code")! : ""
    const form = {
      grant_type: "authorization_code",
      code,
      redirect_uri: REDIRECT,
      client_id: body.client_id,
      code_verifier,
    }
    return { answer, form: { ...form, resource: RESOURCE } as Record<string, string> }
  }
  const exchange = (form: Record<string, string>) =>
    stranger.post("/oauth/token", new URLSearchParams(form).toString(), FORM)
  const errorOf = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]
  const works = async (token: string) => {
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" }
    const accept = { accept: "application/json, text/event-stream", "content-type": "application/json" }
    const answer = await new Visitor((request) => face.fetch(request), token).post("/mcp", ping, accept)
    if (answer.status !== 200 && answer.status !== 401) throw new Error(answer.text)
    return answer.status === 200
  }
  const renew = (refresh_token: string, form: Record<string, string>) =>
    exchange({ grant_type: "refresh_token", refresh_token, client_id: form.client_id!, resource: RESOURCE })

  test("a code counts once: a second use revokes the tokens of the first", async () => {
    const { form } = await granted()
    const first = await exchange(form)
    expect([first.status, first.body.scope, first.headers.get("cache-control")]).toEqual([200, "read chat", "no-store"])
    expect(await works(first.body.access_token)).toBe(true)
    expect(errorOf(await exchange(form))).toEqual([400, "invalid_grant"])
    expect(await works(first.body.access_token)).toBe(false)
  })

  test("its token opens /mcp, and nothing else", async () => {
    const { form } = await granted()
    const { body } = await exchange(form)
    expect([body.token_type, body.expires_in]).toEqual(["Bearer", 3600])
    expect(await works(body.access_token)).toBe(true)
    const program = new Visitor((request) => face.fetch(request), body.access_token)
    for (const path of [
      "/api/auth/me",
      "/api/conversations",
      "/api/tokens",
      "/v1/models",
      "/ag-ui/test",
      "/ai-sdk/chat",
    ])
      expect([path, codeOf(await program.get(path))]).toEqual([path, [403, "wrong_resource"]])
    expect(codeOf(await program.post("/api/tokens", { name: "more" }))).toEqual([403, "wrong_resource"])
    const upgrade = await program.send("GET", "/api/socket", {
      headers: { upgrade: "websocket", connection: "upgrade" },
    })
    expect(upgrade.status).toBe(403)
    // The refresh token is not accepted as an access token.
    expect(await works(body.refresh_token)).toBe(false)
  })

  test("access ends after an hour, and is renewed with a refresh token that changes each time", async () => {
    const { form } = await granted()
    const first = (await exchange(form)).body
    clock.shift(60 * 60_000)
    expect(await works(first.access_token)).toBe(false)
    const second = (await renew(first.refresh_token, form)).body
    expect([second.scope, second.refresh_token === first.refresh_token]).toEqual(["read chat", false])
    expect(await works(second.access_token)).toBe(true)
    const other = (await stranger.post("/oauth/register", { client_name: "Y", redirect_uris: [REDIRECT] })).body
    expect(errorOf(await renew(second.refresh_token, other))).toEqual([400, "invalid_grant"])
    expect(errorOf(await renew("pawl_refresh_x", form))).toEqual([400, "invalid_grant"])
    clock.shift(31 * 24 * 60 * 60_000)
    expect(errorOf(await renew(second.refresh_token, form))).toEqual([400, "invalid_grant"])
    // Her own session is over by then, too.
    ada = await Browser.of(face, "ada")
  })

  test("a lost answer can be requested again within a minute; later a repeat counts as a stolen secret", async () => {
    const { form } = await granted()
    const first = (await exchange(form)).body
    await renew(first.refresh_token, form)
    clock.shift(59_000)
    const again = await renew(first.refresh_token, form)
    expect(again.status).toBe(200)
    expect((await renew(again.body.refresh_token, form)).status).toBe(200)
    clock.shift(61_000)
    const latest = await renew(again.body.refresh_token, form)
    expect(errorOf(latest)).toEqual([400, "invalid_grant"])
    expect(await works(again.body.access_token)).toBe(false)
  })

  test("concurrent renewals are all answered, and leave one grant", async () => {
    const { form } = await granted()
    const { refresh_token } = (await exchange(form)).body
    const answers = await Promise.all([1, 2, 3].map(() => renew(refresh_token, form)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    for (const { body } of answers) expect(await works(body.access_token)).toBe(true)
  })

  test("if a code is used several times at once, at most one use is answered, and its token is then revoked", async () => {
    const { form } = await granted()
    const answers = await Promise.all([1, 2, 3, 4].map(() => exchange(form)))
    const tokens = answers.flatMap(({ status, body }) => (status === 200 ? [body.access_token as string] : []))
    expect(tokens).toHaveLength(1)
    expect(await works(tokens[0]!)).toBe(false)
  })

  test("a code needs the verifier, client and redirect it was issued for, and a wrong attempt does not spend it", async () => {
    const { form } = await granted()
    const other = (await stranger.post("/oauth/register", { client_name: "X", redirect_uris: [REDIRECT] })).body
      .client_id
    for (const [wrong, error] of [
      [{ code_verifier: randomBytes(32).toString("base64url") }, "invalid_grant"],
      [{ client_id: other }, "invalid_grant"],
      [{ client_id: "pawl_app_x" }, "invalid_client"],
      [{ redirect_uri: `${REDIRECT}/` }, "invalid_grant"],
      [{ resource: "http://localhost/other" }, "invalid_target"],
      [{ code: "x" }, "invalid_grant"],
      [{ code_verifier: "short" }, "invalid_request"],
      [{ grant_type: "password" }, "unsupported_grant_type"],
      [{ grant_type: "toString" }, "unsupported_grant_type"],
    ] as const)
      expect([wrong, errorOf(await exchange({ ...form, ...wrong }))]).toEqual([wrong, [400, error]])
    const twice = `${new URLSearchParams(form).toString()}&code=${form.code}`
    expect(errorOf(await stranger.post("/oauth/token", twice, FORM))).toEqual([400, "invalid_request"])
    expect((await exchange(form)).status).toBe(200)
  })

  test("a code is valid for a minute", async () => {
    const { form } = await granted()
    clock.shift(60_001)
    expect(errorOf(await exchange(form))).toEqual([400, "invalid_grant"])
  })

  test.each([
    ["a plain challenge", { code_challenge_method: "plain" }],
    ["an address that was not registered", { redirect_uri: `${REDIRECT}?x=1` }],
    ["an address that begins as one that was", { redirect_uri: `${REDIRECT}.evil.example` }],
    ["another resource", { resource: "https://other.example/mcp" }],
    ["a program that has not registered", { client_id: "pawl_app_W10" }],
    ["another kind of answer", { response_type: "token" }],
  ])("%s is reported to the person, without a redirect", async (_what, wrong) => {
    const { answer } = await granted(wrong)
    expect(codeOf(answer)).toEqual([400, "bad_request"])
  })

  test("a program with read access gets no more, and none can approve changes", async () => {
    for (const [scope, gets] of [
      ["read", "read"],
      ["read chat approve admin manage", "read chat"],
      ["approve", "read chat"],
    ]) {
      const { form } = await granted({ scope: scope! })
      expect((await exchange(form)).body.scope).toBe(gets)
    }
  })

  test("a refusal is sent back to the program, and creates nothing", async () => {
    const { keeps, sent } = provider()
    const transport = transportFor(keeps)
    await expect(new Client({ name: "t", version: "1" }).connect(transport)).rejects.toThrow(UnauthorizedError)
    const back = new URL((await consent(sent[0]!, false)).body.redirectTo)
    expect([back.searchParams.get("error"), back.searchParams.get("code")]).toEqual(["access_denied", null])
  })

  test("with a full storage no further program can register, because each one adds a token without another limit", async () => {
    const { answer } = await granted()
    expect(answer.status).toBe(200)
    await face.store.storage.setLimit(1)
    expect(codeOf((await granted()).answer)).toEqual([409, "storage_full"])
    await face.store.storage.setLimit(1e9)
  })

  test("only a signed-in browser can consent: no token, no half session, and no session with fewer scopes", async () => {
    const { keeps, sent } = provider()
    await expect(new Client({ name: "t", version: "1" }).connect(transportFor(keeps))).rejects.toThrow()
    const body = { ...asked(sent[0]!), agrees: true }
    const token = await face.as("ada")
    expect(codeOf(await token.post("/api/oauth/consent", body))).toEqual([400, "bad_request"])
    const half = await Browser.of(face, "ada")
    half.pageSecret = undefined
    expect(codeOf(await half.post("/api/oauth/consent", body))).toEqual([401, "half_session"])
    const silent = await Browser.of(face, "ada", "read", "manage")
    expect(codeOf(await silent.post("/api/oauth/consent", body))).toEqual([403, "forbidden"])
    expect(codeOf(await ada.post("/api/oauth/consent", body, { origin: "https://evil.example" }))).toEqual([
      403,
      "wrong_origin",
    ])
  })

  test.each([
    ["http://client.example/callback"],
    ["javascript:alert(1)"],
    ["myapp://callback"],
    ["https://client.example/#code"],
    ["https://user:word@client.example/"],
    ["http://127.0.0.1.evil.example/"],
    ["not an address"],
  ])("%s is refused as a redirect address", async (redirect) => {
    const { status, body } = await stranger.post("/oauth/register", { redirect_uris: [redirect] })
    expect([status, body.error]).toEqual([400, "invalid_redirect_uri"])
  })

  test("this machine is accepted as one, and a program's name is bounded text", async () => {
    const name = `<b>${"x".repeat(150)}</b>`
    const redirect_uris = ["http://127.0.0.1:9/cb", "http://[::1]:9/cb", "http://localhost:9/cb"]
    const { status, body } = await stranger.post("/oauth/register", { client_name: name, redirect_uris })
    expect([status, body.redirect_uris, body.client_name.length]).toEqual([201, redirect_uris, 100])
    expect((await stranger.post("/oauth/register", { redirect_uris: [] })).status).toBe(400)
  })

  test("the host of a request is trusted only if it can be this machine", async () => {
    await using open = await Face.open({
      url: (await anyDatabase[0]!.create()).url,
      model: scripted(),
      host: "0.0.0.0",
    })
    const at = (host: string) => async (path: string) => {
      const answer = await open.fetch(new Request(`http://${host}${path}`, { headers: { host } }))
      return [answer.status, ((await answer.json()) as { code?: string }).code, answer.headers.get("www-authenticate")]
    }
    const path = "/.well-known/oauth-authorization-server"
    expect((await at("127.0.0.1:7295")(path))[0]).toBe(200)
    expect(await at("203.0.113.9")(path)).toEqual([400, "public_url_needed", null])
    const [status, , challenge] = await at("203.0.113.9")("/mcp")
    expect([status, challenge]).toEqual([401, 'Bearer realm="pawl", scope="read chat"'])
  })

  test("the page runs only its own script, cannot be framed, and contains nothing from the request", async () => {
    const shown = await stranger.send("GET", "/oauth/authorize?client_id=<script>")
    const policy = shown.headers.get("content-security-policy")
    expect(policy).toMatch(/default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/)
    expect(await shown.text()).not.toContain("client_id")
    const refused = await stranger.send("POST", "/mcp", { body: { jsonrpc: "2.0" } })
    const metadata = "http://localhost/.well-known/oauth-protected-resource/mcp"
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      401,
      `Bearer realm="pawl", scope="read chat", resource_metadata="${metadata}"`,
    ])
  })
})

describe.each(databasesInTurn(import.meta.filename))("codes on $name", ({ create }) => {
  test("a crash at the exchange leaves a code used and its token created, or neither; one of racing uses succeeds", async () => {
    const { url } = await create()
    await using face = await Face.open({ url, model: scripted() })
    const { people, authorizationCodes, engine } = face.store
    const { id: user } = await people.ensure("ada", 0)
    const bound = { client: "c", redirect: "r", challenge: "x", resource: "m" }
    const grant = () => authorizationCodes.create({ ...bound, user, name: "n", scopes: ["read"] }, 1000)
    const exchange = (code: string) => authorizationCodes.exchange(code, bound, 1000)
    const tokens = async () => (await people.listTokens(user, { limit: 9 }, 1000)).items
    const code = await grant()
    const change = engine.change.bind(engine)
    /** As by a process that dies after so many commits. */
    const dyingAfter = async (commits: number) => {
      let left = commits
      const dying = async (operation: Statements) => {
        if (left-- > 0) return change(operation)
        throw new Error("died")
      }
      engine.change = dying as typeof engine.change
      await exchange(code).catch((error: Error) => expect(error.message).toBe("died"))
      engine.change = change
    }
    await dyingAfter(0)
    expect(await tokens()).toEqual([])
    await dyingAfter(1)
    const [made] = await tokens()
    expect(await exchange(code)).toEqual({ reused: made!.id })
    expect(await tokens()).toEqual([])
    const raced = await grant()
    const both = await Promise.all([1, 2].map(() => exchange(raced)))
    expect(both.filter((each) => each && "token" in each)).toHaveLength(1)
    expect(await tokens()).toEqual([])
  })
})
