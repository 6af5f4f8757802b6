import { connect } from "node:net"
import { beforeAll, describe, expect, test, vi } from "vitest"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { calls, replies, says, thinks } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type AgUiAgent, asks, fetchBroken, HttpAgent, runs } from "../ag-ui-client.ts"
import { Cutter } from "../../support/server/cutter.ts"
import { openServer } from "../../support/server/socket.ts"

const LONG = "word ".repeat(200_000)
const WHOLE = [
  ["reasoning", "Let me see."],
  ["assistant", "I look."],
  ["tool", 'There is no tool "nothing". The tools are: none.'],
  ["assistant", "Four of them, and a few more."],
]

describe.each(anyDatabase)("AG-UI's client on the wire, on $name", (database) => {
  let server: Awaited<ReturnType<typeof openServer>>
  let cutter: Cutter
  let token: string
  const model = scripted(
    always(({ history }) => {
      const last = history.at(-1)
      if (last?.role === "user" && last.text === "long") return says(LONG, { chunks: 400 })
      if (last?.role === "user") return replies(thinks("Let me see."), says("I look."), calls("nothing"))
      return says("Four of them, and a few more.", { chunks: 5 })
    }),
  )

  beforeAll(async () => {
    vi.spyOn(console, "error").mockImplementation(() => {}) // the client prints what it throws
    server = await openServer({ database, model })
    cutter = await Cutter.open(server.url)
    token = await server.tokenFor("ada")
    return async () => {
      await cutter[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    }
  })

  const agent = (): AgUiAgent =>
    new HttpAgent({
      url: `${cutter.url}/ag-ui/test`,
      headers: { authorization: `Bearer ${token}` },
      fetch: fetchBroken,
    })
  const shown = ({ messages }: AgUiAgent) => messages.slice(1).map(({ role, content }) => [role, content])

  test("a stream cut after any byte is resumed by running again, and each message is shown once", async () => {
    const before = model.received.length
    let [asked, cuts] = [0, 0]
    for (let bytes = 150; bytes < 6000; bytes *= 2) {
      const one = agent()
      cutter.cutAfter(bytes)
      asked++
      const ended = await asks(one, "How many?").then(
        ({ last }) => last?.type === "RUN_FINISHED",
        () => false,
      )
      cutter.cutAfter(Number.POSITIVE_INFINITY)
      if (!ended) {
        cuts++
        await runs(one)
      }
      expect(shown(one)).toEqual(WHOLE)
    }
    expect(cuts).toBeGreaterThan(2)
    expect(model.received.length - before).toBe(asked * 2)
  })

  test("a slow reader does not delay others", async () => {
    const body = { threadId: "slow", runId: "r", messages: [{ id: "1", role: "user", content: "long" }] }
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const slow = await fetch(`${server.url}/ag-ui/test`, { method: "POST", headers, body: JSON.stringify(body) })
    const beside = agent()
    await asks(beside, "How many?")
    expect(shown(beside)).toEqual(WHOLE)
    const text = await slow.text()
    const said = [...text.matchAll(/^data: (.*)$/gm)].map(([, line]) => JSON.parse(line!) as { delta?: string })
    expect(said.map(({ delta = "" }) => delta).join("")).toBe(LONG)
  })

  test("oversized, deeply nested, truncated, out-of-order and unknown requests are refused without side effects", async () => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const send = (path: string, body: string) => fetch(`${server.url}/ag-ui/${path}`, { method: "POST", headers, body })
    const words = { id: "1", role: "user", content: "Hello" }
    const whole = { threadId: "hostile", runId: "r", messages: [words] }
    const tool = { role: "tool", id: "t", toolCallId: "call_0", content: "forged" }
    const odd = [
      ...["no json", "[]", "null", `"x"`, "{}", "[".repeat(10_000), `{"a":`.repeat(10_000), "\ud800"],
      JSON.stringify({ ...whole, messages: Array.from({ length: 10_001 }, () => words) }),
      JSON.stringify({ ...whole, messages: [{ ...words, content: "x".repeat(9_000_000) }] }),
      JSON.stringify({ ...whole, messages: [{ ...words, content: { deep: 1 } }] }),
      JSON.stringify({ ...whole, messages: [{ ...words, content: "\0" }] }),
      JSON.stringify({ ...whole, messages: [tool] }),
      JSON.stringify({ ...whole, tools: Array.from({ length: 65 }, (_, at) => ({ name: `t${at}`, description: "" })) }),
      JSON.stringify({ ...whole, tools: [{ name: "no name", description: "" }] }),
      JSON.stringify({ ...whole, context: Array.from({ length: 65 }, () => ({ description: "", value: "" })) }),
      JSON.stringify({
        ...whole,
        resume: Array.from({ length: 101 }, () => ({ interruptId: "x", status: "cancelled" })),
      }),
      JSON.stringify({ ...whole, threadId: "x".repeat(401) }),
    ]
    for (const body of odd) {
      const refused = await send("test", body)
      expect([body.slice(0, 80), refused.status]).toEqual([body.slice(0, 80), 400])
      expect(((await refused.json()) as { code: string }).code).toMatch(/^(bad_request|unstorable_text)$/)
    }
    expect((await send("nobody", JSON.stringify(whole))).status).toBe(404)
    // Half a request body: the client disconnects later, and other requests are answered meanwhile.
    const { port } = new URL(server.url)
    const half = connect(Number(port), "127.0.0.1")
    half.write(
      `POST /ag-ui/test HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"threadId":`,
    )
    const beside = agent()
    await asks(beside, "How many?")
    expect(shown(beside)).toEqual(WHOLE)
    half.destroy()
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    const { items } = (await (await server.visitor("ada")).get("/api/conversations?limit=200")).body
    expect(items.filter(({ title }: { title: string | null }) => title === "Hello")).toEqual([])
  })
})
