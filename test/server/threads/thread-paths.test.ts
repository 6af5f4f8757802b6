import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { expect, test } from "vitest"
import { dataFolder, PawlProcess } from "../../support/processes/pawl-process.ts"
import { tokenFor } from "../../support/processes/token-for.ts"

const settings = (more: Record<string, string> = {}) => ({
  PAWL_DATA: dataFolder(),
  ...{ PAWL_PORT: "0", PAWL_LOG: "off" },
  ...more,
})

async function open(env: Record<string, string>) {
  const server = new PawlProcess(["serve"], env)
  const [, url = ""] = await server.says(/listening on (\S+)/)
  const token = await tokenFor(env)
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const ask = (method: string, path: string, body?: object, more: object = { headers }) =>
    fetch(`${url}${path}`, { method, ...more, ...(body ? { body: JSON.stringify(body) } : {}) })
  /** Sent as it is: `fetch` would resolve the dots by itself. */
  const statusOf = async (path: string) => {
    const [answer] = (await once(request(url, { path, headers }).end(), "response")) as [IncomingMessage]
    answer.resume()
    return answer.statusCode
  }
  return { server, ask, statusOf }
}

test("a client that does not use /api finds the thread API under /chat if the operator enables it", async () => {
  const { server, ask, statusOf } = await open(settings({ PAWL_THREAD_PATHS: "on" }))
  await using _ = server
  const { thread_id: thread } = (await (await ask("POST", "/chat/thread", {})).json()) as { thread_id: string }
  const lines = await (await ask("POST", `/chat/${thread}/message`, { text: "hello" })).text()
  const frames = lines.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []))
  expect(frames.at(-1)).toMatchObject({ type: "end", full_response: expect.stringMatching(/^Hello!/) })
  const [bare, full] = await Promise.all([ask("GET", `/chat/${thread}`), ask("GET", `/api/chat/${thread}`)])
  expect([bare.status, await bare.json()]).toEqual([200, await full.json()])
  expect(bare.headers.get("cache-control")).toBe("no-store")
  // The databases that its conversations are about are found in the same way.
  const made = await ask("POST", "/connections", { name: "Shop", type: "sqlite", path: "shop.db" })
  const direct = await ask("POST", "/api/connections", { name: "Shop", type: "sqlite", path: "shop.db" })
  expect([made.status, (await made.json()) as object]).toEqual([direct.status, await direct.json()])
  const [listed, own] = await Promise.all([ask("GET", "/connections"), ask("GET", "/api/connections")])
  expect([listed.status, await listed.json()]).toEqual([200, await own.json()])
  expect((await ask("GET", "/connections", undefined, {})).status).toBe(401)
  // A client without a valid token there is refused here too.
  const stranger = await ask("GET", `/chat/${thread}`, undefined, {})
  expect([stranger.status, ((await stranger.json()) as { code: string }).code]).toEqual([401, "unauthenticated"])
  const foreign = await ask("POST", "/chat/thread", {}, { headers: { origin: "https://evil.example" } })
  expect(foreign.status).toBeGreaterThanOrEqual(400)
  expect((await ask("GET", "/chat/../api/nothing")).status).toBe(404)
  // No other route of the API is served there: not by its bare name, and not by a path that leaves the folder.
  for (const path of ["/tokens", "/chat/%2e%2e/tokens", "/chat/..%2ftokens", "/connections/x/%2E%2E/%2e./tokens"])
    expect([path, await statusOf(path)]).toEqual([path, 404])
})

test("without the setting, the thread API exists only under /api", async () => {
  const { server, ask } = await open(settings())
  await using _ = server
  expect((await ask("POST", "/api/chat/thread", {})).status).toBe(200)
  expect((await ask("POST", "/chat/thread", {})).status).toBe(404)
  expect((await ask("GET", "/connections")).status).toBe(404)
})
