import { expect, test } from "vitest"
import { calls, fails, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { read, write } from "../support/loop/tools.ts"

const sqlite = databases[0]!

/** The value of a series; 0 where there is none. */
const valueOf = (text: string, series: string) =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1) ?? 0,
  )

test("metrics have fixed labels, never ids or text of a client or a model", async () => {
  await using database = await sqlite.create()
  const model = scripted(
    calls(["look", {}], ["nonsense", {}]),
    calls(["pay", {}], ["pay", { q: "2" }]),
    says("Done."),
    fails("overloaded"),
  )
  await using face = await Face.open({ url: database.url, model, tools: [read("look"), write("pay")] })
  const ada = await face.as("ada")
  const ops = await face.as("ops", "admin")
  const id = await ada.begin({ agent: "test" })
  const { body } = await ada.say(id, "go")
  const [first, second] = body.proposals as { id: string }[]
  await ada.post(`/api/agent/proposals/${first?.id}/commit`)
  await ada.post(`/api/agent/proposals/${second?.id}/reject`)
  await ada.post(`/api/conversations/${id}/resume`)
  await ada.say(id, "again")
  await ada.get("/api/nothing/secret-path")
  await ada.get("/api/conversations/conv_ofSomebodyElse")

  const { status, type, text } = await ops.get("/metrics")
  expect([status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"])
  const expected = {
    'pawl_runs_total{status="started"}': 2,
    'pawl_runs_total{status="paused"}': 1,
    'pawl_runs_total{status="completed"}': 1,
    'pawl_runs_total{status="failed"}': 1,
    'pawl_run_errors_total{code="overloaded"}': 1,
    'pawl_model_calls_total{provider="scripted",outcome="ok"}': 3,
    'pawl_model_calls_total{provider="scripted",outcome="overloaded"}': 1,
    'pawl_tool_calls_total{tool="look",status="ok"}': 1,
    'pawl_tool_calls_total{tool="unknown",status="error"}': 1,
    'pawl_tool_calls_total{tool="pay",status="ok"}': 1,
    'pawl_tool_calls_total{tool="pay",status="rejected"}': 1,
    'pawl_proposals_total{outcome="waiting"}': 2,
    'pawl_proposals_total{outcome="applied"}': 1,
    'pawl_proposals_total{outcome="rejected"}': 1,
    'pawl_http_requests_total{method="POST",route="/api/conversations/{id}/messages",status="200"}': 2,
    'pawl_http_requests_total{method="GET",route="/api/conversations/{id}",status="404"}': 1,
    'pawl_http_requests_total{method="GET",route="unmatched",status="404"}': 1,
  }
  expect(Object.fromEntries(Object.keys(expected).map((series) => [series, valueOf(text, series)]))).toEqual(expected)
  expect(valueOf(text, "pawl_journal_events_total")).toBe((await ada.get(`/api/conversations/${id}`)).body.position)
  expect(valueOf(text, "pawl_journal_commits_total")).toBeGreaterThan(4)
  expect(valueOf(text, 'pawl_memory_bytes{kind="rss"}')).toBeGreaterThan(1e7)
  expect(text).not.toMatch(/conv_|prop_|secret-path|nonsense|ada/)
  expect((await ops.get("/metrics")).text).toMatch(/pawl_event_loop_lag_seconds\{quantile="0.99"\} [\d.e-]+\n/)
  const oddLines = text
    .split("\n")
    .filter((line) => !/^(# (HELP|TYPE) pawl_\w+ .+|pawl_\w+(\{[^{}]*(\{id\}[^{}]*)*\})? [\d.e+-]+|)$/.test(line))
  expect(oddLines).toEqual([])
})

test("a stream counts while it is open", async () => {
  await using database = await sqlite.create()
  await using face = await Face.open({ url: database.url, model: scripted() })
  const ada = await face.as("ada", "read", "chat", "admin")
  const id = await ada.begin()
  const open = async () => valueOf((await ada.get("/metrics")).text, "pawl_open_streams")
  const [one, two] = [await ada.watch(id), await ada.watch(id)]
  expect(await open()).toBe(2)
  await one.body?.cancel()
  expect(await open()).toBe(1)
  await two.body?.cancel()
  expect(await open()).toBe(0)
})

test("a client that is not on this machine needs the scope, whatever its headers say", async () => {
  await using database = await sqlite.create()
  await using face = await Face.open({ url: database.url, model: scripted() })
  const ask = (headers: Record<string, string> = {}) => face.fetch(new Request("http://localhost/metrics", { headers }))
  expect((await ask()).status).toBe(401)
  expect((await ask({ "x-forwarded-for": "127.0.0.1", forwarded: "for=127.0.0.1" })).status).toBe(401)
  expect((await (await face.as("ada")).get("/metrics")).status).toBe(403)
  expect((await (await face.as("ops", "admin")).get("/metrics")).status).toBe(200)
})

test("every request has an id and a log line, a run has one when it ends, and none contains texts or secrets", async () => {
  await using database = await sqlite.create()
  await using face = await Face.open({ url: database.url, model: scripted(says("Hello.")) })
  const ada = await face.as("ada")
  const id = await ada.begin()
  const response = await ada.send("POST", `/api/conversations/${id}/messages`, { body: { text: "my secret words" } })
  const requestId = response.headers.get("x-request-id")
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
  const given = await ada.send("GET", "/api/models", { headers: { "x-request-id": "proxy-0123456789" } })
  expect(given.headers.get("x-request-id")).toBe("proxy-0123456789")
  const forged = await ada.send("GET", "/api/none", { headers: { "x-request-id": 'x" level=error' } })
  expect(forged.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
  await ada.get("/healthz")
  const { user } = (await face.store.engine.query<{ user: string }>('SELECT id AS "user" FROM person', []))[0]!
  const run = (await ada.get(`/api/conversations/${id}/runs`)).body.items[0].id
  expect(face.informed.filter(({ event }) => event === "run_ended")).toEqual([
    { event: "run_ended", conversation: id, run, ms: expect.any(Number), status: "completed" },
  ])
  expect(face.informed.filter(({ event }) => event === "request").slice(0, 4)).toEqual([
    expect.objectContaining({ method: "POST", route: "/api/conversations", status: 201, person: user }),
    {
      ...{ event: "request", method: "POST", route: "/api/conversations/{id}/messages", status: 200 },
      ...{ ms: expect.any(Number), person: user, requestId },
    },
    expect.objectContaining({ route: "/api/models", requestId: "proxy-0123456789" }),
    expect.objectContaining({ route: "unmatched", status: 404 }),
  ])
  expect(JSON.stringify(face.informed)).not.toMatch(/secret words|Bearer|pawl_|healthz/)
})
