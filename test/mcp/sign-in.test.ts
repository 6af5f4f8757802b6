import { describe, expect, test } from "vitest"
import { type Clock, systemClock } from "../../core/shared/time/clock.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { readServers } from "../../core/tools/mcp/server-list.ts"
import { storeTokens } from "../../core/tools/mcp/sign-in/tokens.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { asMasterKey, fixedKeys } from "../../core/store/people/master-keys.ts"
import { rotateSecrets } from "../../core/store/people/rotate-secrets.ts"
import { openStore } from "../../core/store/store.ts"
import { anyDatabase, databasesInTurn } from "../support/databases.ts"
import { Browser, linkFor } from "../support/server/browser.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { openServer } from "../support/server/socket.ts"
import { PlayedAuthority } from "./played-authority.ts"
import { text } from "./played-server.ts"

const reach = new OutboundPolicy(["127.0.0.1"])
const ECHO = { name: "echo", description: "Says it again." }
const [one] = anyDatabase

/** A conversation whose model calls the tool once, and its result. */
async function use(face: Face, who: Pick<Visitor, "post">): Promise<{ status: string; text: string } | undefined> {
  const { body } = await who.post("/api/conversations", { agent: "test", mode: "auto" })
  await who.post(`/api/conversations/${body.id}/messages`, { text: "Use it." })
  await face.pawl.runtime.rest(body.id)
  const events = await face.store.journal.read(body.id as ConversationId)
  return events.find(({ type }) => type === "tool_end") as { status: string; text: string } | undefined
}

