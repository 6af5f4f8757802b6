import { expect, expectTypeOf, test } from "vitest"
import type { ConversationDetail, QueuedAnswer, RunAnswer } from "../core/protocol/answers.ts"
import { hasCode } from "../core/protocol/errors.ts"
import { ownRoutes } from "../core/protocol/routes/own-routes.ts"
import { createClient } from "./client.ts"
import type { ClientError } from "./client-error.ts"
import { HastyClock } from "./hasty-clock.fixture.ts"
import type { ClientOptions } from "./transport.ts"

const ID = "conv_00000000000000000a"
const VIEW = {
  id: ID,
  title: null,
  agent: "workspace",
  provider: null,
  model: null,
  mode: "confirm",
  status: "active",
  site: "server",
  deviceId: null,
  connectionId: null,
  position: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })

/** A client whose server sends these answers, and the requests it received. */
function playing(answers: (Response | Error)[], options: Partial<ClientOptions> = {}) {
  const asked: (RequestInit & { url: string; headers: Record<string, string> })[] = []
  const clock = new HastyClock()
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    asked.push({ ...init, url: String(url), headers: init.headers as Record<string, string> })
    const answer = answers.shift()
    if (!answer) throw new Error("asked too often")
    if (answer instanceof Error) throw answer
    return answer
  }
  const client = createClient({ baseUrl: "http://pawl.test/", fetch, clock, random: () => 0, ...options })
  return { client, asked, clock }
}

const failed = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("it succeeded"),
    (e: unknown) => e as ClientError,
  )

test("every route with a single response has a method, and only those", () => {
  const { client } = playing([])
  const once = Object.entries(ownRoutes).filter(
    ([, route]) => !("stream" in route && (route.stream as string) === "always"),
  )
  expect(Object.keys(client).sort()).toEqual([...once.map(([name]) => name), "events", "feed", "run"].sort())
})

test("a call has the types of its route", () => {
  const { client } = playing([])
  type Client = typeof client
  expectTypeOf<Awaited<ReturnType<Client["readConversation"]>>>().toEqualTypeOf<ConversationDetail>()
  expectTypeOf<Awaited<ReturnType<Client["sendMessage"]>>>().toEqualTypeOf<RunAnswer | QueuedAnswer>()
  expectTypeOf<Client["createConversation"]>().toBeCallableWith()
  expectTypeOf<Client["createConversation"]>().toBeCallableWith({ body: { mode: "auto" } })
  expectTypeOf<Client["readConversation"]>().toBeCallableWith({ params: { id: ID } })
  // @ts-expect-error the id is missing
  const withoutId = () => client.readConversation()
  // @ts-expect-error there is no such mode
  const wrongMode = () => client.createConversation({ body: { mode: "reckless" } })
  // @ts-expect-error a message has a text
  const withoutText = () => client.sendMessage({ params: { id: ID }, body: {} })
  // @ts-expect-error this route takes no body
  const withBody = () => client.readConversation({ params: { id: ID }, body: {} })
  expect([withoutId, wrongMode, withoutText, withBody]).toHaveLength(4)
})

test("params, query and body are sent where the route has them", async () => {
  const { client, asked } = playing([
    json({ ...VIEW, messages: [], proposals: [] }),
    json({ items: [], nextCursor: null }),
    json(VIEW, 201),
  ])
  await client.readConversation({ params: { id: "a/b?c#d" } })
  await client.listConversations({ query: { limit: 5, cursor: "x&y" } })
  await client.createConversation({ body: { title: "Käse" } })
  expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "GET http://pawl.test/api/conversations/a%2Fb%3Fc%23d",
    "GET http://pawl.test/api/conversations?limit=5&cursor=x%26y",
    "POST http://pawl.test/api/conversations",
  ])
  expect(asked[2]).toMatchObject({ body: '{"title":"Käse"}', headers: { "content-type": "application/json" } })
})

test.each(["", ".", ".."])(
  "an id %j, which would change the address, is refused before anything is sent",
  async (id) => {
    const { client, asked } = playing([])
    expect((await failed(client.readConversation({ params: { id } }))).code).toBe("bad_request")
    expect(asked).toEqual([])
  },
)

