import { describe, expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { Browser, codeOf, linkFor } from "../support/server/browser.ts"
import { databases, databasesInTurn } from "../support/databases.ts"
import { Face, type FaceOptions, Visitor } from "../support/server/face.ts"
import { TurnedClock } from "../support/loop/world.ts"

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
describe.each(databasesInTurn(import.meta.filename))("signing in on $name", ({ create }) => {
  const open = async (more: Partial<FaceOptions> = {}) =>
    Face.open({ url: (await create()).url, model: scripted(always(says("ok"))), ...more })

  test("a link signs one browser in, which then can do everything a token can", async () => {
    await using face = await open()
    const browser = new Browser(face)
    const signedIn = await browser.signIn(await linkFor(face, "ada", "read", "chat", "approve", "admin"))
    expect(signedIn.body).toMatchObject({
      user: { name: "ada" },
      scopes: ["read", "chat", "approve", "admin"],
      credential: { type: "session" },
      next: "/",
    })
    expect(browser.setCookie).toMatch(/^pawl_session=[\w-]{45}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/)
    const { next: _, pageSecret: __, ...identity } = signedIn.body
    expect((await browser.get("/api/auth/me")).body).toEqual(identity)
    const begun = await browser.post("/api/conversations", {})
    expect(begun.status).toBe(201)
    const ada = await face.as("ada")
    expect((await ada.get(`/api/conversations/${begun.body.id}`)).status).toBe(200)
  })

  test("over https the cookie is secure and cannot be planted by a neighbouring host", async () => {
    await using face = await open({ address: { publicUrl: "https://localhost/app" } })
    const browser = new Browser(face)
    const headers = { origin: "https://localhost" }
    const signedIn = await browser.post("/api/auth/sign-in", { secret: await linkFor(face, "ada") }, headers)
    expect(signedIn.status).toBe(200)
    expect(browser.setCookie).toMatch(/^__Host-pawl_session=.*; Path=\/; HttpOnly; Secure; SameSite=Strict$/)
    expect((await browser.get("/api/auth/me")).status).toBe(200)
    const planted = browser.cookie?.replace("__Host-", "") ?? ""
    expect((await browser.get("/api/auth/me", { cookie: planted })).status).toBe(401)
    // The plain http page of the same name is another origin.
    const plain = await browser.post("/api/conversations", {}, { origin: "http://localhost" })
    expect(codeOf(plain)).toEqual([403, "wrong_origin"])
  })

  test("of racing uses of a link one succeeds, and all others are refused", async () => {
    await using face = await open()
    const secret = await linkFor(face, "ada")
    const browsers = Array.from({ length: 8 }, () => new Browser(face))
    const replies = await Promise.all(browsers.map((browser) => browser.signIn(secret)))
    const lost = replies.filter(({ status }) => status !== 200)
    expect(lost.map(codeOf)).toEqual(Array(7).fill([401, "link_spent"]))
    expect(browsers.filter(({ cookie }) => cookie)).toHaveLength(1)
    expect((await new Browser(face).signIn(secret)).status).toBe(401)
    const [winner] = browsers.filter(({ cookie }) => cookie)
    expect((await winner!.get("/api/auth/sessions")).body.items).toHaveLength(1)
  })

  test("a link is valid for a quarter of an hour; old, used and invented ones are refused with the same bytes", async () => {
    const clock = new TurnedClock()
    await using face = await open({ clock })
    const secret = await linkFor(face, "ada")
    const late = await linkFor(face, "ada")
    await clock.turn(15 * MINUTE - 1)
    expect((await new Browser(face).signIn(secret)).status).toBe(200)
    await clock.turn(1)
    const refused = await Promise.all([late, secret, "made-up"].map((link) => new Browser(face).signIn(link)))
    expect(new Set(refused.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(codeOf(refused[0]!)).toEqual([401, "link_spent"])
  })

  test("a session lasts for thirty days after its last use, and the browser gets a new cookie when it is prolonged", async () => {
    // Set by hand: a month is too many rounds for the alarms of a TurnedClock.
    let time = Date.UTC(2026, 0, 1)
    const clock = { now: () => time, alarm: () => () => {} }
    await using face = await open({ clock })
    const browser = await Browser.of(face, "ada")
    browser.setCookie = undefined
    time += DAY - MINUTE
    expect((await browser.get("/api/auth/me")).status).toBe(200)
    expect(browser.setCookie).toBeUndefined()
    time += 29 * DAY
    const { credential } = (await browser.get("/api/auth/me")).body
    expect(browser.setCookie).toContain("Max-Age=2592000")
    expect(Date.parse(credential.expiresAt)).toBe(clock.now() + 30 * DAY)
    time += 30 * DAY - 1
    expect((await browser.get("/api/auth/me")).status).toBe(200)
    time += 30 * DAY
    expect(codeOf(await browser.get("/api/auth/me"))).toEqual([401, "unauthenticated"])
  })

  test("signing out ends the session for good; a token cannot sign out", async () => {
    await using face = await open()
    const browser = await Browser.of(face, "ada")
    const { cookie } = browser
    expect((await browser.post("/api/auth/sign-out")).status).toBe(204)
    expect(browser.cookie).toBeUndefined()
    browser.cookie = cookie
    expect((await browser.get("/api/auth/me")).status).toBe(401)
    expect((await (await face.as("ada")).post("/api/auth/sign-out")).status).toBe(400)
  })

  test("signing in again ends the session whose cookie it replaces", async () => {
    await using face = await open()
    const browser = await Browser.of(face, "ada")
    await browser.signIn(await linkFor(face, "ada"))
    expect((await browser.get("/api/auth/sessions")).body.items).toMatchObject([{ current: true }])
  })

  test("sessions are listed and revoked by their person, one page after another", async () => {
    await using face = await open()
    const first = await Browser.of(face, "ada")
    const second = await Browser.of(face, "ada")
    const page = (await second.get("/api/auth/sessions?limit=1")).body
    expect(page.items).toMatchObject([{ current: true, scopes: ["read", "chat", "approve", "manage"] }])
    const rest = (await second.get(`/api/auth/sessions?limit=1&cursor=${page.nextCursor}`)).body
    expect(rest).toMatchObject({ items: [{ current: false }], nextCursor: null })
    const path = `/api/auth/sessions/${rest.items[0].id}`
    expect((await second.ask("DELETE", path)).status).toBe(204)
    expect((await first.get("/api/auth/me")).status).toBe(401)
    expect((await second.get("/api/auth/me")).status).toBe(200)
    expect((await second.ask("DELETE", path)).status).toBe(404)
  })

  test("the name of a browser is stored as far as it can be", async () => {
    await using face = await open()
    const browser = new Browser(face)
    const headers = { "user-agent": `${"x".repeat(500)}` }
    await browser.post("/api/auth/sign-in", { secret: await linkFor(face, "ada") }, headers)
    expect((await browser.get("/api/auth/sessions")).body.items[0].browser).toBe("x".repeat(200))
  })

  test("a bad token is refused even with a valid cookie", async () => {
    await using face = await open()
    const browser = await Browser.of(face, "ada")
    expect((await browser.get("/api/auth/me", { authorization: "Bearer pawl_wrong" })).status).toBe(401)
  })
})

describe("the sign-in page", () => {
  test("runs only our own script, cannot be framed, and never puts the secret into an address", async () => {
    await using face = await Face.open({ url: (await databases[0]!.create()).url, model: scripted(always(says("ok"))) })
    const page = await face.fetch(new Request("http://localhost/sign-in"))
    const policy = page.headers.get("content-security-policy") ?? ""
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'sha256-")
    expect(policy).not.toContain("unsafe")
    expect(policy).toContain("frame-ancestors 'none'")
    const html = await page.text()
    expect(html).not.toMatch(/<script>|<form| on\w+=|style="/)
    const [, src] = /<script src="([^"]+)"/.exec(html) ?? []
    const script = await face.fetch(new Request(new URL(src!, "http://localhost/sign-in")))
    expect(script.headers.get("content-type")).toContain("text/javascript")
    expect(await script.text()).toContain("history.replaceState")
  })

  /** Runs the script in a page of the few things it touches. */
  async function visit(face: Face, hash: string, browser: Browser, blocked = false) {
    const source = await (await face.fetch(new Request("http://localhost/sign-in.js"))).text()
    const element = () => ({ textContent: "", hidden: true, focus() {}, click: async () => {}, addEventListener })
    function addEventListener(this: { click: unknown }, _type: string, listener: () => Promise<void>) {
      this.click = listener
    }
    const ids = ["title", "say", "how", "go", "home", "who", "who-shown"]
    const elements: Record<string, ReturnType<typeof element>> = Object.fromEntries(ids.map((id) => [id, element()]))
    const asked: string[] = []
    const settled = Promise.withResolvers<string>()
    const location = { hash, pathname: "/sign-in", replace: (to: string) => settled.resolve(`went to ${to}`) }
    const done = () => {
      const text = elements.say?.textContent ?? ""
      if (text !== "" && text !== "Signing in …") settled.resolve(text)
    }
    const stored = new Map<string, string>()
    const localStorage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem(key: string, value: string) {
        if (blocked) throw new Error("SecurityError")
        stored.set(key, value)
      },
    }
    const page = {
      localStorage,
      document: { getElementById: (id: string) => elements[id], title: "" },
      history: { replaceState: (_: unknown, __: string, path: string) => asked.push(path) },
      location,
      fetch: async (path: string, init: { method?: string; body?: string } = {}) => {
        asked.push(path)
        const body = init.body === undefined ? undefined : JSON.parse(init.body)
        const reply = await browser.ask(init.method ?? "GET", `/${path}`, { body })
        setTimeout(done, 0)
        return { ok: reply.status < 400, json: async () => reply.body }
      },
    }
    const names = Object.keys(page)
    new Function(...names, source)(...Object.values(page))
    return { outcome: await settled.promise, asked, stored, go: elements.go!, elements }
  }

  const open = async () => Face.open({ url: (await databases[0]!.create()).url, model: scripted(always(says("ok"))) })

  test("signs in without a click and continues to the page", async () => {
    await using face = await open()
    const browser = new Browser(face)
    const secret = await linkFor(face, "ada")
    const { outcome, asked, stored } = await visit(face, `#${secret}`, browser)
    expect(outcome).toBe("went to ./")
    expect([...stored]).toEqual([["pawl.session", browser.pageSecret]])
    expect(asked.join()).not.toContain(secret)
    expect((await browser.get("/api/auth/me")).body.user.name).toBe("ada")
  })

  test("says so if the browser has no storage", async () => {
    await using face = await open()
    const { outcome } = await visit(face, `#${await linkFor(face, "ada")}`, new Browser(face), true)
    expect(outcome).toContain("Allow site data")
  })

  test("asks first if another person is signed in", async () => {
    await using face = await open()
    const browser = await Browser.of(face, "ada")
    const { outcome, go, elements } = await visit(face, `#${await linkFor(face, "eve")}`, browser)
    expect(outcome).toBe("Sign in with this link instead?")
    expect(elements.who?.textContent).toBe("ada")
    expect((await browser.get("/api/auth/me")).body.user.name).toBe("ada")
    await go.click()
    expect((await browser.get("/api/auth/me")).body.user.name).toBe("eve")
  })

  test.each([
    ["#used", /already used or is too old/],
    ["", /sign-in link after the # is missing/],
  ])("says what is wrong with a link that ends in %j", async (hash, words) => {
    await using face = await open()
    const stranger = await visit(face, hash, new Browser(face))
    expect(stranger.outcome).toMatch(words)
    // The page says what to do, and hides the button that would only fail again.
    expect([stranger.elements.how?.hidden, stranger.go.hidden, stranger.elements.home?.hidden]).toEqual([
      false,
      true,
      true,
    ])
  })
})

// Browsers send a cookie to every port of a host, so any other server on this machine may have seen it.
describe.each(databasesInTurn(import.meta.filename))("a session's cookie alone on $name", ({ create }) => {
  const open = async () => Face.open({ url: (await create()).url, model: scripted(always(says("ok"))) })

  test("opens nothing of the server, whatever is sent in place of the page's half", async () => {
    await using face = await open()
    const ada = await Browser.of(face, "ada")
    const other = await Browser.of(face, "ada")
    const thief = new Browser(face)
    thief.cookie = ada.cookie
    for (const pageSecret of [undefined, "", "guess", other.pageSecret, ada.cookie!.split("=")[1]]) {
      thief.pageSecret = pageSecret
      expect(codeOf(await thief.get("/api/auth/me"))).toEqual([401, "half_session"])
      expect(codeOf(await thief.post("/api/auth/ticket"))).toEqual([401, "half_session"])
      expect(codeOf(await thief.post("/api/tokens", {}))).toEqual([401, "half_session"])
      expect(codeOf(await thief.post("/api/auth/sign-out"))).toEqual([401, "half_session"])
    }
    thief.cookie = undefined
    thief.pageSecret = ada.pageSecret
    expect(codeOf(await thief.get("/api/auth/me"))).toEqual([401, "unauthenticated"])
    expect((await ada.get("/api/auth/me")).status).toBe(200)
  })

  test("a session from before there were two halves is refused until its person signs in again", async () => {
    await using face = await open()
    const ada = await Browser.of(face, "ada")
    const sql = "UPDATE session SET page_hash = NULL"
    await face.store.engine.change({ type: "statements", statements: [{ sql, values: [] }] })
    expect(codeOf(await ada.get("/api/auth/me"))).toEqual([401, "half_session"])
    expect((await ada.signIn(await linkFor(face, "ada"))).status).toBe(200)
    expect((await ada.get("/api/auth/me")).status).toBe(200)
  })

  test("is named after the port, so that two servers on one machine do not sign each other's people out", async () => {
    await using face = await open()
    const browser = new Browser(face)
    const secret = await linkFor(face, "ada")
    const headers = { host: "127.0.0.1:7295", origin: "http://127.0.0.1:7295" }
    expect((await browser.post("/api/auth/sign-in", { secret }, headers)).status).toBe(200)
    expect(browser.setCookie).toMatch(/^pawl_session_7295=/)
    expect((await browser.get("/api/auth/me", headers)).status).toBe(200)
    expect((await browser.get("/api/auth/me", { host: "127.0.0.1:7296" })).status).toBe(401)
  })
})

describe("a cookie is accepted only from pages of the server", () => {
  const open = async () => {
    const address = { allowedOrigins: ["https://app.example"] }
    const face = await Face.open({
      url: (await databases[0]!.create()).url,
      model: scripted(always(says("ok"))),
      address,
    })
    return { face, browser: await Browser.of(face, "ada") }
  }

  test.each<[origin: string, site: string, status: number]>([
    ["http://localhost", "same-origin", 201],
    ["http://localhost", "", 201],
    ["", "same-origin", 201],
    ["https://app.example", "cross-site", 403],
    ["https://app.example", "same-site", 403],
    ["https://app.example", "", 403],
    ["", "", 403],
    ["", "none", 403],
    ["", "same-site", 403],
    ["", "cross-site", 403],
    ["http://localhost", "cross-site", 403],
    ["http://localhost", "same-site", 403],
    ["https://evil.example", "cross-site", 403],
    ["https://evil.example", "same-origin", 403],
    ["null", "same-origin", 403],
  ])("a change from origin %j and site %j is answered with %i", async (origin, site, status) => {
    const { face, browser } = await open()
    await using _ = face
    const headers = { origin, "sec-fetch-site": site }
    expect((await browser.post("/api/conversations", {}, headers)).status).toBe(status)
    // A refused request has changed nothing. Requests with a token come from no page.
    expect((await browser.get("/api/conversations")).body.items).toHaveLength(status === 201 ? 1 : 0)
    if (!origin)
      expect((await (await face.as("ada")).post("/api/conversations", {}, { "sec-fetch-site": site })).status).toBe(201)
  })

  test.each<[site: string, status: number]>([
    ["same-origin", 200],
    ["none", 200],
    ["", 200],
    ["same-site", 403],
    ["cross-site", 403],
  ])("a read from site %j is answered with %i", async (site, status) => {
    const { face, browser } = await open()
    await using _ = face
    expect((await browser.get("/api/conversations", { "sec-fetch-site": site })).status).toBe(status)
    const ada = await face.as("ada")
    expect((await ada.get("/api/conversations", site ? { "sec-fetch-site": site } : {})).status).toBe(200)
  })

  test("a page of another site cannot sign a browser in as another person", async () => {
    const { face } = await open()
    await using _ = face
    const visitor = new Browser(face)
    const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" }
    const planted = await visitor.post("/api/auth/sign-in", { secret: await linkFor(face, "eve") }, headers)
    expect(codeOf(planted)).toEqual([403, "wrong_origin"])
    expect(visitor.cookie).toBeUndefined()
  })

  test("a cookie opens no socket, and a foreign origin opens none at all", async () => {
    const { face, browser } = await open()
    await using _ = face
    const upgrade = { upgrade: "websocket", connection: "upgrade" }
    expect((await browser.get("/api/ws", upgrade)).status).toBe(401)
    const ada = await face.as("ada")
    expect(codeOf(await ada.get("/api/ws", { ...upgrade, origin: "https://evil.example" }))).toEqual([
      403,
      "wrong_origin",
    ])
  })

  test("every answer carries the headers that keep browsers careful", async () => {
    const { face } = await open()
    await using _ = face
    const ada = await face.as("ada")
    const id = await ada.begin()
    const asked: [path: string, init?: RequestInit][] = [
      ["/healthz"],
      ["/sign-in"],
      ["/sign-in.js"],
      ["/nothing"],
      ["/api/conversations"],
      [`/api/conversations/${id}`],
      ["/api/auth/sign-in", { method: "POST" }],
      ["/healthz", { headers: { host: "evil.example" } }],
    ]
    for (const [path, init] of asked) {
      const { headers } = await face.fetch(new Request(`http://localhost${path}`, init))
      expect([path, headers.get("x-content-type-options"), headers.get("x-frame-options")]).toEqual([
        path,
        "nosniff",
        "DENY",
      ])
      expect(headers.get("content-security-policy")).toContain("default-src 'none'")
      expect(headers.get("referrer-policy")).toBe("no-referrer")
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin")
    }
    const nobody = new Visitor((request) => face.fetch(request), undefined)
    expect((await nobody.get("/api/auth/me")).status).toBe(401)
  })
})