/** A user's browser at a server with a port. */
async function browserAt(there: Awaited<ReturnType<typeof openServer>>, name: string) {
  const sent = { origin: there.url, "sec-fetch-site": "same-origin", "content-type": "application/json" }
  const ask = async (method: string, path: string, body?: unknown, headers = {}) =>
    fetch(`${there.url}${path}`, {
      ...{ method, headers: { ...sent, ...headers } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const signedIn = await ask("POST", "/api/auth/sign-in", { secret: await linkFor(there.face, name) })
  const { pageSecret } = (await signedIn.json()) as { pageSecret: string }
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? ""
  return (method: string, path: string, body?: unknown) =>
    ask(method, path, body, { cookie, "x-pawl-session": pageSecret })
}

test("a user signs in to another Pawl with its own sign-in, once, and only they have its tools", async () => {
  await using there = await openServer({ database: one!, model: scripted() })
  await using place = await one!.create()
  const again = () => [calls("other__list_agents", {}), says("Done.")]
  await using face = await Face.open({ url: place.url, model: scripted(...again(), ...again()), reach })
  const [ada, elsewhere, bob] = [
    await Browser.of(face, "ada"),
    await Browser.of(face, "ada"),
    await Browser.of(face, "bob"),
  ]
  const added = await ada.post("/api/mcp-servers", { name: "other", url: `${there.url}/mcp`, agents: ["test"] })
  expect([added.status, added.body.signIn, added.body.tools]).toEqual([201, "needed", []])

  const signIn = async () => (await ada.post("/api/mcp-servers/other/sign-in", {})).body.url as string
  const adaThere = await browserAt(there, "ada-there")
  const consent = async (url: string) => {
    const asked = Object.fromEntries(new URL(url).searchParams)
    const given = await adaThere("POST", "/api/oauth/consent", { ...asked, agrees: true })
    const { redirectTo } = (await given.json()) as { redirectTo: string }
    return { asked, answer: new URL(redirectTo).search.slice(1) }
  }
  // In another browser, also of the same user, and by another user it is like one that never existed.
  const stolen = await consent(await signIn())
  expect((await bob.post("/api/mcp-sign-in", { answer: stolen.answer })).body.code).toBe("mcp_sign_in_not_begun")
  expect((await elsewhere.post("/api/mcp-sign-in", { answer: stolen.answer })).body.code).toBe("mcp_sign_in_not_begun")
  expect((await bob.post("/api/mcp-servers/other/sign-in", {})).status).toBe(404)

  const { asked, answer } = await consent(await signIn())
  expect(asked).toMatchObject({
    ...{ response_type: "code", code_challenge_method: "S256", resource: `${there.url}/mcp` },
    ...{ scope: "read chat", redirect_uri: "http://localhost/mcp-sign-in/callback" },
  })
  // A try with another user's answer does not use it up.
  expect((await bob.post("/api/mcp-sign-in", { answer })).body.code).toBe("mcp_sign_in_not_begun")
  const done = await ada.post("/api/mcp-sign-in", { answer })
  expect(done.body).toMatchObject({ name: "other", signIn: "done" })
  expect(done.body.tools.map(({ tool }: { tool: string }) => tool)).toContain("list_agents")
  expect((await ada.post("/api/mcp-sign-in", { answer })).body.code).toBe("mcp_sign_in_not_begun")
  expect((await bob.get("/api/mcp-servers")).body.items).toEqual([])
  expect(await use(face, ada)).toMatchObject({ status: "ok" })

  // Revoked at the other server: one call fails, and its error says what to do.
  const { items } = (await (await adaThere("GET", "/api/tokens")).json()) as { items: { id: string; name: string }[] }
  expect(items.map(({ name }) => name)).toEqual(["Pawl"])
  await adaThere("DELETE", `/api/tokens/${items[0]?.id}`)
  expect(await use(face, ada)).toMatchObject({ status: "error", text: expect.stringMatching(/signs in to it again/) })
  expect((await ada.get("/api/mcp-servers")).body.items).toMatchObject([{ name: "other", signIn: "ended" }])
})

describe.each(databasesInTurn(import.meta.filename))("tokens of users at MCP servers, on $name", ({ create }) => {
  test("are encrypted for their row, renewed before they expire by one of all nodes, and hidden", async () => {
    await using place = await create()
    await using there = await PlayedAuthority.open([ECHO], ({ headers }) => text(`Hello, ${headers.authorization}`))
    let shift = 0
    const clock = { ...systemClock, now: () => Date.now() + shift }
    const script = () => scripted(calls("notes__echo", {}), says("."), calls("notes__echo", {}), says("."))
    await using face = await Face.open({ url: place.url, model: script(), reach, clock })
    await using second = await Face.open({ url: place.url, model: script(), reach, clock })
    there.expiresIn = 3600
    const ada = await face.as("ada")
    await signedIn(ada, there)
    const rows = await face.store.engine.query("SELECT * FROM mcp_sign_in", [])
    expect(rows).toMatchObject([{ server: expect.stringMatching(/^mcp_/), state: "done" }])
    expect(JSON.stringify(rows)).not.toMatch(/access-token|refresh-token/)

    const said = await use(face, ada)
    expect(said).toMatchObject({ status: "ok", text: expect.stringContaining("Hello, Bearer [hidden]") })
    expect(there.exchanged.map(({ grant_type }) => grant_type)).toEqual(["authorization_code"])
    shift = 3600_000 - 30_000
    const elsewhere = await second.as("ada")
    const both = await Promise.all([use(face, ada), use(second, elsewhere)])
    expect(both).toMatchObject([{ status: "ok" }, { status: "ok" }])
    expect(there.exchanged.map(({ grant_type }) => grant_type)).toEqual(["authorization_code", "refresh_token"])
    expect(there.exchanged[1]).toMatchObject({ resource: there.server.url, client_id: "pawl-there" })
  })

  test("stay if the answer to a renewal is lost, and end if it is refused", async () => {
    await using place = await create()
    await using there = await PlayedAuthority.open([ECHO])
    const model = scripted(...[1, 2, 3].flatMap(() => [calls("notes__echo", {}), says(".")]))
    await using face = await Face.open({ url: place.url, model, reach })
    const ada = await face.as("ada")
    await signedIn(ada, there)
    there.accepted.clear()
    there.instead.set("/token", () => ({ redirect: "https://elsewhere.example/" }))
    expect(await use(face, ada)).toMatchObject({ status: "error", text: expect.stringMatching(/could not be renewed/) })
    expect((await ada.get("/api/mcp-servers")).body.items).toMatchObject([{ signIn: "done" }])
    there.instead.delete("/token")
    // The server has renewed it after all, and no longer accepts the old one.
    expect(await use(face, ada)).toMatchObject({ status: "error", text: expect.stringMatching(/signs in to it again/) })
    expect((await ada.get("/api/mcp-servers")).body.items).toMatchObject([{ signIn: "ended" }])
    await signedIn(ada, there, false)
    expect(await use(face, ada)).toMatchObject({ status: "ok" })
    expect(JSON.stringify(face.logged)).not.toMatch(/access-token|refresh-token|code-\d/)
  })
})

test("for a server of the operator each user has a sign-in of their own, which no other user can use", async () => {
  await using place = await one!.create()
  await using there = await PlayedAuthority.open([ECHO], ({ headers }) =>
    text(`You are ${headers.authorization?.slice(-1)}`),
  )
  const entry = { url: there.server.url, agents: ["test"], tools: { echo: "read" }, data: "public" }
  const mcp = readServers(JSON.stringify({ mcpServers: { notes: entry } }), {})
  const model = scripted(...[1, 2, 3].flatMap(() => [calls("notes__echo", {}), says(".")]))
  await using face = await Face.open({ url: place.url, model, mcp, reach })
  const [ada, bob] = [await face.as("ada"), await face.as("bob")]
  await ada.post("/api/mcp-servers/notes/look")
  expect((await ada.get("/api/mcp-servers")).body.items).toMatchObject([{ by: "operator", signIn: "needed" }])
  await signedIn(ada, there, false)
  const [token] = there.accepted
  // Every user sees which tools there are; without a sign-in the call says that one is needed.
  expect(await use(face, bob)).toMatchObject({
    status: "error",
    text: expect.stringMatching(/until the person signs in/),
  })
  await signedIn(bob, there, false)
  if (token !== undefined) there.accepted.add(token)
  const [adas, bobs] = [await use(face, ada), await use(face, bob)]
  expect([adas?.status, bobs?.status]).toEqual(["ok", "ok"])
  expect(there.server.calls.map(({ headers }) => headers.authorization)).toEqual(
    [...there.accepted].reverse().map((each) => `Bearer ${each}`),
  )
})

test("tokens are renewed while the master key is rotated, and are not lost; no other row can decrypt them", async () => {
  await using place = await one!.create()
  const [first, second] = [asMasterKey(Buffer.alloc(32, "a")), asMasterKey(Buffer.alloc(32, "b"))]
  const store = await openStore({ url: place.url, masterKeys: fixedKeys(first, second) })
  const { id: ada } = await store.people.ensure("ada", 0)
  const { id: bob } = await store.people.ensure("bob", 0)
  const signIn = { url: "https://mcp.example/", state: "done" as const, challenge: { scope: "notes" } }
  expect(await store.mcpSignIns.put(ada, "=notes", signIn)).toBe(true)
  const read = (await store.mcpSignIns.read(ada, "=notes"))!
  expect(await store.mcpSignIns.claim(ada, "=notes", { version: read.version, until: Date.now() + 60_000 })).toBe(true)
  await store.secrets.changeOver(second)
  for await (const _ of rotateSecrets(store.engine, { to: second, from: first }));
  const renewed = { ...signIn, challenge: { scope: "renewed" } }
  expect(await store.mcpSignIns.put(ada, "=notes", renewed, read.version)).toBe(true)
  // A client that has read before that, and one that would renew as well, come too late.
  expect(await store.mcpSignIns.put(ada, "=notes", signIn, read.version)).toBe(false)
  expect(await store.mcpSignIns.put(ada, "=notes", signIn, "none")).toBe(false)
  expect(await store.mcpSignIns.claim(ada, "=notes", { version: read.version, until: Date.now() })).toBe(false)
  expect(await store.mcpSignIns.read(ada, "=notes")).toMatchObject(renewed)
  const sql = "UPDATE mcp_sign_in SET id = ?, person = ?"
  await store.engine.change({ type: "statements", statements: [{ sql, values: [`${bob}.=notes`, bob] }] })
  expect(await store.mcpSignIns.read(bob, "=notes")).toBeUndefined()
  await store[Symbol.asyncDispose]()
})

test("tokens that were issued once are stored, also if the store fails first, or its answer is lost", async () => {
  await using place = await one!.create()
  const masterKeys = fixedKeys(asMasterKey(Buffer.alloc(32, "a")))
  const store = await openStore({ url: place.url, masterKeys })
  const { id: ada } = await store.people.ensure("ada", 0)
  const signIn = { url: "https://mcp.example/", state: "done" as const, challenge: { scope: "notes" } }
  await store.mcpSignIns.put(ada, "=notes", signIn)
  const { version } = (await store.mcpSignIns.read(ada, "=notes"))!
  const faults = ["before", "behind"]
  const signIns = {
    async put(...stored: Parameters<typeof store.mcpSignIns.put>) {
      const fault = faults.shift()
      if (fault !== "before") await store.mcpSignIns.put(...stored)
      if (fault !== undefined) throw new Error("The database is away.")
      return store.mcpSignIns.put(...stored)
    },
  }
  const clock: Clock = { ...systemClock, alarm: (_ms, ring) => (queueMicrotask(ring), () => {}) }
  const renewed = { ...signIn, challenge: { scope: "renewed" } }
  await storeTokens({ signIns, clock }, ada, "=notes", renewed, version)
  expect(faults).toEqual([])
  expect(await store.mcpSignIns.read(ada, "=notes")).toMatchObject(renewed)
  await store[Symbol.asyncDispose]()
})

test("if the server has a public address, its metadata document is the client id", async () => {
  await using place = await one!.create()
  await using there = await PlayedAuthority.open([ECHO])
  const path = "/.well-known/oauth-authorization-server"
  there.instead.set(path, (usual) => ({ ...usual, client_id_metadata_document_supported: true }))
  const address = { publicUrl: "https://pawl.example" }
  await using face = await Face.open({ url: place.url, model: scripted(), reach, address })
  const ada = await face.as("ada")
  await ada.post("/api/mcp-servers", { name: "notes", url: there.server.url })
  const { url } = (await ada.post("/api/mcp-servers/notes/sign-in", {})).body
  const { client_id, redirect_uri } = Object.fromEntries(new URL(url).searchParams) as Record<string, string>
  const { body } = await ada.get(new URL(client_id!).pathname)
  expect(body).toMatchObject({ client_id, redirect_uris: [redirect_uri] })
  expect(client_id).toBe("https://pawl.example/mcp-sign-in/client.json")
  expect(there.asked).not.toContain("POST /register")
})

/** Adds the server unless it exists, and signs in as its user does. */
async function signedIn(who: Visitor, there: PlayedAuthority, isNew = true): Promise<void> {
  if (isNew) await who.post("/api/mcp-servers", { name: "notes", url: there.server.url, agents: ["test"] })
  const { body } = await who.post("/api/mcp-servers/notes/sign-in", {})
  const done = await who.post("/api/mcp-sign-in", { answer: there.agree(body.url).search.slice(1) })
  expect(done.body).toMatchObject({ name: "notes", signIn: "done", tools: [{ tool: "echo" }] })
}
