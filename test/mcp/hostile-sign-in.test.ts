import { beforeAll, expect, test } from "vitest"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { PlayedAuthority } from "./played-authority.ts"
import type { Play } from "./played-server.ts"
import { Face, type Visitor } from "../support/server/face.ts"

const PROTECTED = "/.well-known/oauth-protected-resource/mcp"
const AUTHORITY = "/.well-known/oauth-authorization-server"

/** One server for all: each test has a user of its own. */
const clock = new TurnedClock()
let face: Face
let people = 0

beforeAll(async () => {
  const { url } = await anyDatabase[0]!.create()
  face = await Face.open({ url, model: scripted(), clock, reach: new OutboundPolicy(["127.0.0.1"]) })
  return () => face[Symbol.asyncDispose]()
})

interface Met extends AsyncDisposable {
  readonly who: Visitor
  readonly there: PlayedAuthority
  add(): Promise<{ status: number; body: { detail: string; signIn?: string } }>
  signIn(): Promise<string>
  finish(back: URL): ReturnType<Visitor["post"]>
}

async function meet(play?: Play): Promise<Met> {
  const there = await PlayedAuthority.open([{ name: "echo", description: "Says it again." }], play)
  const who = await face.as(`person-${++people}`)
  return {
    ...{ who, there },
    add: () => who.post("/api/mcp-servers", { name: "notes", url: there.server.url }),
    signIn: async () => (await who.post("/api/mcp-servers/notes/sign-in", {})).body.url,
    finish: (back) => who.post("/api/mcp-sign-in", { answer: back.search.slice(1) }),
    [Symbol.asyncDispose]: () => there[Symbol.asyncDispose](),
  }
}

test.each<[what: string, said: RegExp, lie: (there: PlayedAuthority) => void]>([
  [
    "metadata at an address of clouds",
    /169\.254\.169\.254/,
    (there) => (there.challenge = 'Bearer resource_metadata="http://169.254.169.254/latest"'),
  ],
  [
    "tokens at an address of a private network",
    /10\.0\.0\.7/,
    (there) => there.instead.set(PROTECTED, (usual) => ({ ...usual, authorization_servers: ["https://10.0.0.7"] })),
  ],
  [
    "metadata behind a redirect",
    /does not say where/,
    (there) => there.instead.set(AUTHORITY, () => ({ redirect: "http://10.0.0.7/" })),
  ],
  [
    "metadata of another issuer",
    /not from where|issuer/i,
    (there) => there.instead.set(AUTHORITY, (usual) => ({ ...usual, issuer: "https://bank.example" })),
  ],
  [
    "a sign-in for another server",
    /another server/,
    (there) => there.instead.set(PROTECTED, (usual) => ({ ...usual, resource: "https://bank.example/mcp" })),
  ],
  ["metadata that never ends", /longer than \d+ characters/, (there) => there.instead.set(AUTHORITY, () => "endless")],
  [
    "codes without protection",
    /PKCE/,
    (there) => there.instead.set(AUTHORITY, (usual) => ({ ...usual, code_challenge_methods_supported: ["plain"] })),
  ],
  [
    "a page that is a script",
    /notes/,
    (there) => there.instead.set(AUTHORITY, (usual) => ({ ...usual, authorization_endpoint: "javascript:alert(1)" })),
  ],
  [
    "a page over plain http",
    /plain http/,
    (there) => there.instead.set(AUTHORITY, (usual) => ({ ...usual, authorization_endpoint: "http://a.example/" })),
  ],
  ["no metadata at all", /name it as a header/, (there) => there.instead.set(AUTHORITY, () => undefined)],
])("a server with %s is not stored", async (_what, said, lie) => {
  await using met = await meet()
  lie(met.there)
  const { status, body } = await met.add()
  expect([status, body.detail]).toEqual([502, expect.stringMatching(said)])
  expect((await met.who.get("/api/mcp-servers")).body.items).toEqual([])
  expect(await face.store.engine.query("SELECT id FROM mcp_sign_in", [])).toEqual([])
})

test.each<[what: string, said: RegExp, answer: Record<string, string>]>([
  ["of another issuer", /not from where you were sent to/, { iss: "https://bank.example" }],
  ["of nobody, where the issuer says who it is", /not from where you were sent to/, { iss: "" }],
  ["that is a refusal of another issuer", /not from where/, { iss: "https://bank.example", error: "access_denied" }],
  ["that is a refusal in its own words", /for a reason of its own/, { error: "<b>call 555-0100</b>", code: "" }],
  ["without a code", /without an answer/, { code: "" }],
])("an answer %s returns no tokens, and is used up", async (_what, said, answer) => {
  await using met = await meet()
  await met.add()
  const back = met.there.agree(await met.signIn(), answer)
  const { status, body } = await met.finish(back)
  expect([status, body.detail]).toEqual([502, expect.stringMatching(said)])
  expect(body.detail).not.toMatch(/555|bank/)
  expect(met.there.exchanged).toEqual([])
  expect((await met.finish(back)).body.code).toBe("mcp_sign_in_not_begun")
})

test("a sign-in is finished with the state of the latest one that was started, within ten minutes", async () => {
  await using met = await meet()
  await met.add()
  const [first, second] = [await met.signIn(), await met.signIn()]
  expect((await met.finish(met.there.agree(first))).body.code).toBe("mcp_sign_in_not_begun")
  await clock.advance(10 * 60_000)
  expect((await met.finish(met.there.agree(second))).body.code).toBe("mcp_sign_in_not_begun")
  expect(met.there.exchanged).toEqual([])
  expect((await met.finish(met.there.agree(await met.signIn()))).body).toMatchObject({ signIn: "done" })
})

