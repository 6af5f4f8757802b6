import { parseJsonEventStream, readUIMessageStream, type UIMessage, uiMessageChunkSchema } from "ai"
import { Hono } from "hono"
import { describe, expect, test } from "vitest"
import { agentTool, defineTool, type HttpOptions, openPawl } from "../../core/index.ts"
import { always, calls, says, scripted } from "../../core/testing.ts"
import { z } from "zod"
import { HttpAgent } from "../dialects/ag-ui-client.ts"
import { anyDatabase } from "../support/databases.ts"

const origin = "http://127.0.0.1:3000"

/** The app's own sign-in: a cookie with the user's name. */
const http: HttpOptions = { user: (request) => /user=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1] }

const as = (name: string, init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { cookie: `user=${name}`, "sec-fetch-site": "same-origin", "content-type": "application/json" },
})
const send = (text: string): RequestInit => ({ method: "POST", body: JSON.stringify({ text }) })

/** Reads a response as `useChat` does, into the message that the page has. */
async function readMessage(response: Response, message?: UIMessage): Promise<UIMessage | undefined> {
  const stream = parseJsonEventStream({ stream: response.body!, schema: uiMessageChunkSchema }).pipeThrough(
    new TransformStream({
      transform: (chunk, controller) =>
        chunk.success ? controller.enqueue(chunk.value) : controller.error(chunk.error),
    }),
  )
  let last: UIMessage | undefined
  for await (const next of readUIMessageStream({ stream, ...(message ? { message } : {}), terminateOnError: true }))
    last = next
  return last
}

describe.each(anyDatabase)("pawl.fetch on $name", ({ create }) => {
  const open = async (options: HttpOptions = http) => {
    const database = await create()
    const pawl = await openPawl({ store: database.url, models: scripted(always(says("Hello."))), http: options })
    return {
      pawl,
      async [Symbol.asyncDispose]() {
        await pawl.close()
        await database[Symbol.asyncDispose]()
      },
    }
  }
  const start = async (fetch: (request: Request) => Promise<Response>, name: string) => {
    const response = await fetch(new Request(`${origin}/api/conversations`, as(name, { method: "POST", body: "{}" })))
    return (await response.json()) as { id: string }
  }

  test("answers as the user of the app's own session, and hides the conversations of others", async () => {
    await using app = await open()
    const { fetch } = app.pawl
    const { id } = await start(fetch, "ada")
    const sent = await fetch(new Request(`${origin}/api/conversations/${id}/messages`, as("ada", send("Hi."))))
    expect(sent.status).toBe(200)
    expect(await sent.json()).toMatchObject({ messages: [{ content: "Hi." }, { content: "Hello." }] })
    expect((await fetch(new Request(`${origin}/api/conversations/${id}`, as("bob")))).status).toBe(404)
    expect((await fetch(new Request(`${origin}/api/conversations/${id}`))).status).toBe(401)
    expect((await app.pawl.as("ada").answer(id)).text).toBe("Hello.")
  })

  test("streams a run as events", async () => {
    await using app = await open()
    const { id } = await start(app.pawl.fetch, "ada")
    const request = as("ada", send("Hi."))
    const headers = { ...(request.headers as Record<string, string>), accept: "text/event-stream" }
    const response = await app.pawl.fetch(
      new Request(`${origin}/api/conversations/${id}/messages`, { ...request, headers }),
    )
    expect(response.headers.get("content-type")).toContain("text/event-stream")
    expect(await response.text()).toMatch(/event: run_started[^]*event: done\ndata: {"status":"completed"}/)
  })

  test("refuses the app's cookie in a request that another site's page has caused", async () => {
    await using app = await open()
    for (const site of ["cross-site", "same-site", undefined]) {
      const headers = {
        cookie: "user=ada",
        "content-type": "application/json",
        ...(site && { "sec-fetch-site": site }),
      }
      const response = await app.pawl.fetch(
        new Request(`${origin}/api/conversations`, { method: "POST", body: "{}", headers }),
      )
      expect(response.status, site).toBe(403)
    }
  })

  test("refuses a host that is neither this machine nor the public address", async () => {
    await using app = await open({ ...http, publicUrl: "https://app.example" })
    const get = (url: string) => app.pawl.fetch(new Request(`${url}/api/conversations`, as("ada")))
    expect((await get("https://app.example")).status).toBe(200)
    expect((await get(origin)).status).toBe(200)
    expect((await get("https://evil.example")).status).toBe(421)
  })

  test("works under a prefix, also if the framework removes it", async () => {
    await using app = await open({ ...http, prefix: "/agents" })
    const hono = new Hono().mount("/agents", (request) => app.pawl.fetch(request))
    expect((await app.pawl.fetch(new Request(`${origin}/agents/api/conversations`, as("ada")))).status).toBe(200)
    expect((await hono.fetch(new Request(`${origin}/agents/api/conversations`, as("ada")))).status).toBe(200)
    expect((await app.pawl.fetch(new Request(`${origin}/agentsapi/conversations`, as("ada")))).status).toBe(404)
  })

  test("without a session of the app, a token is needed and works until it is revoked", async () => {
    await using app = await open()
    const { pawl } = app
    await expect(pawl.tokens.create({ user: "ada" })).rejects.toMatchObject({ code: "person_unknown" })
    await pawl.people.create("ada")
    const { id, token } = await pawl.tokens.create({ user: "ada", scopes: ["read"], name: "nightly", days: 7 })
    const get = (init?: RequestInit) =>
      pawl.fetch(new Request(`${origin}/api/conversations`, { headers: { authorization: `Bearer ${token}` }, ...init }))
    expect((await get()).status).toBe(200)
    expect((await get({ method: "POST" })).status).toBe(403)
    expect((await pawl.tokens.list("ada")).items).toMatchObject([{ id, name: "nightly", scopes: ["read"] }])
    await pawl.tokens.revoke("ada", id)
    expect((await get()).status).toBe(401)
    await expect(pawl.tokens.revoke("ada", id)).rejects.toMatchObject({ code: "not_found" })
  })

  test("serves several first requests at once with one server", async () => {
    await using app = await open()
    const get = () => app.pawl.fetch(new Request(`${origin}/api/conversations`, as("ada")))
    const responses = await Promise.all(Array.from({ length: 8 }, get))
    expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200))
  })

  test("after closing, a request is refused like every other call", async () => {
    await using app = await open()
    await app.pawl.close()
    await expect(app.pawl.fetch(new Request(`${origin}/healthz`))).rejects.toThrow("This Pawl instance is closed")
  })
})