test("a token is sent in the header without cookies; without a token the page's cookie is sent", async () => {
  const sent = async (options: Partial<ClientOptions>) => {
    const { client, asked } = playing([json({ items: [] })], options)
    await client.listAgents()
    return [asked[0]?.headers.authorization, asked[0]?.credentials, asked[0]?.url]
  }
  const url = "http://pawl.test/api/agents"
  expect(await sent({ token: "t" })).toEqual(["Bearer t", "omit", url])
  expect(await sent({ token: async () => "fresh" })).toEqual(["Bearer fresh", "omit", url])
  expect(await sent({})).toEqual([undefined, "same-origin", url])
})

test("a refusal keeps its code, status and data", async () => {
  const problem = {
    type: "urn:x",
    title: "x",
    status: 409,
    detail: "Decided.",
    code: "proposal_decided",
    proposal: { id: "prop_1" },
  }
  const { client } = playing([json(problem, 409), json({ code: "from_the_future", detail: "?" }, 418)])
  const error = await failed(client.commitProposal({ params: { id: "prop_1" } }))
  expect(hasCode(error, "proposal_decided")).toBe(true)
  expect(error).toMatchObject({ status: 409, message: "Decided.", details: { proposal: { id: "prop_1" } } })
  expect(await failed(client.listAgents())).toMatchObject({ code: "from_the_future", status: 418 })
})

test.each<[what: string, answer: Response, code: string, status: number]>([
  ["a body of another shape", json({ things: [] }), "unexpected_answer", 200],
  ["a body that is no JSON", new Response("<html>", { status: 200 }), "unexpected_answer", 502],
  ["a status the route does not have", json({ items: [] }, 203), "unexpected_answer", 203],
  ["a refusal that is not ours", new Response("<h1>No</h1>", { status: 403 }), "unexpected_answer", 403],
  ["a gateway's page", new Response("<h1>Bad gateway</h1>", { status: 502 }), "unreachable", 502],
])("%s is an error that names the route", async (_what, answer, code, status) => {
  const { client } = playing([answer])
  const error = await failed(client.listAgents())
  expect(error).toMatchObject({ code, status })
  expect(error.message).toContain("listAgents (GET /api/agents)")
})

test("an unreachable server is an error with a code and the reason", async () => {
  const cause = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") })
  const error = await failed(playing([cause]).client.listAgents())
  expect(error.code).toBe("unreachable")
  expect(error.message).toContain("ECONNREFUSED")
})

test("an aborted call fails with the reason of its signal, and nothing is sent", async () => {
  const { client, asked } = playing([])
  const reason = new Error("left the page")
  expect(await failed(client.listAgents({ signal: AbortSignal.abort(reason) }))).toBe(reason)
  expect(asked).toEqual([])
})

test("a message whose response is lost is sent again a few times with the same key", async () => {
  const lost = () => new TypeError("lost")
  const queued = json({ queued: { id: "msg_1", text: "hi", when: "queue" } }, 202)
  const { client, asked, clock } = playing([lost(), lost(), queued])
  expect(await client.sendMessage({ params: { id: ID }, body: { text: "hi" } })).toMatchObject({
    queued: { id: "msg_1" },
  })
  const keys = asked.map(({ headers }) => headers["idempotency-key"])
  expect(keys).toHaveLength(3)
  expect(clock.waits).toEqual([500, 1000])
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)

  const hopeless = playing([lost(), lost(), lost(), lost()])
  const sending = hopeless.client.sendMessage({ params: { id: ID }, body: { text: "hi" }, idempotencyKey: "mine" })
  expect((await failed(sending)).code).toBe("unreachable")
  expect(hopeless.asked.map(({ headers }) => headers["idempotency-key"])).toEqual(["mine", "mine", "mine", "mine"])
  expect(hopeless.asked[0]?.headers["idempotency-key"]).not.toBe(keys[0])
})

test("a response that breaks off counts as lost", async () => {
  const torn = new Response(
    new ReadableStream({
      pull: (controller) => controller.error(new TypeError("terminated")),
    }),
    { status: 200, headers: { "content-type": "application/json" } },
  )
  expect((await failed(playing([torn]).client.listAgents())).code).toBe("unreachable")
})

test("a request without a key is sent once, and a refused one is not sent again", async () => {
  const lost = playing([new TypeError("lost")])
  expect((await failed(lost.client.createConversation())).code).toBe("unreachable")
  expect(lost.asked).toHaveLength(1)
  const refused = playing([json({ code: "busy", detail: "Busy." }, 409)])
  expect((await failed(refused.client.sendMessage({ params: { id: ID }, body: { text: "hi" } }))).code).toBe("busy")
  expect(refused.asked).toHaveLength(1)
})
