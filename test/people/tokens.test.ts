import { readdir, readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { beforeAll, describe, expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { newId } from "../../core/protocol/ids.ts"
import type { Route } from "../../core/protocol/routes/route.ts"
import { routes as table } from "../../core/protocol/routes/index.ts"
import { type Scope, scopes } from "../../core/protocol/account/sign-in.ts"
import { Browser, codeOf, linkFor } from "../support/server/browser.ts"
import { anyDatabase, databases } from "../support/databases.ts"
import { Face, Visitor } from "../support/server/face.ts"
import { TurnedClock } from "../support/loop/world.ts"

describe.each(anyDatabase)("tokens over HTTP on $name", ({ create }) => {
  let face: Face
  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model: scripted(always(says("ok"))) })
    return () => face[Symbol.asyncDispose]()
  })
  const holder = (token: string) => new Visitor((request) => face.fetch(request), token)

  test("a token is shown once, works, is listed without its secret, and is gone when revoked", async () => {
    const ada = await Browser.of(face, "ada-1")
    const made = await ada.post("/api/tokens", { name: "laptop", scopes: ["read"] })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^tok_/),
        name: "laptop",
        scopes: ["read"],
        createdAt: expect.any(String),
        expiresAt: null,
        token: expect.stringMatching(/^pawl_[\w-]{45}$/),
      },
    ])
    const { token, ...shown } = made.body
    expect((await ada.get("/api/tokens")).body).toEqual({ items: [shown], nextCursor: null })
    expect((await holder(token).get("/api/auth/me")).body).toMatchObject({
      user: { name: "ada-1" },
      scopes: ["read"],
      credential: { type: "token", id: shown.id, expiresAt: null },
    })
    expect((await ada.ask("DELETE", `/api/tokens/${shown.id}`)).status).toBe(204)
    const refused = await holder(token).get("/api/auth/me")
    expect([refused.status, refused.body.detail], "it was sent, and is told so").toEqual([
      401,
      expect.stringContaining("or your token is not valid any more"),
    ])
    expect((await ada.get("/api/tokens")).body.items).toEqual([])
    expect(codeOf(await ada.ask("DELETE", `/api/tokens/${shown.id}`))).toEqual([404, "not_found"])
  })

  test("a token is valid for the days it was created for, and a program's for no longer than the program's own", async () => {
    const ada = await Browser.of(face, "ada-2")
    const day = 24 * 60 * 60_000
    const before = Date.now()
    const { body } = await ada.post("/api/tokens", { scopes: ["read", "manage"], days: 90 })
    const daysOf = (at: string) => Math.round((Date.parse(at) - before) / day)
    expect(daysOf(body.expiresAt)).toBe(90)
    const { token, ...shown } = body
    expect((await ada.get("/api/tokens")).body.items).toEqual([shown])
    expect((await holder(token).get("/api/auth/me")).body.credential).toMatchObject({ expiresAt: body.expiresAt })
    const minted = (await holder(token).post("/api/tokens", { scopes: ["read"], days: 365 })).body
    expect(minted.expiresAt).toBe(body.expiresAt)
    const short = (await holder(token).post("/api/tokens", { scopes: ["read"], days: 1 })).body
    expect(daysOf(short.expiresAt)).toBe(1)
    for (const days of [0, -1, 1.5, 4000, "90"])
      expect((await ada.post("/api/tokens", { scopes: ["read"], days })).status, String(days)).toBe(400)
  })

  test.each<[own: Scope[], asked: Scope[] | undefined, got: Scope[] | undefined]>([
    [["read", "chat", "approve", "manage"], undefined, ["read", "chat", "approve", "manage"]],
    [["chat", "manage"], undefined, ["chat", "manage"]],
    [
      ["read", "chat", "manage"],
      ["read", "chat", "read"],
      ["read", "chat"],
    ],
    [["read", "chat", "manage"], ["approve"], undefined],
    [["read", "chat", "approve"], ["read"], undefined],
    [["read", "chat", "approve", "manage"], ["read", "admin"], undefined],
  ])("a token with %j that asks for %j gets %j", async (own, asked, got) => {
    const caller = await face.as("bob", ...own)
    const before = (await (await face.as("bob")).get("/api/tokens?limit=200")).body.items.length
    const made = await caller.post("/api/tokens", asked ? { scopes: asked } : {})
    if (got) expect([made.status, made.body.scopes]).toEqual([201, got])
    else expect(codeOf(made)).toEqual([403, "forbidden"])
    const after = (await (await face.as("bob")).get("/api/tokens?limit=200")).body.items.length
    expect(after - before).toBe(got ? 2 : 1)
  })

  test.each([{ scopes: [] }, { scopes: ["root"] }, { name: "" }, { name: "x".repeat(101) }, { nam: "x" }])(
    "%j creates no token",
    async (body) => expect((await (await face.as("bob")).post("/api/tokens", body)).status).toBe(400),
  )

  test("tokens are listed page by page, newest first, also those made in one instant", async () => {
    const { people } = face.store
    const carl = await people.ensure("carl", 0)
    const visitor = await face.as("carl")
    for (let made = 0; made < 5; made++) await people.createToken(carl, ["read"], 1000, { name: `t${made}` })
    const names: string[] = []
    for (let path = "/api/tokens?limit=2"; path;) {
      const { items, nextCursor } = (await visitor.get(path)).body
      names.push(...items.map((item: { name: string | null }) => item.name))
      path = nextCursor && `/api/tokens?limit=2&cursor=${nextCursor}`
    }
    expect([names[0], names.slice(1).sort()]).toEqual([null, ["t0", "t1", "t2", "t3", "t4"]])
    expect((await visitor.get("/api/tokens?cursor=abc")).status).toBe(400)
  })
})

