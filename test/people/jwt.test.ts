import { once } from "node:events"
import { readdir, readFile } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose"
import { beforeAll, describe, expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { JWKS_RETRY_DELAY_MS, openJwt, type JwtSettings } from "../../core/server/auth/jwt.ts"
import { databases } from "../support/databases.ts"
import { Face, Visitor } from "../support/server/face.ts"

const ISSUER = "https://id.example"
const SECRET = "a-shared-secret-of-at-least-32-bytes!"
const NOW = Date.UTC(2026, 0, 1)
const SECONDS = NOW / 1000

const hour = { iss: ISSUER, sub: "ada", aud: "pawl", exp: SECONDS + 3600 }
const sign = (claims: JWTPayload, { alg = "HS256", secret = SECRET } = {}) =>
  new SignJWT(claims).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret))

let time = NOW
const clock = { now: () => time, monotonic: () => time, alarm: () => () => {} }

async function open(url: string, settings: Partial<JwtSettings> = {}): Promise<Face> {
  const jwt = await openJwt({ issuer: ISSUER, audience: "pawl", secret: SECRET, ...settings } as JwtSettings, clock)
  return Face.open({ url, model: scripted(always(says("ok"))), clock, instead: { jwt } })
}

const holder = (face: Face, token: string) => new Visitor((request) => face.fetch(request), token)