test("of many requests that finish the same sign-in at once one succeeds, and the code is exchanged once", async () => {
  await using met = await meet()
  await met.add()
  const back = met.there.agree(await met.signIn())
  const ended = await Promise.all(Array.from({ length: 5 }, () => met.finish(back)))
  expect(ended.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
  expect(met.there.exchanged.length).toBe(1)
})

test.each<[what: string, said: RegExp, tokens: object]>([
  ["of a kind that we cannot send", /of a kind/, { token_type: "DPoP" }],
  ["with the end of a line in them", /no token/, { access_token: "a\r\nx-admin: 1" }],
  ["that are none", /Signing in/, { access_token: 7 }],
])("tokens %s are not stored", async (_what, said, tokens) => {
  await using met = await meet()
  await met.add()
  met.there.instead.set("/token", (usual) => ({ ...usual, ...tokens }))
  const { status, body } = await met.finish(met.there.agree(await met.signIn()))
  expect([status, body.detail]).toEqual([502, expect.stringMatching(said)])
  expect((await met.who.get("/api/mcp-servers")).body.items).toMatchObject([{ signIn: "needed" }])
})

test("a token endpoint that hangs is given up after ten seconds", async () => {
  await using met = await meet()
  await met.add()
  const asked = Promise.withResolvers<void>()
  met.there.instead.set("/token", () => (asked.resolve(), "hang"))
  const finishing = met.finish(met.there.agree(await met.signIn()))
  await asked.promise
  await clock.turn(10_000)
  expect((await finishing).body.detail).toMatch(/did not answer within 10 seconds/)
})

test("a failing server that repeats the token it was sent does not leak it into the error", async () => {
  await using met = await meet()
  await met.add()
  await met.finish(met.there.agree(await met.signIn()))
  const serve = met.there.server.instead
  met.there.server.instead = (request, response) => {
    const { authorization } = request.headers
    if (authorization === undefined) return serve?.(request, response) ?? false
    response.writeHead(500, { "content-type": "text/plain" }).end(`No good: ${authorization}`)
    return true
  }
  const { status, body } = await met.who.post("/api/mcp-servers/notes/look")
  expect([status, body.detail]).toEqual([502, expect.stringContaining("No good: Bearer [hidden]")])
})

test("a user who signs in again while tokens are refused stays signed in", async () => {
  await using met = await meet()
  await met.add()
  await met.finish(met.there.agree(await met.signIn()))
  const serve = met.there.server.instead
  // Renewed tokens are refused as well.
  met.there.accepted.clear()
  met.there.instead.set("/token", (usual) => (met.there.accepted.clear(), usual))
  let refused = 0
  met.there.server.instead = (request, response) => {
    if (!request.url?.endsWith("/mcp") || ++refused !== 2) return serve?.(request, response) ?? false
    met.there.instead.delete("/token")
    void (async () => {
      await met.finish(met.there.agree(await met.signIn()))
      response.writeHead(401).end()
    })()
    return true
  }
  const { status } = await met.who.post("/api/mcp-servers/notes/look")
  expect(status).toBe(502)
  expect((await met.who.get("/api/mcp-servers")).body.items).toMatchObject([{ signIn: "done" }])
})

test("a server that requires more scopes is reported in a sentence, and the next sign-in requests both", async () => {
  await using met = await meet()
  await met.add()
  await met.finish(met.there.agree(await met.signIn()))
  const serve = met.there.server.instead
  met.there.server.instead = (request, response) => {
    if (!request.url?.endsWith("/mcp") || request.headers.authorization === undefined)
      return serve?.(request, response) ?? false
    response.writeHead(403, { "www-authenticate": 'Bearer error="insufficient_scope", scope="notes:write"' }).end()
    return true
  }
  const { status, body } = await met.who.post("/api/mcp-servers/notes/look")
  expect([status, body.code]).toEqual([409, "mcp_scope_needed"])
  expect(body.detail).toContain("(notes:write)")
  expect((await met.who.get("/api/mcp-servers")).body.items).toMatchObject([{ signIn: "more" }])
  expect(new URL(await met.signIn()).searchParams.get("scope")).toBe("notes notes:write")
})

test("a server that accepts only registered clients says so, and a configured client id is sent", async () => {
  await using met = await meet()
  met.there.instead.set(AUTHORITY, ({ registration_endpoint: _none, ...usual }) => usual)
  await met.add()
  const refused = await met.who.post("/api/mcp-servers/notes/sign-in", {})
  expect(refused.body.detail).toMatch(/registered there with the redirect http:\/\/localhost\/mcp-sign-in\/callback/)
  await met.who.delete("/api/mcp-servers/notes")
  const oauth = { clientId: "known", clientSecret: "a-secret-of-this-client", scope: "all" }
  await met.who.post("/api/mcp-servers", { name: "notes", url: met.there.server.url, oauth })
  const url = await met.signIn()
  expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({ client_id: "known", scope: "all" })
  await met.finish(met.there.agree(url))
  expect(met.there.exchanged.length).toBe(1)
  expect(met.there.asked).not.toContain("POST /register")
})