/** Each route with an id, or about the caller: its request and its scope. */
const routes: [method: string, path: string, scope: Scope][] = [
  ["DELETE", "/api/tokens/{tok}", "manage"],
  ["DELETE", "/api/auth/sessions/{sess}", "manage"],
]
const ownRoutes: [method: string, path: string, scope: Scope][] = [
  ["GET", "/api/tokens", "read"],
  ["POST", "/api/tokens", "manage"],
  ["GET", "/api/auth/me", "read"],
  ["GET", "/api/auth/sessions", "read"],
  ["POST", "/api/auth/ticket", "read"],
  ["POST", "/api/auth/sign-out", "read"],
]

// The table of routes lists every entry point.
test.each(Object.values<Route>(table).filter(({ path, needs }) => needs !== "nobody" && path.startsWith("/api/")))(
  "$method $path needs a credential, and is closed to other sites' pages",
  async ({ method, path }) => {
    await using face = await Face.open({ url: (await databases[0]!.create()).url, model: scripted() })
    const at = path.replaceAll(/\{\w+\}/g, "x")
    expect(codeOf(await new Visitor((request) => face.fetch(request), undefined).ask(method, at))).toEqual([
      401,
      "unauthenticated",
    ])
    const browser = await Browser.of(face, "ada", ...scopes)
    const headers = { origin: "", "sec-fetch-site": "cross-site" }
    expect(codeOf(await browser.ask(method, at, { headers }))).toEqual([403, "cross_site"])
  },
)

describe.each(anyDatabase)("other people's tokens and sessions on $name", ({ create }) => {
  let face: Face
  let ada: Browser
  let ofAda: Record<string, string>
  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model: scripted(always(says("ok"))) })
    ada = await Browser.of(face, "ada")
    const token = (await ada.post("/api/tokens", {})).body
    const [session] = (await ada.get("/api/auth/sessions")).body.items
    ofAda = { tok: token.id, sess: session.id }
    return () => face[Symbol.asyncDispose]()
  })
  const fill = (path: string, ids: Record<string, string>) =>
    path.replace(/\{(\w+)\}/, (_, kind: string) => encodeURIComponent(ids[kind] ?? ""))

  test.each(routes)("%s %s is missing, byte for byte, and stays as it is", async (method, path) => {
    const missing = { tok: newId("tok"), sess: newId("sess") }
    const odd = { tok: "tok_\0' OR 1=1", sess: "x".repeat(300) }
    for (const bob of [await face.as("bob"), await Browser.of(face, "bob")]) {
      const replies = await Promise.all([ofAda, missing, odd].map((ids) => bob.ask(method, fill(path, ids))))
      for (const { status, text } of replies) expect([status, text]).toEqual([404, replies[0]?.text])
      expect(replies[0]?.body.code).toBe("not_found")
    }
    expect((await ada.get("/api/tokens")).body.items).toHaveLength(1)
    expect((await ada.get("/api/auth/sessions")).body.items).toHaveLength(1)
  })

  test.each([...routes, ...ownRoutes])("%s %s takes its scope and an identity", async (method, path, scope) => {
    const others = scopes.filter((other) => other !== scope)
    for (const without of [await face.as("ada", ...others), await Browser.of(face, "ada", ...others)]) {
      const refused = await without.ask(method, fill(path, ofAda))
      expect(codeOf(refused)).toEqual([403, "forbidden"])
      expect(refused.body.detail).toContain(scope)
    }
    const nobody = new Browser(face)
    for (const cookie of [undefined, "pawl_session=wrong", "pawl_session=", "pawl_session=%F0%9F"]) {
      nobody.cookie = cookie
      expect(codeOf(await nobody.ask(method, fill(path, ofAda)))).toEqual([401, "unauthenticated"])
    }
  })

  test("lists contain only the caller's own", async () => {
    const bob = await Browser.of(face, "bobby")
    expect((await bob.get("/api/tokens")).body.items).toEqual([])
    expect((await bob.get("/api/auth/sessions")).body.items).toMatchObject([{ current: true }])
  })
})

