import { SignJWT } from "jose"
import { beforeAll, describe, expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { Route } from "../../core/protocol/routes/route.ts"
import { routes } from "../../core/protocol/routes/index.ts"
import { type Scope, scopes } from "../../core/protocol/account/sign-in.ts"
import { openJwt } from "../../core/server/auth/jwt.ts"
import { Browser, codeOf } from "../support/server/browser.ts"
import { anyDatabase, databases } from "../support/databases.ts"
import { Face, Visitor } from "../support/server/face.ts"

const ISSUER = "https://id.example"
const SECRET = "a-shared-secret-of-at-least-32-bytes!"

type Asks = Pick<Visitor | Browser, "ask">

const doors = Object.values<Route>(routes).flatMap((route) =>
  route.needs !== "nobody" ? [{ ...route, needs: route.needs }] : [],
)

/** The routes that need no sign-in. A new one is a decision, and is listed here. */
const FOR_EVERYBODY = [
  ...["GET /", "GET /.well-known/oauth-authorization-server", "GET /.well-known/oauth-protected-resource"],
  ...[
    "GET /.well-known/oauth-protected-resource/mcp",
    "GET /api/auth/ways",
    "GET /docs",
    "GET /docs/api",
    "GET /healthz",
    "GET /mcp-sign-in/client.json",
    "GET /metrics",
  ],
  ...[
    "GET /openapi.json",
    "GET /readyz",
    "POST /api/auth/oidc/begin",
    "POST /api/auth/oidc/finish",
    "POST /api/auth/sign-in",
    "POST /oauth/register",
    "POST /oauth/token",
  ],
]
const DAY = 24 * 60 * 60_000
const JWT = { iss: ISSUER, aud: "pawl" }

/** Every route × every scope × every kind of credential, from the one table of routes: a new route cannot be forgotten. */
describe("what a credential may do", () => {
  let face: Face
  beforeAll(async () => {
    const jwt = await openJwt(
      { issuer: ISSUER, audience: "pawl", secret: SECRET },
      { now: Date.now, alarm: () => () => {} },
    )
    const url = (await databases[0]!.create()).url
    face = await Face.open({ url, model: scripted(always(says("ok"))), instead: { jwt } })
    return () => face[Symbol.asyncDispose]()
  })

  /** A new person each time, because one of the routes erases its caller. */
  let people = 0
  const person = () => face.store.people.ensure(`ada ${people++}`, Date.now())
  const holder = (token: string | undefined) => new Visitor((request) => face.fetch(request), token)
  const signed = (granted: readonly Scope[], expires: string | number = "1h", secret = SECRET) =>
    new SignJWT({ ...JWT, sub: `ada ${people++}`, scope: granted.join(" ") })
      .setProtectedHeader({ alg: "HS256" })
      .setIssuedAt()
      .setExpirationTime(expires)
      .sign(new TextEncoder().encode(secret))

  const kinds = {
    token: (granted: readonly Scope[]) => face.as(`ada ${people++}`, ...granted),
    session: (granted: readonly Scope[]) => Browser.of(face, `ada ${people++}`, ...granted),
    jwt: async (granted: readonly Scope[]) => holder(await signed(granted)),
    async "token that a token has made"(granted: readonly Scope[]) {
      const who = await person()
      const { id } = await face.store.people.createToken(who, scopes, Date.now())
      return holder((await face.store.people.createToken(who, granted, Date.now(), { mintedBy: id })).token)
    },
  }

  describe.each(Object.keys(kinds) as (keyof typeof kinds)[])("a %s", (kind) => {
    /** A refused caller can use its next route; the refusal has no effect on it. */
    const refused = new Map<string, Promise<Asks>>()
    const asRefused = (granted: readonly Scope[]): Promise<Asks> => {
      const made = refused.get(granted.join()) ?? kinds[kind](granted)
      refused.set(granted.join(), made)
      return made
    }

    test.each(doors)("opens $method $path only with $needs", async ({ method, path, needs }) => {
      const at = path.replaceAll(/\{\w+\}/g, "x")
      const others = scopes.filter((scope) => scope !== needs)
      expect(codeOf(await (await asRefused(others)).ask(method, at))).toEqual([403, "forbidden"])
      for (const scope of others) {
        const answer = await (await asRefused([scope])).ask(method, at)
        expect([...codeOf(answer), answer.text]).toEqual([
          403,
          "forbidden",
          expect.stringContaining(JSON.stringify(`"${needs}"`).slice(1, -1)),
        ])
      }
      // The streams never end; other tests show that they open.
      if (path.endsWith("/events") || path === "/api/feed") return
      const answer = await (await kinds[kind]([needs])).ask(method, at)
      expect(codeOf(answer)[1]).not.toBe("forbidden")
      expect(answer.status).not.toBe(401)
    })
  })

  /** Missing, malformed, expired and revoked credentials. Each had every scope, or claims to. */
  const useless: Record<string, { make(): Promise<Asks>; code?: string }> = {
    nothing: { make: async () => holder(undefined) },
    "a token that never was": { make: async () => holder("pawl_x") },
    "a token that was revoked": {
      async make() {
        const who = await person()
        const { id, token } = await face.store.people.createToken(who, scopes, Date.now())
        await face.store.people.revokeToken(who, id, Date.now())
        return holder(token)
      },
    },
    "a token that has expired": {
      make: async () =>
        holder((await face.store.people.createToken(await person(), scopes, 0, { expiresAt: Date.now() - 1 })).token),
    },
    "a token that a revoked one has made": {
      async make() {
        const who = await person()
        const { id } = await face.store.people.createToken(who, scopes, Date.now())
        const { token } = await face.store.people.createToken(who, scopes, Date.now(), { mintedBy: id })
        await face.store.people.revokeToken(who, id, Date.now())
        return holder(token)
      },
    },
    "a session's cookie alone": {
      async make() {
        const browser = await Browser.of(face, `ada ${people++}`, ...scopes)
        browser.pageSecret = undefined
        return browser
      },
      code: "half_session",
    },
    "what a session's page keeps, alone": {
      async make() {
        const browser = await Browser.of(face, `ada ${people++}`, ...scopes)
        browser.cookie = undefined
        return browser
      },
    },
    "a session that was revoked": {
      async make() {
        const browser = await Browser.of(face, `ada ${people++}`, ...scopes)
        const { user, credential } = (await browser.get("/api/auth/me")).body
        await face.store.sessions.revoke(user.id, credential.id, Date.now())
        return browser
      },
    },
    "a session that has expired": {
      async make() {
        const [browser, before] = [await Browser.of(face, `ada ${people++}`), Date.now() - 31 * DAY]
        const link = await face.store.sessions.createLink(await person(), scopes, before)
        const begun = (await face.store.sessions.signIn(link, null, before))!
        browser.cookie = `${browser.cookie!.split("=")[0]}=${begun.secret}`
        browser.pageSecret = begun.pageSecret
        return browser
      },
    },
    "a JWT that has expired": { make: async () => holder(await signed(scopes, Math.floor(Date.now() / 1000) - 60)) },
    "a JWT of another issuer's key": {
      make: async () => holder(await signed(scopes, "1h", "another-shared-secret-of-32-bytes-or-so")),
    },
  }

  describe.each(Object.keys(useless))("%s", (what) => {
    let asks: Asks
    beforeAll(async () => {
      asks = await useless[what]!.make()
    })

    test.each(doors)("does not open $method $path", async ({ method, path }) => {
      const at = path.replaceAll(/\{\w+\}/g, "x")
      expect(codeOf(await asks.ask(method, at))).toEqual([401, useless[what]!.code ?? "unauthenticated"])
    })
  })

  test("only these routes need no sign-in", () => {
    const open = Object.values<Route>(routes).filter(({ needs }) => needs === "nobody")
    expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(FOR_EVERYBODY)
    expect(
      Object.values<Route>(routes).filter(
        ({ path, needs }) => needs !== "nobody" && !/^\/(?:(?:api|v1|ag-ui)\/|mcp$|ai-sdk(?:\/|$))/.test(path),
      ),
    ).toEqual([])
  })

  test("/metrics is open to the server's own machine, and over the network only to admin", async () => {
    for (const make of Object.values(kinds)) {
      for (const scope of scopes) {
        const { status } = await (await make([scope])).ask("GET", "/metrics")
        expect([scope, status]).toEqual([scope, scope === "admin" ? 200 : 403])
      }
    }
    for (const { make, code = "unauthenticated" } of Object.values(useless)) {
      expect(codeOf(await (await make()).ask("GET", "/metrics"))).toEqual([401, code])
    }
  })
})

describe.each(anyDatabase)("tokens that create tokens on $name", ({ create }) => {
  const open = async () => Face.open({ url: (await create()).url, model: scripted(always(says("ok"))) })
  const holder = (face: Face, token: string) => new Visitor((request) => face.fetch(request), token)
  const works = async (face: Face, token: string) => (await holder(face, token).get("/api/auth/me")).status === 200

  test("a token that another token created is valid no longer than that one, and cannot create tokens", async () => {
    await using face = await open()
    const ada = await Browser.of(face, "ada")
    const parent = (await ada.post("/api/tokens", {})).body
    const child = (await holder(face, parent.token).post("/api/tokens", {})).body
    expect(child.scopes).toEqual(["read", "chat", "approve", "manage"])
    expect(codeOf(await holder(face, child.token).post("/api/tokens", {}))).toEqual([403, "minted_token"])
    expect(await works(face, child.token)).toBe(true)
    await ada.ask("DELETE", `/api/tokens/${parent.id}`)
    expect([await works(face, parent.token), await works(face, child.token)]).toEqual([false, false])
    expect((await ada.get("/api/tokens")).body.items).toEqual([])
    expect(await face.store.credentials.lapsed([child.id], Date.now())).toEqual(new Map([[child.id, "revoked"]]))
  })

  test("a token that a session created outlives it, and revoking its child leaves it valid", async () => {
    await using face = await open()
    const ada = await Browser.of(face, "ada")
    const kept = (await ada.post("/api/tokens", {})).body
    const child = (await holder(face, kept.token).post("/api/tokens", {})).body
    await holder(face, kept.token).delete(`/api/tokens/${child.id}`)
    await ada.post("/api/auth/sign-out")
    expect([await works(face, kept.token), await works(face, child.token)]).toEqual([true, false])
  })

  test("a token with the admin scope is created only right after signing in", async () => {
    await using face = await open()
    const { people, sessions } = face.store
    const ada = await people.ensure("ada", Date.now())
    const admin: Scope[] = [...scopes]
    const fresh = await Browser.of(face, "ada", ...admin)
    expect((await fresh.post("/api/tokens", { scopes: ["admin"] })).status).toBe(201)
    const before = Date.now() - 11 * 60_000
    const stale = new Browser(face)
    const { secret, pageSecret } = (await sessions.signIn(await sessions.createLink(ada, admin, before), null, before))!
    stale.cookie = `${fresh.cookie!.split("=")[0]}=${secret}`
    stale.pageSecret = pageSecret
    expect((await stale.post("/api/tokens", { scopes: ["read"] })).status).toBe(201)
    expect(codeOf(await stale.post("/api/tokens", { scopes: ["admin"] }))).toEqual([403, "fresh_sign_in_needed"])
    const token = await face.as("ada", ...admin)
    expect(codeOf(await token.post("/api/tokens", { scopes: ["admin"] }))).toEqual([403, "fresh_sign_in_needed"])
  })
})
