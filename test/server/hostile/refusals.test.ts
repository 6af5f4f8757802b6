import { beforeAll, describe, expect, test } from "vitest"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Face, Visitor } from "../../support/server/face.ts"

const milk = calls("create_task", { title: "Buy milk" })

describe.each(anyDatabase)("refusals on $name", ({ create }) => {
  let face: Face
  let bob: Visitor
  let proposalOfAda: string

  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model: scripted(milk, always(says("ok"))) })
    const ada = await face.as("ada")
    proposalOfAda = (await ada.say(await ada.begin(), "milk")).body.proposals[0].id
    bob = await face.as("bob")
    return () => face[Symbol.asyncDispose]()
  })

  test("a revoked token gives no access", async () => {
    const { people } = face.store
    const person = await people.ensure("carl", Date.now())
    const { id, token } = await people.createToken(person, ["read"], Date.now())
    const carl = new Visitor((request) => face.fetch(request), token)
    expect((await carl.get("/api/conversations")).status).toBe(200)
    await people.revokeToken(person, id, Date.now())
    expect((await carl.get("/api/conversations")).status).toBe(401)
  })

  test.each<[what: string, body: unknown, detail: RegExp]>([
    ["no JSON", "{", /not JSON/],
    ["no object", "[]", /expected object/],
    ["no text", {}, /text/],
    ["a wrong type", { text: 5 }, /text: .*string/],
    ["blank text", { text: "  " }, /needs some text/],
    ["a field that does not exist", { text: "a", wen: "queue" }, /wen/],
    ["an unknown word", { text: "a", when: "now" }, /when/],
    ["too many iterations", { text: "a", maxIterations: 21 }, /maxIterations/],
    ["a body beyond the limit", { text: "a".repeat(1024 * 1024) }, /larger than 1048576 bytes/],
    ["a body nested too deep", `{"text":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, /nested/],
    ["a list of too many values", `{"text":[${"0,".repeat(60_000)}0]}`, /holds more than 50000 values/],
    ["too many fields", `{"text":"a",${'"a":1,'.repeat(6000)}"b":1}`, /more than 5000 names/],
    ["bytes that are no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), /UTF-8/],
  ])("a message with %s is a 400 with the reason", async (_what, body, detail) => {
    const id = await bob.begin()
    const { status, type, body: problem } = await bob.post(`/api/conversations/${id}/messages`, body)
    expect([status, type, problem.code]).toEqual([400, "application/problem+json", "bad_request"])
    expect(problem.detail).toMatch(detail)
    expect((await bob.get(`/api/conversations/${id}`)).body.position).toBe(1)
  })

  test("a body without a length is cut at the limit too", async () => {
    const id = await bob.begin()
    let sent = 0
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536).fill(0x20))
      },
    })
    const { token } = await face.store.people.createToken(await face.store.people.ensure("bob", 0), ["chat"], 0)
    const init = { method: "POST", body: stream, duplex: "half", headers: { authorization: `Bearer ${token}` } }
    const response = await face.fetch(
      new Request(`http://localhost/api/conversations/${id}/messages`, init as RequestInit),
    )
    expect(response.status).toBe(400)
    expect(sent).toBeLessThan(3 * 1024 * 1024)
  })

  test.each<[path: string, body: string, field: string]>([
    ["messages", '{"text":"a\\u0000b"}', "text"],
    ["messages", '{"text":"\\ud83d"}', "text"],
    ["model", '{"name":"\\udc00"}', "name"],
  ])("text for %s that cannot be stored is refused: %s", async (path, body, field) => {
    const { status, body: problem } = await bob.post(`/api/conversations/${await bob.begin()}/${path}`, body)
    expect([status, problem.code]).toEqual([400, "unstorable_text"])
    expect(problem.detail).toContain(`"${field}"`)
  })

  test("keys and values deep inside edited arguments are refused too", async () => {
    const ada = await face.as("ada")
    for (const body of ['{"arguments":{"title":"a","tags":["x\\u0000"]}}', '{"arguments":{"\\ud800":1}}']) {
      const { status, body: problem } = await ada.post(`/api/agent/proposals/${proposalOfAda}/edit`, body)
      expect([status, problem.code]).toEqual([400, "unstorable_text"])
    }
  })

  test.each([
    ["/api/conversations?limit=0", "limit"],
    ["/api/conversations?limit=x", "limit"],
    ["/api/conversations?cursor=abc", "cursor"],
    ["/api/agent/proposals?status=open", "status"],
    ["/api/agent/proposals?cursor=1", "cursor"],
  ])("%s is a 400 that names %s", async (path, field) => {
    const { status, body } = await bob.get(path)
    expect([status, body.code, body.detail]).toEqual([400, "bad_request", expect.stringContaining(field)])
  })

  test.each([
    [{ agent: "nobody" }, "unknown_agent"],
    [{ mode: "yolo" }, "bad_request"],
    [{ title: "" }, "bad_request"],
    [{ site: "server", deviceId: "laptop" }, "bad_request"],
    [{ agnet: "workspace" }, "bad_request"],
  ])("a conversation cannot start with %j", async (body, code) => {
    const { status, body: problem } = await bob.post("/api/conversations", body)
    expect([status, problem.code]).toEqual([400, code])
  })

  test("a patch without a change is refused", async () => {
    expect((await bob.patch(`/api/conversations/${await bob.begin()}`, {})).status).toBe(400)
  })

  test("a route that does not exist is not found, after authentication", async () => {
    expect((await bob.get("/api/nothing")).body.code).toBe("not_found")
    expect((await new Visitor((request) => face.fetch(request), undefined).get("/api/nothing")).status).toBe(401)
  })
})