describe.each(anyDatabase)("tickets on $name", ({ create }) => {
  const open = async (clock = new TurnedClock()) => {
    const face = await Face.open({ url: (await create()).url, model: scripted(always(says("ok"))), clock })
    const redeem = (ticket: string) => face.store.credentials.redeemTicket(ticket, clock.now())
    return { face, clock, redeem }
  }

  test("a ticket stands in for its credential once, with the same scopes", async () => {
    const { face, redeem } = await open()
    await using _ = face
    const browser = await Browser.of(face, "ada", "read", "chat")
    const made = await browser.post("/api/auth/ticket")
    expect([made.status, Object.keys(made.body)]).toEqual([201, ["ticket", "expiresAt"]])
    const racing = await Promise.all(Array.from({ length: 5 }, () => redeem(made.body.ticket)))
    const callers = racing.filter((caller) => caller !== undefined)
    const { credential } = (await browser.get("/api/auth/me")).body
    expect(callers).toMatchObject([
      {
        person: { name: "ada" },
        scopes: new Set(["read", "chat"]),
        credential: { type: "session", id: credential.id },
      },
    ])
    expect(await redeem(made.body.ticket)).toBeUndefined()
  })

  test("a ticket is valid for thirty seconds, and not after its credential was revoked", async () => {
    const { face, clock, redeem } = await open()
    await using _ = face
    const ada = await face.as("ada")
    const { id } = (await ada.get("/api/auth/me")).body.credential
    const tickets = await Promise.all([1, 2, 3].map(async () => (await ada.post("/api/auth/ticket")).body.ticket))
    await clock.turn(29_999)
    expect(await redeem(tickets[0])).toMatchObject({ credential: { type: "token", id } })
    await (await face.as("ada")).ask("DELETE", `/api/tokens/${id}`)
    expect(await redeem(tickets[1])).toBeUndefined()
    await clock.turn(1)
    expect(await redeem(tickets[2])).toBeUndefined()
    expect(await redeem("made-up")).toBeUndefined()
  })

  test("a ticket is accepted for a socket, once, and for nothing else", async () => {
    const { face } = await open()
    await using _ = face
    const { ticket } = (await (await Browser.of(face, "ada")).post("/api/auth/ticket")).body
    const nobody = new Visitor((request) => face.fetch(request), undefined)
    const shown = { "sec-websocket-protocol": `chat, pawl.ticket.${ticket}` }
    expect((await nobody.get("/api/conversations", shown)).status).toBe(401)
    const socket = { ...shown, upgrade: "websocket", connection: "upgrade" }
    expect((await nobody.get("/api/conversations", socket)).status).toBe(200)
    expect((await nobody.get("/api/conversations", socket)).status).toBe(401)
  })
})

test("no secret is in the database in clear, in a log line or in an address", async () => {
  await using database = await databases[0]!.create()
  await using face = await Face.open({ url: database.url, model: scripted(always(says("ok"))) })
  const asked: string[] = []
  const used = await linkFor(face, "ada")
  const unused = await linkFor(face, "ada")
  const browser = new Browser(face)
  await browser.signIn(used)
  const { token } = (await browser.post("/api/tokens", { name: "laptop" })).body
  const { ticket } = (await browser.post("/api/auth/ticket")).body
  const holder = new Visitor((request) => (asked.push(request.url), face.fetch(request)), token)
  await holder.get("/api/conversations")
  await holder.say(await holder.begin(), "hello")
  for (const secret of [used, unused, ticket]) await browser.signIn(`${secret}x`)
  await browser.post("/api/auth/sign-in", `{"secret": "${unused}`)
  const folder = dirname(database.url.slice("file:".length))
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))))
  const bytes = Buffer.concat(files)
  expect(bytes.includes("laptop")).toBe(true) // or the test would prove nothing
  const secrets = [
    used,
    unused,
    browser.cookie!.split("=")[1]!,
    browser.pageSecret!,
    token.slice("pawl_".length),
    ticket,
  ]
  for (const secret of secrets) {
    expect(secret).toHaveLength(45)
    expect(bytes.includes(secret)).toBe(false)
    expect(bytes.includes(Buffer.from(secret.slice(0, 43), "base64url")), "without its slot").toBe(false)
    expect(JSON.stringify(face.logged)).not.toContain(secret)
    expect(asked.join()).not.toContain(secret)
  }
})
