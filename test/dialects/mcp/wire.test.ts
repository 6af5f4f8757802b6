import { beforeAll, describe, expect, test } from "vitest"
import type { Model } from "../../../core/engine/model.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { calls, replies, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { connectMcp, type McpPerson } from "../mcp-client.ts"
import { openServer } from "../../support/server/socket.ts"

const ANSWER = "Four of them, and a few more."
const LONG = "word ".repeat(200_000)
const MODERN = "2026-07-28"

describe("the official MCP client on the wire", () => {
  let server: Awaited<ReturnType<typeof openServer>>
  let token: string
  const [heard, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const stays = Promise.withResolvers<void>()
  const script = scripted(
    always(({ history }) => {
      const last = history.at(-1)
      if (last?.role === "user" && last.text === "long") return replies(says(LONG), calls("unknown_tool"))
      return says(ANSWER)
    }),
  )
  const model: Model = {
    ...{ name: "scripted", provider: "scripted", contextTokens: 200_000 },
    async *stream(request, signal) {
      const last = request.history.at(-1)
      if (last?.role === "user" && last.text === "wait") {
        heard.resolve()
        await goOn.promise
      }
      if (last?.role === "user" && last.text === "stay") {
        stays.resolve()
        await new Promise((_, stop) => signal.addEventListener("abort", stop, { once: true }))
      }
      yield* script.stream(request, signal)
    },
  }

  beforeAll(async () => {
    server = await openServer({ database: anyDatabase[0]!, model })
    token = await server.tokenFor("ada")
    return async () => {
      await server[Symbol.asyncDispose]()
    }
  })

  const post = (body: string, headers: Record<string, string> = {}, url = server.url) =>
    fetch(`${url}/mcp`, {
      ...{ method: "POST", body },
      headers: {
        ...{ authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...{ accept: "application/json, text/event-stream", ...headers },
      },
    })
  const call = (id: number, name: string, input: object) =>
    JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: input } })
  const ask = (client: Pick<McpPerson, "call">, key: string) =>
    client.call("ask_agent", { message: "How many?", agent: "test", key }, { onprogress() {} })

  test("a slow reader does not delay others", async () => {
    const slow = await post(call(1, "ask_agent", { message: "long", agent: "test" }))
    await using client = await connectMcp(`${server.url}/mcp`, { token, era: MODERN })
    expect((await ask(client, "beside")).facts.answer).toBe(ANSWER)
    expect((await slow.text()).includes("word word")).toBe(true)
  })

  test("of thousands of unknown arguments, the answer names five and counts the rest", async () => {
    const many = Object.fromEntries(Array.from({ length: 4900 }, (_, at) => [`name${at}`, 1]))
    const answer = await (await post(call(1, "list_agents", many))).text()
    expect(answer).toContain("name4")
    expect(answer).toContain("and 4895 more")
    expect(answer.length).toBeLessThan(1000)
  })

  test("oversized, deeply nested and malformed messages are refused, and the next one is answered", async () => {
    const bodies = [
      "x".repeat(2_000_000),
      `{"a":`.repeat(100),
      "[".repeat(10_000),
      "no json",
      "[]",
      "null",
      `"x"`,
      "{}",
    ]
    const batch = `[${call(1, "list_agents", {})},${call(2, "list_agents", {})}]`
    for (const body of [...bodies, batch, `{"jsonrpc":"1.0"}`, `{"jsonrpc":"2.0","method":"\\ud800"}`]) {
      const refused = await post(body)
      await refused.body?.cancel()
      expect([body.slice(0, 20), refused.status]).toEqual([body.slice(0, 20), 400])
    }
    expect((await post(call(1, "list_agents", {}))).status).toBe(200)
  })

  test.each<[what: string, message: object]>([
    ["an unknown method", { id: 1, method: "tools/destroy" }],
    ["an unknown tool", { id: 1, method: "tools/call", params: { name: "commit_proposal", arguments: {} } }],
    ["a tool without a name", { id: 1, method: "tools/call", params: {} }],
    ["arguments of another kind", { id: 1, method: "tools/call", params: { name: "ask_agent", arguments: [1] } }],
    ["an odd name", { id: 1, method: "tools/call", params: { name: "__proto__", arguments: {} } }],
    ["a subscription", { id: 1, method: "subscriptions/listen", params: {} }],
    ["a log level", { id: 1, method: "logging/setLevel", params: { level: "debug" } }],
  ])("%s is an error without other effects", async (_what, message) => {
    const answer = await (await post(JSON.stringify({ jsonrpc: "2.0", ...message }))).text()
    expect(answer).toMatch(/"error":|"isError":true/)
  })

  test.each<[what: string, message: object, status: number]>([
    ["an answer that nobody asked for", { id: 7, result: {} }, 202],
    ["an unknown notification", { method: "notifications/odd" }, 202],
    ["a call taken back that never was", { method: "notifications/cancelled", params: { requestId: 9 } }, 202],
    ["the end of a handshake that never began", { method: "notifications/initialized" }, 202],
  ])("%s changes nothing", async (_what, message, status) => {
    expect((await post(JSON.stringify({ jsonrpc: "2.0", ...message }))).status).toBe(status)
  })

  test("a tool call can be cancelled even if an unrequested response used its id before", async () => {
    const session = { "mcp-session-id": "one client" }
    expect((await post(JSON.stringify({ jsonrpc: "2.0", id: 7, result: {} }), session)).status).toBe(202)
    const asked = post(call(7, "ask_agent", { message: "stay", agent: "test" }), session)
    await stays.promise
    const back = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } }
    expect((await post(JSON.stringify(back), session)).status).toBe(202)
    expect(await (await asked).text()).toContain('"isError":true')
  })

  test("a wrong content type, another site's origin and a wrong method are refused", async () => {
    const message = call(1, "list_agents", {})
    expect((await post(message, { "content-type": "text/plain" })).status).toBe(415)
    expect((await post(message, { origin: "https://evil.example" })).status).toBe(403)
    const headers = { authorization: `Bearer ${token}` }
    for (const method of ["GET", "DELETE"])
      expect((await fetch(`${server.url}/mcp`, { method, headers })).status).toBe(405)
  })

  test("a tool call is cancelled only by the client that made it, not by another client with the same token", async () => {
    const connect = () => connectMcp(`${server.url}/mcp`, { token, era: "legacy" })
    const [first, second] = await Promise.all([connect(), connect()])
    const asked = first.call("ask_agent", { message: "wait", agent: "test" })
    await heard.promise
    // Both clients number their requests from zero.
    for (let requestId = 0; requestId < 5; requestId++)
      await second.client.notification({ method: "notifications/cancelled", params: { requestId } })
    goOn.resolve()
    expect((await asked).facts).toMatchObject({ answer: ANSWER, status: "completed" })
    await Promise.all([first.client.close(), second.client.close()])
  })
})