describe("the guards", () => {
  const open = async (address = {}, instead = {}) =>
    Face.open({ url: (await anyDatabase[0]!.create()).url, model: scripted(always(says("ok"))), address, instead })

  test.each([
    ["localhost:7295", 200],
    ["127.0.0.1", 200],
    ["127.1.2.3:80", 200],
    ["[::1]:7295", 200],
    ["LOCALHOST", 200],
    ["pawl.example", 200],
    ["evil.example", 421],
    ["localhost.evil.example", 421],
    ["192.168.1.5", 421],
    ["a b", 421],
  ])("a request for the host %s is answered with %i", async (host, status) => {
    await using face = await open({ publicUrl: "https://pawl.example/app" })
    const ada = await face.as("ada")
    expect((await ada.get("/api/conversations", { host })).status).toBe(status)
  })

  test("a server that listens on every address accepts each of them as its host, but no unknown name", async () => {
    await using face = await open({ host: "0.0.0.0" })
    const ada = await face.as("ada")
    expect((await ada.get("/healthz", { host: "192.168.1.5:7295" })).status).toBe(200)
    expect((await ada.get("/healthz", { host: "evil.example" })).status).toBe(421)
  })

  test.each([
    [undefined, 201],
    ["http://localhost", 201],
    ["https://app.example", 201],
    ["https://evil.example", 403],
    ["null", 403],
  ])("a page of %s that sends a change gets %i", async (origin, status) => {
    await using face = await open({ allowedOrigins: ["https://app.example"] })
    const ada = await face.as("ada")
    expect((await ada.post("/api/conversations", {}, origin ? { origin } : {})).status).toBe(status)
    expect((await ada.get("/api/conversations", origin ? { origin } : {})).status).toBe(200)
  })

  test("health needs no token; readiness follows the store", async () => {
    let reachable = true
    const ready = async () => {
      if (!reachable) throw new Error("connect ECONNREFUSED 10.0.0.1")
      return { warnings: [], bus: "none" as const }
    }
    await using face = await open({}, { ready })
    const nobody = new Visitor((request) => face.fetch(request), undefined)
    expect((await nobody.get("/healthz")).body).toEqual({ status: "alive" })
    expect((await nobody.get("/readyz")).body).toEqual({ status: "ready", bus: "none" })
    reachable = false
    const down = await nobody.get("/readyz")
    expect([down.status, down.body.code]).toEqual([503, "store_unavailable"])
    expect(down.text).not.toContain("10.0.0.1")
    expect((await nobody.get("/healthz")).status).toBe(200)
  })

  test("health is 503 only if a restart can help", async () => {
    const breaking = new AbortController()
    await using face = await open({}, { broken: breaking.signal })
    const nobody = new Visitor((request) => face.fetch(request), undefined)
    expect((await nobody.get("/healthz")).status).toBe(200)
    breaking.abort(new Error("a disk at 10.0.0.1"))
    const { status, body, text } = await nobody.get("/healthz")
    expect([status, body.code]).toEqual([503, "store_unavailable"])
    expect(text).not.toContain("10.0.0.1")
  })

  test("an internal error is `internal` for the client and detailed in the log", async () => {
    const broken = { list: () => Promise.reject(new Error("password=hunter2 in table x")) }
    await using face = await open({}, { conversations: broken })
    const { status, body, text } = await (await face.as("ada")).get("/api/conversations")
    expect([status, body.code]).toEqual([500, "internal"])
    expect(text).not.toContain("hunter2")
    expect(face.logged).toEqual([
      {
        event: "request_failed",
        method: "GET",
        route: "/api/conversations",
        requestId: expect.any(String),
        error: expect.objectContaining({ message: expect.stringContaining("hunter2") }),
      },
    ])
  })
})
