import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import { always, scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { calls, fails, finishes, hangs, replies, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type OpenAiPerson, openAiAs, refusalOf } from "../openai-client.ts"
import { Face, Visitor } from "../../support/server/face.ts"
import { currentScript } from "../../support/current-script.ts"

const USAGE = { inputTokens: 20, outputTokens: 5, cachedTokens: 8, reasoningTokens: 2 }
const ASKED = { role: "user", content: "Hello" }
const CALL = { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: { name: "f" } }] }
const ask = (content: string, more: object = {}) => ({
  model: "pawl/test",
  messages: [{ role: "user", content }],
  ...more,
})

describe.each(anyDatabase)("the openai package asks for chat completions on $name", ({ create }) => {
  let face: Face
  let ada: OpenAiPerson
  let native: Visitor
  let current: ScriptedModel

  const plays = (...script: ScriptedReply[]) => (current = scripted(...script))
  const chat = (body: object, headers: Record<string, string> = {}) =>
    ada.client.chat.completions.create(body, { headers })
  const streamed = async (body: object, headers?: Record<string, string>) => {
    const chunks = []
    for await (const chunk of await chat({ ...body, stream: true }, headers)) chunks.push(chunk)
    return chunks
  }
  const textOf = (chunks: readonly { choices: { delta: { content?: string } }[] }[]) =>
    chunks.map(({ choices: [choice] }) => choice?.delta.content ?? "").join("")
  const conversations = async () => (await native.get("/api/conversations?limit=200")).body.items as { id: string }[]

  beforeAll(async () => {
    const model = currentScript(() => current)
    face = await Face.open({ url: (await create()).url, model })
    ada = await openAiAs(face, "ada")
    native = await face.as("ada")
    return () => face[Symbol.asyncDispose]()
  })
  beforeEach(() => void plays(always(replies(says("Four of them."), finishes("stop", USAGE)))))

  test("agents are listed as models, alone and with each available model", async () => {
    const { data } = await ada.client.models.list()
    const ids = data.map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(["pawl/workspace", "pawl/test", "pawl/test/scripted"]))
    expect(ids.filter((id) => id.includes("locked"))).toEqual([])
  })

  test("an answer is complete, with its usage, and stored in an ordinary conversation", async () => {
    const answer = await chat(ask("How many?", { user: "bob", seed: 7 }))
    expect(answer).toMatchObject({
      object: "chat.completion",
      model: "pawl/test",
      choices: [{ index: 0, message: { role: "assistant", content: "Four of them." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25, prompt_tokens_details: { cached_tokens: 8 } },
      pawl: { status: "completed", proposals: [] },
    })
    const { conversation_id, run_id } = answer.pawl
    const { agent, mode, messages } = (await native.get(`/api/conversations/${conversation_id}`)).body
    expect([agent, mode, ...messages.map(({ content }: { content: string }) => content)]).toEqual([
      ...["test", "confirm", "How many?", "Four of them."],
    ])
    expect((await native.get(`/api/runs/${run_id}`)).body).toMatchObject({ status: "completed" })
  })

  test("streaming gives the same text, with the usage at the end if requested", async () => {
    plays(always(replies(says("Four of them.", { chunks: 5 }), finishes("stop", USAGE))))
    const chunks = await streamed(ask("How many?", { stream_options: { include_usage: true } }))
    expect(textOf(chunks)).toBe("Four of them.")
    expect(chunks.length).toBeGreaterThan(3)
    expect(chunks[0].choices[0].delta).toEqual({ role: "assistant", content: "" })
    expect(chunks.at(-2).choices[0]).toMatchObject({ delta: {}, finish_reason: "stop" })
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 25 } })
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    const plain = await streamed(ask("How many?"))
    expect(plain.map(({ usage }) => usage)).toEqual(plain.map(() => undefined))
  })

  test("a run of several replies reads as in our own API", async () => {
    const script = () => plays(replies(says("Let me look."), calls("unknown_tool")), says("Four."))
    script()
    const answer = await chat(ask("How many?"))
    script()
    const bits = await streamed(ask("How many?"))
    script()
    const { messages } = (await native.say(await native.begin({ agent: "test" }), "How many?")).body
    const said = messages.filter(({ role }: { role: string }) => role === "assistant")
    const whole = said.map(({ content }: { content: string }) => content).join("\n\n")
    expect(whole).toBe("Let me look.\n\nFour.")
    expect([answer.choices[0].message.content, textOf(bits)]).toEqual([whole, whole])
    // The stored conversation is the same too, for each way to get the answer.
    type Told = Record<"role" | "content" | "status", string> & { toolCalls: { name: string }[] | null }
    const transcript = (told: Told[]) =>
      told.map(({ role, content, status, toolCalls }) => [role, content, status, toolCalls?.map(({ name }) => name)])
    const ids = [answer.pawl.conversation_id, bits.at(-1).pawl?.conversation_id ?? (await conversations())[1]?.id]
    for (const id of ids)
      expect(transcript((await native.get(`/api/conversations/${id}`)).body.messages)).toEqual(transcript(messages))
  })

  test("messages before the last one are untrusted context, and not stored as replies", async () => {
    const answer = await chat({
      model: "pawl/test",
      messages: [
        { role: "system", content: "Answer like a pirate." },
        { role: "user", content: [{ type: "text", text: "I am Ada." }] },
        { role: "assistant", content: "I have deleted everything." },
        { role: "user", content: "Who am I?" },
      ],
    })
    const { messages } = (await native.get(`/api/conversations/${answer.pawl.conversation_id}`)).body
    expect(messages).toHaveLength(2)
    expect(messages[0]).toMatchObject({
      content: "Who am I?",
      brought: [
        { name: "conversation_history", text: "user: I am Ada.\nassistant: I have deleted everything." },
        { name: "instructions", text: "Answer like a pirate." },
      ],
    })
    const { history } = current.received.at(-1)!
    expect(history.filter(({ role }) => role !== "user")).toEqual([])
    expect(JSON.stringify(history)).toContain("Words from outside")
  })

  test("settings reach the model, and ignored ones are named", async () => {
    const body = { temperature: 0.2, max_completion_tokens: 50, stop: ["END"], reasoning_effort: "low" }
    const { response } = await chat(ask("Hello", { ...body, top_p: 0.5, user: "x" })).withResponse()
    expect(response.headers.get("x-pawl-ignored")).toBe("user, top_p")
    const { settings } = current.received.at(-1)!.request
    expect(settings).toMatchObject({ temperature: 0.2, maxOutputTokens: 50, stop: ["END"], effort: "low" })
  })

  test("an answer with a JSON format matches the schema that was sent", async () => {
    const schema = { type: "object", properties: { count: { type: "number" } }, required: ["count"] }
    const response_format = { type: "json_schema", json_schema: { name: "answer", schema } }
    const body = ask("How many?", { response_format })
    const script = () =>
      plays(replies(says("Let me look."), calls("unknown_tool")), says("nonsense"), says('{"count": 4}', { chunks: 3 }))
    script()
    expect((await chat(body)).choices[0]).toMatchObject({
      ...{ message: { content: '{"count": 4}' }, finish_reason: "stop" },
    })
    script()
    expect(textOf(await streamed(body))).toBe('{"count": 4}')
    plays(says('Here it is:\n```json\n{"count": 4}\n```'))
    expect(JSON.parse((await chat(body)).choices[0].message.content)).toEqual({ count: 4 })
    plays(calls("create_task", { title: "Buy milk" }))
    const waits = await chat({ ...body, model: "pawl/workspace" })
    expect([waits.pawl.status, waits.choices[0].finish_reason]).toEqual(["paused", "content_filter"])
  })

  test("continues the conversation that a header names, if it has the same person and agent", async () => {
    const { data, response } = await chat(ask("One")).withResponse()
    const id = data.pawl.conversation_id
    expect(response.headers.get("x-pawl-conversation")).toBe(id)
    const headers = { "x-pawl-conversation": id }
    const turns = ["One", "Two"].map((content) => ({ role: "user", content }))
    const next = await chat({ ...ask("Two"), messages: turns }, headers).withResponse()
    expect([next.data.pawl.conversation_id, next.response.headers.get("x-pawl-ignored")]).toEqual([id, "messages"])
    expect((await native.get(`/api/conversations/${id}`)).body.messages).toHaveLength(4)
    const bob = await openAiAs(face, "bob")
    const theirs = await refusalOf(bob.client.chat.completions.create(ask("Mine?"), { headers }))
    const none = { headers: { "x-pawl-conversation": "conv_0" } }
    const missing = await refusalOf(bob.client.chat.completions.create(ask("Mine?"), none))
    expect([theirs.status, theirs.code, theirs.error]).toEqual([404, "not_found", missing.error])
    const other = await refusalOf(chat(ask("Three", { model: "pawl/workspace" }), headers))
    expect([other.status, other.code, other.param]).toEqual([400, "bad_request", "model"])
  })

  test("`user` selects no person: the conversation belongs to the token's", async () => {
    const bob = (await (await face.as("bob")).get("/api/auth/me")).body.user
    const answer = await chat(ask("Hello", { user: bob.id, safety_identifier: bob.id }))
    const read = `/api/conversations/${answer.pawl.conversation_id}`
    expect((await (await face.as("bob")).get(read)).status).toBe(404)
    expect((await native.get(read)).status).toBe(200)
  })

  test("a pending write is described as text; the decision is made in Pawl, and counts once", async () => {
    plays(calls("create_task", { title: "Buy milk" }), always(says("Done.")))
    const answer = await chat(ask("milk", { model: "pawl/workspace" }))
    const [proposal] = answer.pawl.proposals
    expect(answer.pawl.status).toBe("paused")
    expect(answer.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: {
        content: expect.stringMatching(/^Waiting for your decision: Create task "Buy milk".*\(prop_\w+\)\. No/),
      },
    })
    const path = `/api/agent/proposals/${proposal.id}`
    const decided = await Promise.all([native.post(`${path}/commit`), native.post(`${path}/reject`, {})])
    expect(decided.map(({ status }) => status).sort()).toEqual([200, 409])
    plays(calls("create_task", { title: "Buy bread" }), always(says("Done.")))
    const bits = await streamed(ask("bread", { model: "pawl/workspace" }))
    expect(textOf(bits)).toMatch(/^Waiting for your decision: /)
    expect(bits.at(-1).pawl.proposals).toHaveLength(1)
  })

  test("a header refuses writes instead of asking for approval", async () => {
    plays(calls("create_task", { title: "Buy milk" }), always(says("I may not.")))
    const answer = await chat(ask("milk", { model: "pawl/workspace" }), { "x-pawl-writes": "refuse" })
    expect([answer.pawl.status, answer.choices[0].message.content]).toEqual(["completed", "I may not."])
    expect((await native.get(`/api/conversations/${answer.pawl.conversation_id}`)).body.mode).toBe("read-only")
    expect((await refusalOf(chat(ask("x"), { "x-pawl-writes": "maybe" }))).status).toBe(400)
  })

  test.each<[what: string, body: object, status: number, code: string]>([
    ["an unknown agent", { model: "pawl/nobody" }, 400, "unknown_agent"],
    ["a name that is none of ours", { model: "gpt-5" }, 400, "unknown_model"],
    ["a model that cannot be used", { model: "pawl/test/locked" }, 400, "model_unavailable"],
    ["functions in the older way", { functions: [{ name: "f" }] }, 400, "bad_request"],
    ["two answers", { n: 2 }, 400, "bad_request"],
    ["a field that nobody knows", { temprature: 1 }, 400, "bad_request"],
    ["an image", { messages: [{ role: "user", content: [{ type: "image_url" }] }] }, 400, "bad_request"],
    ["a result of a call that is not ours", { messages: [CALL, { role: "tool", content: "4" }] }, 404, "not_found"],
    ["nothing in the place of something else", { top_logprobs: 1 }, 400, "bad_request"],
    [
      "rules that would be cut",
      { messages: [{ role: "system", content: "x".repeat(50_000) }, ASKED] },
      400,
      "bad_request",
    ],
    ["no message", { messages: [] }, 400, "bad_request"],
    ["a role that is none", { messages: [{ role: 7 }] }, 400, "bad_request"],
    ["a temperature of a thousand", { temperature: 1000 }, 400, "bad_request"],
  ])("%s is refused in OpenAI's format, and no conversation is created", async (_what, body, status, code) => {
    const before = (await conversations()).length
    const refused = await refusalOf(chat(ask("Hello", body)))
    expect([refused.status, refused.code, refused.type]).toEqual([status, code, "invalid_request_error"])
    expect((await conversations()).length).toBe(before)
  })

  test("parameters without effect are accepted", async () => {
    const body = { n: 1, tools: [], tool_choice: "auto", logprobs: false, response_format: { type: "text" } }
    expect((await chat(ask("Hello", body))).choices[0].message.content).toBe("Four of them.")
  })

  test("missing permission, a missing token and an unknown address are reported in OpenAI's format", async () => {
    const reader = await openAiAs(face, "ada", "read")
    const refused = await refusalOf(reader.client.chat.completions.create(ask("Hello")))
    expect([refused.status, refused.code, refused.type]).toEqual([403, "forbidden", "permission_error"])
    const stranger = await new Visitor((request) => face.fetch(request), undefined).get("/v1/models")
    expect([stranger.status, stranger.body.error.code]).toEqual([401, "unauthenticated"])
    const nowhere = await native.get("/v1/batches")
    expect([nowhere.status, nowhere.body.error.code]).toEqual([404, "not_found"])
  })

  test("a failed run is an error with its code and without retry, and ends a stream without its end marker", async () => {
    plays(always(fails("quota_spent")))
    const failed = await refusalOf(chat(ask("Hello")))
    expect([failed.status, failed.code, failed.headers.get("x-should-retry")]).toEqual([502, "quota_spent", "false"])
    const broken = await refusalOf(streamed(ask("Hello")))
    expect(broken.code).toBe("quota_spent")
    const raw = await native.post("/v1/chat/completions", ask("Hello", { stream: true }))
    expect(raw.text).not.toContain("[DONE]")
  })

  test("a request with a key happens once, however often it is sent and wherever its answer was cut", async () => {
    plays(always(says("Four of them.", { chunks: 4 })))
    const before = (await conversations()).length
    const headers = { "idempotency-key": "k-1" }
    const body = ask("How many?", { stream: true })
    const whole = await native.post("/v1/chat/completions", body, headers)
    expect(whole.text.endsWith("data: [DONE]\n\n")).toBe(true)
    for (let cut = 1; cut < whole.text.length; cut += 97) {
      const response = await native.send("POST", "/v1/chat/completions", { body, headers })
      const reader = response.body!.getReader()
      for (let read = 0; read < cut;) read += (await reader.read()).value?.length ?? cut
      await reader.cancel()
    }
    const again = await native.post("/v1/chat/completions", body, headers)
    const unit = (text: string) => text.replaceAll(/"created":\d+/g, "")
    expect(unit(textIn(again.text))).toBe(unit(textIn(whole.text)))
    expect([(await conversations()).length - before, current.received.length]).toEqual([1, 1])
    const misused = await native.post("/v1/chat/completions", ask("Another"), headers)
    expect([misused.status, misused.body.error.code]).toEqual([422, "key_reused"])
    const both = await Promise.all([1, 2].map(() => chat(ask("At once"), { "idempotency-key": "k-2" })))
    expect(both[0].id).toBe(both[1].id)
    const bob = await openAiAs(face, "bob")
    const theirs = await bob.client.chat.completions.create(ask("At once"), { headers: { "idempotency-key": "k-2" } })
    expect(theirs.id).not.toBe(both[0].id)
  })

  test("a busy conversation refuses a request, and does not queue it invisibly", async () => {
    plays(replies(says("Half"), hangs()))
    const stream = await chat(ask("One", { stream: true })).withResponse()
    const id = stream.response.headers.get("x-pawl-conversation")!
    const headers = { "x-pawl-conversation": id }
    const busy = await refusalOf(chat(ask("Two"), headers))
    expect([busy.status, busy.code]).toEqual([409, "busy"])
    expect((await native.get(`/api/conversations/${id}/queue`)).body.items).toEqual([])
    await native.post(`/api/conversations/${id}/cancel`)
    const stopped = await refusalOf(drained(stream.data))
    expect(stopped.code).toBe("cancelled")
  })

  test("a stream that ends because its token is revoked is an error, not a complete answer", async () => {
    plays(replies(says("Half"), hangs()))
    const eve = await openAiAs(face, "ada")
    const stream = await eve.client.chat.completions.create(ask("One", { stream: true }))
    const chunks = stream[Symbol.asyncIterator]()
    for (let text = ""; text === "";) text = (await chunks.next()).value.choices[0].delta.content
    const rest = refusalOf(drained({ [Symbol.asyncIterator]: () => chunks }))
    expect((await native.delete(`/api/tokens/${eve.tokenId}`)).status).toBe(204)
    expect(await rest).toBeInstanceOf(Error)
  })

  test("a disconnect does not stop the run, which is stored to its end", async () => {
    plays(always(says("Four of them.", { chunks: 4 })))
    const response = await native.send("POST", "/v1/chat/completions", { body: ask("How many?", { stream: true }) })
    await response.body!.cancel()
    const id = response.headers.get("x-pawl-conversation")!
    await face.pawl.runtime.rest(id as never)
    expect((await native.get(`/api/conversations/${id}`)).body.messages.at(-1).content).toBe("Four of them.")
  })
})

async function drained(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

/** Returns the concatenated text of a stream's chunks. */
const textIn = (stream: string): string =>
  stream
    .split("\n\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)).choices[0]?.delta.content ?? "")
    .join("")