test("an approval over fetch and one by code race: one of them counts, and the write runs once", async () => {
  let paid = 0
  const pay = defineTool({
    ...{ name: "pay", description: "Pays.", effect: "write", input: z.object({}) },
    run: () => `Paid ${++paid} time.`,
  })
  const models = scripted(calls("pay", {}), says("Done."))
  await using pawl = await openPawl({ store: ":memory:", models, http, agents: [{ name: "clerk", tools: [pay] }] })
  await pawl.people.create("ada")
  const answer = await pawl.as("ada").ask("Pay.")
  if (answer.status !== "waiting") throw new Error(answer.status)
  const [{ id } = { id: "" }] = answer.proposals
  const url = `${origin}/api/agent/proposals/${id}/commit`
  const outcomes = await Promise.allSettled([
    pawl.fetch(new Request(url, as("ada", { method: "POST" }))).then(({ status }) => status),
    pawl.as("ada").proposals.approve(id),
  ])
  expect(paid).toBe(1)
  const [http_, code] = outcomes
  expect([http_, code].filter((each) => each.status === "fulfilled" && each.value !== 409)).toHaveLength(1)
})

test("the events of a run become the message stream that the AI SDK reads", async () => {
  const look = defineTool({
    ...{ name: "look", description: "Looks.", effect: "read", input: z.object({}) },
    run: () => "Seen.",
  })
  const models = scripted(calls("look", {}), says("It is there.", { chunks: 3 }))
  await using pawl = await openPawl({ store: ":memory:", models, agents: [{ name: "a", tools: [look] }] })
  const response = pawl.toUIMessageStreamResponse(pawl.stream("Is it there?"))
  expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1")
  const last = await readMessage(response)
  const [conversation] = (await pawl.conversations.list()).items
  expect(last).toMatchObject({ role: "assistant", metadata: { pawl: { conversationId: conversation?.id } } })
  expect(last?.parts).toMatchObject([
    { type: "step-start" },
    { type: "tool-look", state: "output-available", output: "Seen." },
    { type: "step-start" },
    { type: "text", text: "It is there.", state: "done" },
  ])
})

const pay = defineTool({
  ...{ name: "pay", description: "Pays.", effect: "write", input: z.object({}) },
  run: () => "Paid.",
})