test("a JWT expires by the clock of this machine, because its issuer does not know that of our database", async () => {
  const ofDatabase = { ...clock, now: () => NOW + 600_000, machine: () => NOW }
  const { read } = await openJwt({ issuer: ISSUER, audience: "pawl", secret: SECRET }, ofDatabase)
  const lives = (from: number, to: number) => sign({ ...hour, nbf: SECONDS + from, exp: SECONDS + to })
  expect(await read(await lives(-1, 300))).toMatchObject({ subject: "ada" })
  expect(await read(await lives(300, 900))).toBeUndefined()
})
describe.each(databases)("a JWT of the configured issuer on $name", ({ create }) => {
  let face: Face
  beforeAll(async () => {
    face = await open((await create()).url)
    return () => face[Symbol.asyncDispose]()
  })

  test("signs in its subject, at first sight and later, with the usual scopes", async () => {
    const token = await sign(hour)
    const ada = holder(face, token)
    const [first, racing] = await Promise.all([ada.get("/api/auth/me"), ada.get("/api/auth/me")])
    expect(first.body).toEqual({
      user: { id: expect.stringMatching(/^user_/), name: "ada" },
      scopes: ["read", "chat", "approve"],
      credential: { type: "jwt", id: expect.stringMatching(/^jwt_[\w-]{32}$/), expiresAt: "2026-01-01T01:00:00.000Z" },
    })
    expect(racing.body).toEqual(first.body)
    const id = await ada.begin()
    const renewed = holder(face, await sign({ ...hour, exp: SECONDS + 7200 }))
    expect((await renewed.get(`/api/conversations/${id}`)).status).toBe(200)
    expect((await renewed.get("/api/auth/me")).body.user).toEqual(first.body.user)
  })

  test("a token of an erased person does not create them again, unless they have signed in since", async () => {
    const eve = { ...hour, sub: "eve", iat: SECONDS - 60, scope: "read manage" }
    const before = holder(face, await sign(eve))
    const { user } = (await before.get("/api/auth/me")).body
    expect((await before.ask("DELETE", "/api/me")).status).toBe(204)
    const renewed = { ...eve, iat: SECONDS + 60, auth_time: SECONDS - 60 }
    for (const claims of [eve, { ...eve, iat: undefined }, renewed]) {
      const refused = await holder(face, await sign(claims as JWTPayload)).get("/api/auth/me")
      expect([refused.status, refused.body.code]).toEqual([403, "person_erased"])
    }
    const anew = await holder(face, await sign({ ...renewed, auth_time: SECONDS + 60 })).get("/api/auth/me")
    expect(anew.status).toBe(200)
    expect(anew.body.user.id).not.toBe(user.id)
  })

  test("is never matched with a local person of the same name, nor with one of another issuer", async () => {
    const local = (await (await face.as("ada")).get("/api/auth/me")).body.user
    const foreign = (await holder(face, await sign(hour)).get("/api/auth/me")).body.user
    expect([foreign.name, foreign.id === local.id]).toEqual(["ada", false])
    for (const name of [` ${ISSUER} ada`, `${ISSUER} ada`]) {
      const made = await face.store.people.ensure(name, NOW).catch(() => undefined)
      expect(made?.id).not.toBe(foreign.id)
    }
    const other = await face.store.people.ofIssuer({ issuer: "https://other.example", subject: "ada" }, NOW)
    expect(other.id).not.toBe(foreign.id)
    const [left, right] = [
      await face.store.people.ofIssuer({ issuer: "a", subject: "b c" }, NOW),
      await face.store.people.ofIssuer({ issuer: "a", subject: "b" }, NOW),
    ]
    expect(left.id).not.toBe(right.id)
  })

  test.each<[scope: unknown, scopes: string[]]>([
    ["read", ["read"]],
    ["openid approve read profile", ["read", "approve"]],
    ["admin", ["admin"]],
    ["openid", []],
    ["", []],
    [["read"], []],
  ])("with the scope claim %j has %j", async (scope, scopes) => {
    const token = await sign({ ...hour, scope })
    const { status, body } = await holder(face, token).get("/api/auth/me")
    if (scopes.includes("read")) expect(body.scopes).toEqual(scopes)
    else expect([status, body.code]).toEqual([403, "forbidden"])
  })

  test("creates tokens and tickets that end when it does", async () => {
    const ada = holder(face, await sign({ ...hour, exp: SECONDS + 10, scope: "read manage" }))
    const { token } = (await ada.post("/api/tokens", { scopes: ["read"] })).body
    const { ticket } = (await ada.post("/api/auth/ticket")).body
    expect((await holder(face, token).get("/api/auth/me")).body).toMatchObject({
      user: { name: "ada" },
      scopes: ["read"],
    })
    expect(await face.store.people.byToken(token, NOW + 9_999)).toMatchObject({ credential: { type: "token" } })
    expect(await face.store.people.byToken(token, NOW + 10_000)).toBeUndefined()
    expect(await face.store.credentials.redeemTicket(ticket, NOW + 10_000)).toBeUndefined()
    const other = (await ada.post("/api/auth/ticket")).body.ticket
    expect(await face.store.credentials.redeemTicket(other, NOW + 9_999)).toMatchObject({
      credential: { type: "jwt", expiresAt: NOW + 10_000 },
    })
  })

  const refused: [what: string, token: () => string | Promise<string>][] = [
    ["no signature", () => new UnsecuredJWT(hour).encode()],
    ["another key", () => sign(hour, { secret: `${SECRET}x` })],
    ["another algorithm of the same key", () => sign(hour, { alg: "HS512", secret: SECRET.repeat(2) })],
    ["the right key, HS384", () => sign(hour, { alg: "HS384" })],
    ["another issuer", () => sign({ ...hour, iss: "https://evil.example" })],
    ["no issuer", () => sign({ ...hour, iss: undefined } as unknown as JWTPayload)],
    ["another audience", () => sign({ ...hour, aud: "other" })],
    ["no audience", () => sign({ iss: ISSUER, sub: "ada", exp: hour.exp })],
    ["no expiry", () => sign({ iss: ISSUER, sub: "ada", aud: "pawl" })],
    ["an expiry that is over", () => sign({ ...hour, exp: SECONDS })],
    ["a beginning yet to come", () => sign({ ...hour, nbf: SECONDS + 60 })],
    ["no subject", () => sign({ iss: ISSUER, aud: "pawl", exp: hour.exp })],
    ["an empty subject", () => sign({ ...hour, sub: "" })],
    ["a subject that cannot be stored", () => sign({ ...hour, sub: "a\0b" })],
    ["a subject that is too long", () => sign({ ...hour, sub: "a".repeat(256) })],
    ["a changed payload", async () => (await sign(hour)).replace(/\.(.)/, (_, c) => `.${c === "e" ? "f" : "e"}`)],
    ["too many bytes", () => sign({ ...hour, extra: "a".repeat(20_000) })],
    ["nothing in it", () => ".."],
  ]
  test.each(refused)("with %s is a 401 like any other", async (_what, token) => {
    const { status, text } = await holder(face, await token()).get("/api/auth/me")
    const unknown = await holder(face, "pawl_wrong").get("/api/auth/me")
    expect([status, text]).toEqual([401, unknown.text])
  })

  test("is valid until its expiry and not a moment longer", async () => {
    const ada = holder(face, await sign({ ...hour, exp: SECONDS + 60 }))
    expect((await ada.get("/api/auth/me")).status).toBe(200)
    time = NOW + 60_000
    expect((await ada.get("/api/auth/me")).status).toBe(401)
    time = NOW
  })
})

