import { generateKeyPair, type JWTPayload } from "jose"
import { afterEach, beforeAll, describe, expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { Scope } from "../../core/protocol/account/sign-in.ts"
import { ISSUER_PAUSE_MS, openIssuer } from "../../core/server/routes/account/oidc/issuer.ts"
import type { OidcSettings } from "../../core/server/routes/account/ports.ts"
import type { PersonRecord } from "../../core/store/people/people.ts"
import { anyDatabase, databasesInTurn } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { Browser, codeOf } from "../support/server/browser.ts"
import { Face, type Reply } from "../support/server/face.ts"
import { IssuerBrowser } from "./issuer-browser.ts"
import { CLIENT, OidcProvider } from "./oidc-provider.ts"

const STAFF: Scope[] = ["read", "chat", "approve", "manage"]

describe("signing in at an issuer", () => {
  const clock = new TurnedClock()
  let provider: OidcProvider
  let face: Face
  /** The operator's settings, which a test may change. */
  const rules: { -readonly [Name in keyof OidcSettings]: OidcSettings[Name] } = {
    ...{ issuer: "", clientId: CLIENT.id, clientSecret: CLIENT.secret, label: "Work", scope: "openid profile" },
    ...{ groupsClaim: "groups", groups: new Map([["staff", STAFF]]), mailDomains: [] as string[] },
  }
  const usual = { ...rules }

  beforeAll(async () => {
    provider = await OidcProvider.open()
    usual.issuer = rules.issuer = provider.issuer
    const { url } = await anyDatabase[0]!.create()
    face = await Face.open({ url, model: scripted(always(says("ok"))), clock, oidc: rules })
    return async () => {
      await face[Symbol.asyncDispose]()
      await provider[Symbol.asyncDispose]()
    }
  })
  afterEach(() => {
    Object.assign(rules, { nameClaim: undefined, personClaim: undefined, ...usual })
    Object.assign(provider, { more: {}, lies: {}, metadata: {}, forgetful: false })
    Object.assign(provider, { forger: undefined, broken: undefined, refuses: undefined })
  })
  const browser = () => new IssuerBrowser(face)
  const as = (sub: string, claims: object = {}) => {
    provider.who = { sub, name: `Name of ${sub}`, groups: ["staff"], ...claims }
    return browser()
  }

  test("a person known to the issuer is signed in, with a session of two halves as a link gives it", async () => {
    const ada = as("ada-1", { name: "Ada Lovelace" })
    expect((await ada.get("/api/auth/ways")).body).toEqual({ oidc: { label: "Work" } })
    const signedIn = await ada.signIn()
    expect(signedIn.body).toMatchObject({ user: { name: "Ada Lovelace" }, scopes: STAFF, next: "/" })
    expect((await ada.get("/api/auth/me")).body.user.name).toBe("Ada Lovelace")
    expect((await ada.post("/api/conversations", {})).status).toBe(201)
    expect(ada.set.at(-1)).toMatch(/^pawl_session=[\w-]{45}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/)
    expect([...ada.cookies.keys()]).toEqual(["pawl_session"])
    const half = browser()
    half.cookies.set("pawl_session", ada.cookies.get("pawl_session")!)
    expect(codeOf(await half.get("/api/auth/me"))).toEqual([401, "half_session"])
    expect((await ada.post("/api/auth/sign-out")).status).toBe(204)
    expect((await ada.get("/api/auth/me")).status).toBe(401)
  })

  test("a person renamed at the issuer stays the same; another person with their old name does not", async () => {
    const first = await as("bob-1", { name: "Bob" }).signIn()
    const renamed = await as("bob-1", { name: "Robert" }).signIn()
    expect(renamed.body.user).toEqual({ id: first.body.user.id, name: "Robert" })
    const other = await as("bob-2", { name: "Robert" }).signIn()
    expect(other.body.user.name).toBe("Robert")
    expect(other.body.user.id).not.toBe(first.body.user.id)
  })
  test("the issuer's people are not matched with existing people, unless the operator allows it", async () => {
    const local = await Browser.of(face, "carol")
    const me = (await local.get("/api/auth/me")).body.user
    const stranger = await as("carol-1", { name: "carol", preferred_username: "carol" }).signIn()
    expect(stranger.body.user.id).not.toBe(me.id)

    rules.personClaim = "preferred_username"
    const carol = await as("carol-2", { name: "Carol C.", preferred_username: "carol" }).signIn()
    expect(carol.body.user).toEqual(me)
    // She is renamed at the issuer and stays herself; a new person with her old name is another.
    expect((await as("carol-2", { preferred_username: "caroline" }).signIn()).body.user).toEqual(me)
    const heir = await as("carol-3", { preferred_username: "carol" }).signIn()
    expect(codeOf(heir)).toEqual([403, "sign_in_person_taken"])
    // People who signed in before keep their identity.
    const before = await as("carol-1", { preferred_username: "carol" }).signIn()
    expect(before.body.user.id).toBe(stranger.body.user.id)
    const unknown = await as("dan-1", { name: "Dan", preferred_username: "dan" }).signIn()
    expect((await Browser.of(face, "dan").then((dan) => dan.get("/api/auth/me"))).body.user.id).not.toBe(
      unknown.body.user.id,
    )
  })

  test("a mail address identifies a person only if the issuer has verified it", async () => {
    await Browser.of(face, "eve@example.org")
    rules.personClaim = "email"
    const mail = { email: "eve@example.org" }
    for (const email_verified of [undefined, false, "false", 1])
      expect(codeOf(await as("eve-1", { ...mail, email_verified }).signIn())).toEqual([403, "sign_in_mail_unverified"])
    const eve = await as("eve-2", { ...mail, email_verified: true }).signIn()
    expect(eve.body.user.name).toBe("eve@example.org")
  })

  test("if mail domains are configured, only people of these domains can sign in", async () => {
    rules.mailDomains = ["example.org"]
    const at = (email: string) => as(email, { email, email_verified: true }).signIn()
    expect((await at("frank@Example.org")).status).toBe(200)
    for (const email of ["frank@evil.example", "frank@example.org.evil.example", "frank@sub.example.org"])
      expect(codeOf(await at(email))).toEqual([403, "sign_in_mail_domain"])
    expect(codeOf(await as("frank-2", { email: undefined }).signIn())).toEqual([403, "sign_in_mail_unverified"])
  })

  test("groups give scopes: a person has those of all their groups, and cannot sign in without one", async () => {
    rules.groups = new Map<string, Scope[]>([
      ["staff", ["read", "chat"]],
      ["ops", ["read", "admin"]],
    ])
    const scopesOf = async (claims: object) => (await as("gus", claims).signIn()).body.scopes
    expect(await scopesOf({ groups: ["ops", "staff", "other", 7] })).toEqual(["read", "chat", "admin"])
    expect(await scopesOf({ groups: "staff" })).toEqual(["read", "chat"])
    for (const groups of [undefined, [], ["other", "*", "constructor"], { staff: true }]) {
      const refused = await as("gus", { groups }).signIn()
      expect(codeOf(refused)).toEqual([403, "sign_in_no_group"])
      expect(refused.body.detail).toContain("You are signed in to Work as Name of gus")
    }
    rules.groupsClaim = "realm_access.roles"
    expect(await scopesOf({ realm_access: { roles: ["ops"] } })).toEqual(["read", "admin"])
    rules.groupsClaim = "https://id.example/groups"
    expect(await scopesOf({ "https://id.example/groups": ["staff"] })).toEqual(["read", "chat"])
    rules.groups = new Map([["*", ["read"] as Scope[]]])
    expect(await scopesOf({})).toEqual(["read"])
  })

  test("a person with fewer scopes, or none, keeps no session with more, except sessions from links of this server", async () => {
    rules.groups = new Map<string, Scope[]>([
      ["staff", STAFF],
      ["guests", ["read"]],
    ])
    const [first, guest] = [browser(), browser()]
    provider.who = { sub: "hal", name: "Hal", groups: ["staff"] }
    const { user } = (await first.signIn()).body
    const link = await face.store.sessions.createLink({ id: user.id }, STAFF, clock.now())
    const linked = new Browser(face)
    await linked.signIn(link)
    const isIn = async (one: { get(path: string): Promise<Reply> }) => (await one.get("/api/auth/me")).status === 200
    const again = browser()
    await again.signIn()
    expect([await isIn(first), await isIn(again)]).toEqual([true, true]) // as much as before ends nothing
    const feed = first.get("/api/feed") // open until it is closed by the server
    provider.who = { sub: "hal", name: "Hal", groups: ["guests"] }
    await guest.signIn()
    expect([await isIn(first), await isIn(again), await isIn(guest), await isIn(linked)]).toEqual([
      ...[false, false, true, true],
    ])
    await feed
    provider.who = { sub: "hal", name: "Hal", groups: [] }
    expect(codeOf(await browser().signIn())).toEqual([403, "sign_in_no_group"])
    expect([await isIn(guest), await isIn(linked)]).toEqual([false, true])
    // Another person's sessions stay, and an unknown person has none to end.
    const ida = as("ida")
    await ida.signIn()
    expect(codeOf(await as("jo", { groups: [] }).signIn())).toEqual([403, "sign_in_no_group"])
    expect(await isIn(ida)).toBe(true)
  })

  test("missing claims are requested from userinfo, and claims of the token take precedence", async () => {
    provider.more = { groups: ["staff"], name: "Of the other answer" }
    const reply = await as("hal", { groups: undefined, name: "Hal" }).signIn()
    expect([reply.status, reply.body.user.name]).toEqual([200, "Hal"])
    provider.more = { sub: "somebody-else", groups: ["staff"] }
    expect(codeOf(await as("hal", { groups: undefined }).signIn())).toEqual([401, "sign_in_untrusted"])
  })

  test("an answer must be finished by the browser that started, with both of its halves", async () => {
    const victim = browser()
    await victim.goAndComeBack()
    const attacker = as("mallory")
    const theirs = await attacker.goAndComeBack()
    // Login CSRF: led to the attacker's answer, the victim would be signed in as the attacker.
    expect(codeOf(await victim.finish(theirs))).toEqual([401, "sign_in_not_begun"])
    expect(codeOf(await browser().finish(theirs, attacker.pageHalf))).toEqual([401, "sign_in_not_begun"])
    // Another port of this host can plant its cookie, but cannot read what our page stores.
    const planted = browser()
    for (const [name, value] of attacker.cookies) planted.cookies.set(name, value)
    expect(codeOf(await planted.finish(theirs, victim.pageHalf))).toEqual([401, "sign_in_not_begun"])
    const foreign = { pageHalf: attacker.pageHalf, answer: theirs.search.slice(1) }
    const led = await attacker.post("/api/auth/oidc/finish", foreign, { origin: "https://evil.example" })
    expect(codeOf(led)).toEqual([403, "wrong_origin"])
    expect((await attacker.finish(theirs)).status).toBe(200)
  })

  test("an answer counts once, even if the issuer accepts its code twice", async () => {
    provider.forgetful = true
    const ivy = as("ivy")
    const back = await ivy.goAndComeBack()
    const kept = new Map(ivy.cookies)
    const again = async () => {
      const copy = browser()
      for (const [name, value] of kept) copy.cookies.set(name, value)
      return copy.finish(back, ivy.pageHalf)
    }
    const replies = await Promise.all([again(), again(), again()])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    expect(codeOf(await again())).toEqual([401, "sign_in_not_begun"])
  })

  test("a sign-in expires after ten minutes, and its cookie belongs to one browser", async () => {
    const jim = as("jim")
    const back = await jim.goAndComeBack()
    expect(jim.set.at(-1)).toMatch(/^pawl_sign_in=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Strict$/)
    clock.shift(10 * 60_000)
    expect(codeOf(await jim.finish(back))).toEqual([401, "sign_in_not_begun"])
  })

  test("a code of another sign-in is refused by its verifier, and an invented one by the issuer", async () => {
    const other = await as("kim").goAndComeBack()
    const liz = as("liz")
    const back = await liz.goAndComeBack()
    back.searchParams.set("code", other.searchParams.get("code")!)
    expect(codeOf(await liz.finish(back))).toEqual([401, "sign_in_untrusted"])
    const max = as("max")
    const mine = await max.goAndComeBack()
    mine.searchParams.set("code", "made-up")
    expect(codeOf(await max.finish(mine))).toEqual([401, "sign_in_untrusted"])
  })

  test.each<[what: string, change: (back: URL) => void]>([
    ["of another issuer", (back) => back.searchParams.set("iss", "https://evil.example")],
    ["that says no issuer where its own always says it", (back) => back.searchParams.delete("iss")],
    ["with two codes", (back) => back.searchParams.append("code", "x")],
  ])("an answer %s is refused", async (_what, change) => {
    const ned = as("ned")
    const back = await ned.goAndComeBack()
    change(back)
    const asked = provider.asked.length
    expect(codeOf(await ned.finish(back))).toEqual([401, "sign_in_untrusted"])
    expect(provider.asked.slice(asked)).not.toContain("/token")
  })

  test.each<[what: string, lies: () => JWTPayload, code: string]>([
    ["for another audience", () => ({ aud: "another-client" }), "sign_in_untrusted"],
    ["for several, of which another asked", () => ({ aud: [CLIENT.id, "x"], azp: "x" }), "sign_in_untrusted"],
    ["of another issuer", () => ({ iss: "https://evil.example" }), "sign_in_untrusted"],
    ["of another sign-in", () => ({ nonce: "another" }), "sign_in_untrusted"],
    ["of no sign-in", () => ({ nonce: undefined }) as JWTPayload, "sign_in_untrusted"],
    ["about nobody", () => ({ sub: "" }), "sign_in_untrusted"],
    ["about somebody who cannot be written down", () => ({ sub: "a\0b" }), "sign_in_untrusted"],
    ["that is over by our clock", () => ({ exp: seconds() - 60 }), "sign_in_clocks"],
    ["that is not valid yet by our clock", () => ({ nbf: seconds() + 600 }), "sign_in_clocks"],
  ])("a token %s is refused", async (_what, lies, code) => {
    provider.lies = lies()
    const before = face.logged.length
    const reply = await as("olga").signIn()
    expect(codeOf(reply)).toEqual([401, code])
    expect(face.logged.slice(before).length).toBeLessThanOrEqual(1)
  })
  const seconds = () => Math.floor(Date.now() / 1000)

  test("a token signed with another key is refused, though it came from the issuer", async () => {
    provider.forger = (await generateKeyPair("RS256")).privateKey
    const reply = await as("paul").signIn()
    expect(codeOf(reply)).toEqual([401, "sign_in_untrusted"])
    expect(face.logged.at(-1)).toMatchObject({ event: "oidc_sign_in_failed", issuer: provider.issuer })
  })

  test("an issuer's refusal is reported by its OAuth code, never with text from the address", async () => {
    for (const [refuses, told] of [
      ["access_denied", "access_denied"],
      ["<b>call me</b>", "for a reason of its own"],
    ]) {
      provider.refuses = refuses
      const reply = await as("quinn").signIn()
      expect([...codeOf(reply), reply.body.detail]).toEqual([
        ...[403, "sign_in_refused", `Work did not sign you in (${told}).`],
      ])
    }
  })

  test("an unreachable issuer is reported as unavailable, is not asked on each attempt, and links keep working", async () => {
    const back = await as("ria").goAndComeBack()
    const rules = { ...usual, issuer: `${provider.issuer}/` }
    const issuer = openIssuer(rules, { clock, log: face.server.log })
    const secrets = { state: "s", nonce: "n", verifier: "v".repeat(43) }
    const begin = () => issuer.authorizationUrl("http://localhost/sign-in/callback", secrets)
    provider.broken = 500
    const asked = provider.asked.length
    for (let n = 0; n < 3; n++) await expect(begin()).rejects.toMatchObject({ code: "sign_in_unavailable" })
    expect(provider.asked.length - asked).toBe(1)
    expect((await Browser.of(face, "ria").then((ria) => ria.get("/api/auth/me"))).status).toBe(200)
    provider.broken = undefined
    await clock.turn(ISSUER_PAUSE_MS)
    expect(new URL(await begin()).pathname).toBe("/authorize")
    expect(back.pathname).toBe("/sign-in/callback")
  })

  test("the issuer may also fail, or forget our client, between redirect and return", async () => {
    const sue = as("sue")
    const back = await sue.goAndComeBack()
    provider.broken = 503
    const reply = await sue.finish(back)
    expect(codeOf(reply)).toEqual([503, "sign_in_unavailable"])
    provider.broken = undefined
    expect((await sue.signIn()).status).toBe(200)
  })

  test("the browser is not redirected if the issuer's name does not match or its endpoint is no web address", async () => {
    const secrets = { state: "s", nonce: "n", verifier: "v".repeat(43) }
    for (const metadata of [{ issuer: "https://evil.example" }, { authorization_endpoint: "javascript:alert(1)" }]) {
      provider.metadata = metadata
      const issuer = openIssuer(usual, { clock, log: face.server.log })
      const begun = issuer.authorizationUrl("http://localhost/sign-in/callback", secrets)
      await expect(begun).rejects.toMatchObject({ code: "sign_in_unavailable" })
    }
  })

  test("the redirect never follows the request: it leads to our own address, and then to our own page", async () => {
    const tom = as("tom")
    const asked = await tom.post("/api/auth/oidc/begin?next=https://evil.example&redirect_uri=https://evil.example")
    const redirect = new URL(asked.body.redirectTo).searchParams.get("redirect_uri")
    expect(redirect).toBe("http://localhost/sign-in/callback")
    const back = await tom.goAndComeBack()
    back.searchParams.set("next", "https://evil.example")
    expect((await tom.finish(back)).body.next).toBe("/")
    const elsewhere = await tom.post("/api/auth/oidc/begin", undefined, { host: "evil.example" })
    expect(codeOf(elsewhere)).toEqual([421, "wrong_host"])
  })

  test("the page of the redirect runs only its own script, cannot be framed, and is not cached", async () => {
    const shown = await browser().get("/sign-in/callback?code=secret&state=x")
    expect(shown.headers.get("content-security-policy")).toMatch(/script-src 'self'.*frame-ancestors 'none'/)
    expect([shown.headers.get("cache-control"), shown.headers.get("referrer-policy")]).toEqual([
      ...["no-store", "no-referrer"],
    ])
    expect(shown.text).not.toContain("secret")
    expect((await browser().get("/sign-in/callback.js")).text).toContain("history.replaceState")
    expect(JSON.stringify([face.logged, face.informed])).not.toContain("code=secret")
  })

  test("no client secret and no code appears in logs or replies", async () => {
    provider.refuses = undefined
    const uma = as("uma")
    const back = await uma.goAndComeBack()
    provider.lies = { aud: "x" }
    const reply = await uma.finish(back)
    const all = JSON.stringify([face.logged, face.informed, reply.body])
    for (const secret of [CLIENT.secret, back.searchParams.get("code")!, uma.pageHalf!])
      expect(all).not.toContain(secret)
  })
})

test("without an issuer there is no button, no route and no page", async () => {
  const { url } = await anyDatabase[0]!.create()
  await using face = await Face.open({ url, model: scripted() })
  const browser = new IssuerBrowser(face)
  expect((await browser.get("/api/auth/ways")).body).toEqual({ oidc: null })
  expect(codeOf(await browser.post("/api/auth/oidc/begin"))).toEqual([404, "not_found"])
  expect(codeOf(await browser.post("/api/auth/oidc/finish", { pageHalf: "x", answer: "x" }))).toEqual([
    404,
    "not_found",
  ])
  expect((await browser.get("/sign-in/callback.js")).status).toBe(404)
})

describe.each(databasesInTurn(import.meta.filename))("people of an issuer on $name", ({ create }) => {
  const who = { issuer: "https://id.example", subject: "1", name: "Ada" }

  test("keep their identity in concurrent sign-ins, under any name, and the same as in its JWTs", async () => {
    await using face = await Face.open({ url: (await create()).url, model: scripted() })
    const { people, issuerIdentities } = face.store
    const all = await Promise.all([1, 2, 3].map(() => issuerIdentities.personOf(who, 1000)))
    expect(new Set(all.map((each) => each !== "taken" && each.id)).size).toBe(1)
    const ada = all[0] as PersonRecord
    expect(await issuerIdentities.personOf({ ...who, name: "Lady A." }, 2000)).toEqual({ id: ada.id, name: "Lady A." })
    expect((await people.ofIssuer(who, 2000)).id).toBe(ada.id)
    expect(await issuerIdentities.personOf({ ...who, issuer: "https://other.example" }, 2000)).not.toMatchObject(ada)
  })

  test("claim a person of this server one at a time", async () => {
    await using face = await Face.open({ url: (await create()).url, model: scripted() })
    const { people, issuerIdentities } = face.store
    const local = await people.ensure("bob", 0)
    const claims = ["1", "2", "3"].map((subject) =>
      issuerIdentities.personOf({ ...who, subject, localName: "bob" }, 1000),
    )
    const outcomes = await Promise.all(claims)
    expect(outcomes.filter((each) => each === "taken")).toHaveLength(2)
    expect(outcomes).toContainEqual(local)
    const other = { ...who, issuer: "https://other.example", localName: "bob" }
    expect(await issuerIdentities.personOf(other, 1000)).toEqual(local)
    for (const localName of [" https://id.example 1", "nobody", `${local.id} `])
      expect(await issuerIdentities.personOf({ ...who, subject: localName, localName }, 1000)).not.toEqual(local)
  })

  test("are exported with what is known of them, and erased with it", async () => {
    await using face = await Face.open({ url: (await create()).url, model: scripted() })
    const { issuerIdentities, retention, engine } = face.store
    const now = face.pawl.ports.clock.now()
    const ada = (await issuerIdentities.personOf(who, now)) as PersonRecord
    const lines = await Array.fromAsync(retention.exportOf(ada.id))
    expect(lines[0]).toMatchObject({ kind: "person", name: "Ada" })
    expect(lines).toContainEqual(expect.objectContaining({ issuer: who.issuer, subject: "1", name: "Ada" }))
    await retention.erasePerson(ada.id)
    const left = await engine.query(
      "SELECT 1 FROM issuer_identity UNION ALL SELECT 1 FROM person WHERE called IS NOT NULL",
      [],
    )
    expect(left).toEqual([])
    const anew = await issuerIdentities.personOf(who, face.pawl.ports.clock.now() + 1000)
    expect(anew).not.toMatchObject({ id: ada.id })
  })

  test("finish a sign-in once, in time", async () => {
    await using face = await Face.open({ url: (await create()).url, model: scripted() })
    const { issuerIdentities } = face.store
    await issuerIdentities.begin("state", 1000, 0)
    expect(await issuerIdentities.finish("other", 500)).toBe(false)
    const all = await Promise.all([1, 2, 3].map(() => issuerIdentities.finish("state", 500)))
    expect(all.filter(Boolean)).toHaveLength(1)
    await issuerIdentities.begin("late", 1000, 0)
    expect(await issuerIdentities.finish("late", 1000)).toBe(false)
  })
})