test("after an approval the rest of a run is streamed to useChat, and a run that is over ends", async () => {
  const models = scripted(calls("pay", {}), says("It is paid.", { chunks: 3 }))
  await using pawl = await openPawl({ store: ":memory:", models, agents: [{ name: "a", tools: [pay] }] })
  const asked = await readMessage(pawl.toUIMessageStreamResponse(pawl.stream("Pay.")))
  expect(asked?.parts.at(-1)).toMatchObject({ type: "tool-pay", state: "approval-requested" })
  const [proposal] = (await pawl.proposals.list({ status: "pending" })).items
  const { runId, cursor } = await pawl.answer(proposal!.conversationId)
  const rest = pawl.toUIMessageStreamResponse(pawl.observe(runId, { after: cursor }))
  await pawl.proposals.approve(proposal!.id)
  const message = await readMessage(rest, asked)
  expect(message).toMatchObject({ id: runId, metadata: { pawl: { status: "completed" } } })
  expect(message?.parts).toMatchObject([
    { type: "step-start" },
    { type: "tool-pay", state: "output-available", output: "Paid." },
    { type: "step-start" },
    { type: "text", text: "It is paid.", state: "done" },
  ])
  const over = pawl.observe(runId, { after: (await pawl.answer(proposal!.conversationId)).cursor })
  expect((await readMessage(pawl.toUIMessageStreamResponse(over), message))?.parts).toEqual(message?.parts)
})

test("events without their beginning are refused, instead of an empty response", async () => {
  await using pawl = await openPawl({ store: ":memory:", models: scripted(says("Hello.")) })
  const some = async function* () {
    for await (const event of pawl.stream("Hi.")) if (event.type !== "run_started") yield event
  }
  await expect(pawl.toUIMessageStreamResponse(some()).text()).rejects.toThrow(/run_started/)
  await expect(pawl.toAGUIStreamResponse(some()).text()).rejects.toThrow(/run_started/)
})

test("a stream that waits for a sub-agent's write ends for useChat with its status", async () => {
  const models = scripted(calls("ask_clerk", { task: "Pay." }), calls("pay", {}))
  const clerk = { name: "clerk", description: "Pays.", tools: [pay] }
  await using pawl = await openPawl({ store: ":memory:", models, agents: [{ name: "a", tools: [agentTool(clerk)] }] })
  const message = await readMessage(pawl.toUIMessageStreamResponse(pawl.stream("Let the clerk pay.")))
  expect(message).toMatchObject({ metadata: { pawl: { status: "paused" } } })
})

test("a run is streamed to a frontend of AG-UI, with its proposals as interrupts", async () => {
  const model = scripted(
    ...[calls("pay", {}), says("Paid.", { chunks: 3 })],
    ...[calls("ask_clerk", { task: "Pay." }), calls("pay", {}), says("Done."), says("It is paid.")],
  )
  const clerk = { name: "clerk", description: "Pays.", tools: [pay] }
  const agents = [{ name: "a", tools: [pay, agentTool(clerk)] }]
  await using pawl = await openPawl({ store: ":memory:", models: model, agents })
  let response: () => Response
  const fetch = () => Promise.resolve(response())
  const frontend = new HttpAgent({ url: "http://localhost/run", headers: {}, threadId: "theirs", fetch })

  frontend.addMessage({ id: "one", role: "user", content: "Pay." })
  response = () => pawl.toAGUIStreamResponse(pawl.stream("Pay."), { threadId: "theirs" })
  await frontend.runAgent({})
  const [proposal] = (await pawl.proposals.list({ status: "pending" })).items
  expect(frontend.pendingInterrupts).toMatchObject([{ id: proposal?.id }])
  await pawl.proposals.approve(proposal?.id ?? "")
  const { conversationId: conversation, runId } = await pawl.answer(proposal?.conversationId ?? "")

  const again = new HttpAgent({ url: "http://localhost/run", headers: {}, fetch })
  response = () => pawl.toAGUIStreamResponse(pawl.observe(runId), { headers: { "x-app": "1" } })
  expect(response().headers.get("x-app")).toBe("1")
  await again.runAgent({})
  expect(again.messages.map(({ role, content = "" }) => [role, content])).toEqual([
    ["assistant", ""],
    ["tool", "Paid."],
    ["assistant", "Paid."],
  ])

  // A sub-agent's write is an interrupt of the calling run, which has not ended.
  response = () => pawl.toAGUIStreamResponse(pawl.stream("Let the clerk pay.", { conversation }))
  await again.runAgent({})
  const [delegated] = (await pawl.proposals.list({ status: "pending" })).items
  expect(again.pendingInterrupts).toMatchObject([{ id: delegated?.id }])
})