describe("keys that the issuer publishes", () => {
  let server: Server
  let url: string
  let keys: Record<string, Awaited<ReturnType<typeof generateKeyPair>>>
  let answer: () => [status: number, body: string]
  beforeAll(async () => {
    const algorithms = ["RS256", "PS256", "ES256", "EdDSA", "ES384"]
    keys = Object.fromEntries(await Promise.all(algorithms.map(async (alg) => [alg, await generateKeyPair(alg)])))
    const jwks = await Promise.all(
      Object.entries(keys).map(async ([alg, { publicKey }]) => ({ ...(await exportJWK(publicKey)), alg, kid: alg })),
    )
    answer = () => [200, JSON.stringify({ keys: jwks })]
    server = createServer((_request, response) => {
      const [status, body] = answer()
      response.writeHead(status, { "content-type": "application/json" }).end(body)
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
    return () => void server.close()
  })
  const signed = (alg: string) => new SignJWT(hour).setProtectedHeader({ alg, kid: alg }).sign(keys[alg]!.privateKey)
  const reader = () => openJwt({ issuer: ISSUER, jwksUrl: url }, clock)

  test.each(["RS256", "PS256", "ES256", "EdDSA"])("%s is accepted", async (alg) => {
    expect(await (await reader()).read(await signed(alg))).toMatchObject({ issuer: ISSUER, subject: "ada" })
  })

  test("no other algorithm is accepted, and a public key is never used as a shared secret", async () => {
    const jwt = await reader()
    expect(await jwt.read(await signed("ES384"))).toBeUndefined()
    const { n } = await exportJWK(keys.RS256!.publicKey)
    const forged = new SignJWT(hour).setProtectedHeader({ alg: "HS256", kid: "RS256" })
    expect(await jwt.read(await forged.sign(new TextEncoder().encode(n)))).toBeUndefined()
    expect(await jwt.read(new UnsecuredJWT(hour).encode())).toBeUndefined()
  })

  test("unreachable keys are no fault of the token: 503, and other tokens keep working", async () => {
    const usual = answer
    answer = () => [500, "no"]
    const token = await signed("RS256")
    const { url: database } = await databases[0]!.create()
    await using face = await Face.open({ url: database, model: scripted(), clock, instead: { jwt: await reader() } })
    const down = await holder(face, token).get("/api/auth/me")
    expect([down.status, down.body.code]).toEqual([503, "issuer_unavailable"])
    expect((await (await face.as("ada")).get("/api/auth/me")).status).toBe(200)
    expect(JSON.stringify(face.logged)).not.toContain(token)
    answer = usual
    time += JWKS_RETRY_DELAY_MS
    expect((await holder(face, token).get("/api/auth/me")).status).toBe(200)
  })

  test("unreachable and unknown keys are each requested once per pause, however many tokens come", async () => {
    const usual = answer
    let asked = 0
    answer = () => [(asked++, 500), "no"]
    const jwt = await reader()
    const token = await signed("RS256")
    const refused = () => expect(jwt.read(token)).rejects.toMatchObject({ code: "issuer_unavailable" })
    for (let n = 0; n < 5; n++) await refused()
    expect(asked).toBe(1)
    time += JWKS_RETRY_DELAY_MS
    await Promise.all([refused(), refused(), refused()])
    expect(asked).toBe(2)
    answer = () => (asked++, usual())
    time += JWKS_RETRY_DELAY_MS
    expect(await jwt.read(token)).toMatchObject({ subject: "ada" })
    const unknown = (kid: string) =>
      new SignJWT(hour).setProtectedHeader({ alg: "RS256", kid }).sign(keys.RS256!.privateKey)
    for (let n = 0; n < 5; n++) expect(await jwt.read(await unknown(`k${n}`))).toBeUndefined()
    expect(asked).toBe(3)
    answer = usual
  })

  test("keys are fetched with the same settings as the operator's other addresses", async () => {
    const asked: string[] = []
    const jwt = await openJwt({ issuer: ISSUER, jwksUrl: "http://keys.invalid/k" }, clock, async (to, init) => {
      asked.push(String(to))
      return fetch(url, init)
    })
    expect(await jwt.read(await signed("RS256"))).toMatchObject({ subject: "ada" })
    expect(asked).toEqual(["http://keys.invalid/k"])
  })
})

test("no JWT is stored in the database, though its actions are", async () => {
  await using database = await databases[0]!.create()
  await using face = await open(database.url)
  const token = await sign(hour)
  const ada = holder(face, token)
  await ada.say(await ada.begin({ title: "Shopping" }), "hello")
  const folder = dirname(database.url.slice("file:".length))
  const bytes = Buffer.concat(await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name)))))
  const { credential } = (await ada.get("/api/auth/me")).body
  expect([bytes.includes("Shopping"), bytes.includes(credential.id)]).toEqual([true, true])
  for (const part of token.split(".")) expect(bytes.includes(part)).toBe(false)
})

test("without an issuer a JWT is refused", async () => {
  await using face = await Face.open({ url: (await databases[0]!.create()).url, model: scripted(), clock })
  expect((await holder(face, await sign(hour)).get("/api/auth/me")).status).toBe(401)
})
