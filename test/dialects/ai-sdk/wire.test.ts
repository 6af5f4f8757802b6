import { beforeAll, describe, expect, test } from "vitest"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { calls, replies, says, thinks } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type ChatOptions, NodeChat, plain, textOf } from "../ai-sdk-client.ts"
import { Cutter } from "../../support/server/cutter.ts"
import { openServer } from "../../support/server/socket.ts"

const ANSWER = "Four of them, and a few more."
const LONG = "word ".repeat(200_000)

describe.each(anyDatabase)("useChat of the AI SDK on the wire, on $name", (database) => {
  let server: Awaited<ReturnType<typeof openServer>>
  let cutter: Cutter
  let headers: Record<string, string>
  const model = scripted(
    always(({ history }) => {
      const last = history.at(-1)
      if (last?.role === "tool") return says(ANSWER, { chunks: 5 })
      if (last?.role === "user" && last.text === "long") return says(LONG, { chunks: 400 })
      if (last?.role === "user" && last.text === "short") return says("Yes.")
      return replies(
        thinks("Let me think.", undefined, { chunks: 3 }),
        says("Looking."),
        calls("unknown_tool", { a: 1 }),
      )
    }),
  )

  beforeAll(async () => {
    server = await openServer({ database, model })
    cutter = await Cutter.open(server.url)
    headers = { authorization: `Bearer ${await server.tokenFor("ada")}` }
    return async () => {
      await cutter[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    }
  })

  const chatWith = (options: Partial<ChatOptions> = {}) =>
    new NodeChat({
      ...options,
      transport: {
        ...{ api: `${cutter.url}/ai-sdk`, headers, body: { agent: "test" } },
        ...options.transport,
      },
    })
  const send = (body: string, more: RequestInit = {}) =>
    fetch(`${server.url}/ai-sdk`, { method: "POST", headers, body, ...more })

  test("an answer cut after any byte is complete once its stream is resumed, and its message is stored once", async () => {
    const whole = chatWith()
    await whole.sendMessage({ text: "How many?" })
    const shape = (chat: NodeChat) => plain(chat.lastMessage!.parts).map(({ toolCallId: _, ...part }) => part)
    const before = model.received.length
    let [chats, cuts] = [0, 0]
    for (let bytes = 1; bytes < 6000; bytes *= 4) {
      chats++
      cutter.cutAfter(bytes)
      const chat = chatWith()
      await chat.sendMessage({ text: "How many?" })
      if (chat.status === "error") cuts++
      cutter.cutAfter(Number.POSITIVE_INFINITY)
      // Without even the first event, the client cannot know if the message arrived: sent again, it has the same id.
      if (chat.lastMessage?.role === "user") await chat.sendMessage()
      else await chat.resumeStream()
      expect([chat.status, chat.messages.length]).toEqual(["ready", 2])
      expect(shape(chat)).toEqual(shape(whole))
    }
    expect(cuts).toBeGreaterThan(4)
    expect(model.received.length - before).toBe(2 * chats)
  })

  test("a resumed stream that is cut can be resumed again", async () => {
    const chat = chatWith()
    cutter.cutAfter(1500)
    await chat.sendMessage({ text: "How many?" })
    for (const bytes of [700, 1200, 1800]) {
      cutter.cutAfter(bytes)
      await chat.resumeStream()
      expect(chat.status).toBe("error")
    }
    cutter.cutAfter(Number.POSITIVE_INFINITY)
    await chat.resumeStream()
    expect(textOf(chat.lastMessage)).toBe(`Looking.\n\n${ANSWER}`)
  })

  test("without an open run there is nothing to resume", async () => {
    const resume = (id: string) => fetch(`${server.url}/ai-sdk/${id}/stream?ended=false`, { headers })
    expect((await resume("never-heard-of")).status).toBe(204)
    const chat = chatWith()
    await chat.sendMessage({ text: "short" })
    expect((await resume(chat.id)).status).toBe(204)
    expect((await resume("conv_0")).status).toBe(404)
  })

  test("a message sent several times, in turn or concurrently, is stored once and answered the same", async () => {
    const before = model.received.length
    const words = { id: "w", role: "user", parts: [{ type: "text", text: "short" }] }
    const body = JSON.stringify({ id: "twice", messages: [words], trigger: "submit-message", agent: "test" })
    const answers = await Promise.all([1, 2, 3].map(async () => (await send(body)).text()))
    answers.push(await (await send(body)).text())
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toContain("Yes.")
    expect(model.received.length - before).toBe(1)
  })

  test("a slow reader does not delay others, and still receives everything later", async () => {
    const slow = await send(
      JSON.stringify({ id: "slow", messages: [{ id: "l", role: "user", parts: [{ type: "text", text: "long" }] }] }),
    )
    const beside = chatWith()
    await beside.sendMessage({ text: "short" })
    expect(textOf(beside.lastMessage)).toBe("Yes.")
    const text = await slow.text()
    const said = [...text.matchAll(/"type":"text-delta","id":"[^"]+","delta":"([^"]*)"/g)].map(([, delta]) => delta)
    expect(said.join("").length).toBe(LONG.length)
  })

  test("oversized, deeply nested, out-of-order and unknown requests are refused without side effects", async () => {
    const message = { id: "m", role: "user", parts: [{ type: "text", text: "short" }] }
    const many = Array<object>(10_001).fill(message)
    const bodies = [
      ...["no json", "[]", "null", `"x"`, "{}", "[".repeat(10_000), `{"a":`.repeat(100), "\ud800"],
      JSON.stringify({ id: "h", messages: many }),
      JSON.stringify({ id: "h", messages: [] }),
      JSON.stringify({ id: "", messages: [message] }),
      JSON.stringify({ id: "x".repeat(201), messages: [message] }),
      JSON.stringify({ id: "h", messages: [{ ...message, role: "tool" }] }),
      JSON.stringify({ id: "h", messages: [{ ...message, role: "system" }] }),
      JSON.stringify({ id: "h", messages: [{ ...message, parts: "short" }] }),
      JSON.stringify({ id: "h", messages: [{ ...message, parts: [{ type: "__proto__" }] }] }),
      JSON.stringify({ id: "h", messages: [{ ...message, parts: [{ type: "text", text: "\0" }] }] }),
      JSON.stringify({ id: "h", messages: [message], trigger: "resume-stream" }),
      JSON.stringify({ id: "h", messages: [{ id: "a", role: "assistant", parts: [] }] }),
      JSON.stringify({ id: "h", messages: [{ ...message, parts: [{ type: "text", text: "x".repeat(9_000_000) }] }] }),
    ]
    for (const body of bodies) {
      const refused = await send(body)
      const { status } = (await refused.json()) as { status: number }
      expect([body.slice(0, 60), refused.status, status]).toEqual([body.slice(0, 60), 400, 400])
    }
    const approval = { id: "prop_0", approved: true }
    const forged = [{ type: "tool-x", toolCallId: "c", state: "approval-responded", approval }]
    const decided = await send(JSON.stringify({ id: "h", messages: [{ id: "a", role: "assistant", parts: forged }] }))
    expect(decided.status).toBe(404)
    expect((await fetch(`${server.url}/ai-sdk`, { method: "POST", body: "{}" })).status).toBe(401)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    const { items } = (await (await server.visitor("ada")).get("/api/conversations?limit=200")).body
    expect(items.filter(({ title }: { title: string | null }) => title === "h")).toEqual([])
  })
})
