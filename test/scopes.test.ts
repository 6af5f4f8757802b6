import { SignJWT } from "jose"
import { beforeAll, describe, expect, test } from "vitest"
import { says } from "../src/models/script.ts"
import { always, scripted } from "../src/models/scripted.ts"
import type { Route } from "../src/protocol/route.ts"
import { routes } from "../src/protocol/routes/index.ts"
import { type Scope, scopes } from "../src/protocol/scopes.ts"
import { openJwt } from "../src/server/jwt.ts"
import { Browser, codeOf } from "./browser.ts"
import { databases } from "./databases.ts"
import { Face, Visitor } from "./face.ts"

const ISSUER = "https://id.example"
const SECRET = "a-shared-secret-of-at-least-32-bytes!"

const doors = Object.values<Route>(routes).flatMap((route) =>
  route.needs !== "nobody" && route.path.startsWith("/api/") ? [{ ...route, needs: route.needs }] : [],
)

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

  /** Somebody new each time: one of the routes erases whoever asks. */
  let people = 0
  const kinds = {
    token: (granted: readonly Scope[]) => face.as(`ada ${people++}`, ...granted),
    session: (granted: readonly Scope[]) => Browser.of(face, `ada ${people++}`, ...granted),
    async jwt(granted: readonly Scope[]) {
      const claims = { iss: ISSUER, sub: `ada ${people++}`, aud: "pawl", scope: granted.join(" ") }
      const signed = new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).setIssuedAt().setExpirationTime("1h")
      return new Visitor((request) => face.fetch(request), await signed.sign(new TextEncoder().encode(SECRET)))
    },
  }

  describe.each(Object.keys(kinds) as (keyof typeof kinds)[])("a %s", (kind) => {
    test.each(doors)("opens $method $path with $needs, and with nothing else", async ({ method, path, needs }) => {
      const at = path.replaceAll(/\{\w+\}/g, "x")
      const others = scopes.filter((scope) => scope !== needs)
      expect(codeOf(await (await kinds[kind](others)).ask(method, at))).toEqual([403, "forbidden"])
      for (const scope of others) {
        const refused = await (await kinds[kind]([scope])).ask(method, at)
        expect([...codeOf(refused), refused.body.detail]).toEqual([
          403,
          "forbidden",
          expect.stringContaining(`"${needs}"`),
        ])
      }
      // The streams never end: that they open is shown elsewhere.
      if (path.endsWith("/events") || path === "/api/feed") return
      expect((await (await kinds[kind]([needs])).ask(method, at)).body?.code).not.toBe("forbidden")
    })
  })
})

describe.each(databases)("tokens that make tokens on $name", ({ create }) => {
  const open = async () => Face.open({ url: (await create()).url, model: scripted(always(says("ok"))) })
  const holder = (face: Face, token: string) => new Visitor((request) => face.fetch(request), token)
  const works = async (face: Face, token: string) => (await holder(face, token).get("/api/auth/me")).status === 200

  test("what a token has made counts no longer than that token, and makes none itself", async () => {
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

  test("what a session has made outlives it, and what a revoked child had stays with its parent", async () => {
    await using face = await open()
    const ada = await Browser.of(face, "ada")
    const kept = (await ada.post("/api/tokens", {})).body
    const child = (await holder(face, kept.token).post("/api/tokens", {})).body
    await holder(face, kept.token).delete(`/api/tokens/${child.id}`)
    await ada.post("/api/auth/sign-out")
    expect([await works(face, kept.token), await works(face, child.token)]).toEqual([true, false])
  })

  test("a token that may look after the server is made only right after signing in", async () => {
    await using face = await open()
    const { people, sessions } = face.store
    const ada = await people.ensure("ada", Date.now())
    const admin: Scope[] = [...scopes]
    const fresh = await Browser.of(face, "ada", ...admin)
    expect((await fresh.post("/api/tokens", { scopes: ["admin"] })).status).toBe(201)
    const before = Date.now() - 11 * 60_000
    const stale = new Browser(face)
    const { secret } = (await sessions.signIn(await sessions.createLink(ada, admin, before), null, before))!
    stale.cookie = `${fresh.cookie!.split("=")[0]}=${secret}`
    expect((await stale.post("/api/tokens", { scopes: ["read"] })).status).toBe(201)
    expect(codeOf(await stale.post("/api/tokens", { scopes: ["admin"] }))).toEqual([403, "fresh_sign_in_needed"])
    const token = await face.as("ada", ...admin)
    expect(codeOf(await token.post("/api/tokens", { scopes: ["admin"] }))).toEqual([403, "fresh_sign_in_needed"])
  })
})
