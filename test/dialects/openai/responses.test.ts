import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import { always, scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { calls, fails, finishes, replies, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type OpenAiPerson, openAiAs, refusalOf } from "../openai-client.ts"
import { Face, type Visitor } from "../../support/server/face.ts"
import { currentScript } from "../../support/current-script.ts"

const USAGE = { inputTokens: 20, outputTokens: 5, cachedTokens: 8, reasoningTokens: 2 }

describe.each(anyDatabase)("the openai package asks for responses on $name", ({ create }) => {
  let url: string
  let face: Face
  let ada: OpenAiPerson
  let native: Visitor
  let current: ScriptedModel

  const model = currentScript(() => current)
  const plays = (...script: ScriptedReply[]) => (current = scripted(...script))
  const respond = (body: object, headers: Record<string, string> = {}) =>
    ada.client.responses.create({ model: "pawl/test", ...body }, { headers })
  const wordsOf = async (id: string) =>
    (await native.get(`/api/conversations/${id}`)).body.messages.map(({ content }: { content: string }) => content)

  beforeAll(async () => {
    url = (await create()).url
    face = await Face.open({ url, model })
    ada = await openAiAs(face, "ada")
    native = await face.as("ada")
    return () => face[Symbol.asyncDispose]()
  })
  beforeEach(() => void plays(always(replies(says("Four of them.", { chunks: 4 }), finishes("stop", USAGE)))))

  test("a response is complete, with its usage, and is a run of a conversation", async () => {
    const response = await respond({ input: "How many?", instructions: "Be brief." })
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      output_text: "Four of them.",
      usage: { input_tokens: 20, output_tokens: 5, total_tokens: 25, output_tokens_details: { reasoning_tokens: 2 } },
      pawl: { status: "completed" },
    })
    expect(response.conversation.id).toBe(response.pawl.conversation_id)
    expect(await wordsOf(response.conversation.id)).toEqual(["How many?", "Four of them."])
  })

  test("the client assembles the same response from a stream", async () => {
    const script = () => plays(replies(says("Let me look."), calls("unknown_tool")), says("Four.", { chunks: 2 }))
    script()
    const whole = await respond({ input: "How many?" })
    script()
    const stream = ada.client.responses.stream({ model: "pawl/test", input: "How many?" })
    const types = new Set<string>()
    for await (const { type } of stream) types.add(type)
    const put = await stream.finalResponse()
    expect(types).toContain("response.output_text.delta")
    const texts = ({ output }: { output: { content: { text: string }[] }[] }) =>
      output.map((item) => item.content[0]?.text)
    expect([texts(put), texts(whole)]).toEqual([
      ["Let me look.", "Four."],
      ["Let me look.", "Four."],
    ])
  })

  test("continues the previous response, also after a restart, or a conversation", async () => {
    const first = await respond({ input: "One" })
    await using later = await Face.open({ url, model })
    const again = (await openAiAs(later, "ada")).client
    const second = await again.responses.create({
      ...{ model: "pawl/test", input: "Two", previous_response_id: first.id },
    })
    expect(second).toMatchObject({ conversation: first.conversation, previous_response_id: first.id })
    const third = await respond({ input: "Three", conversation: { id: first.conversation.id } })
    expect(third.conversation).toEqual(first.conversation)
    const said = (await wordsOf(first.conversation.id)).filter((_: string, at: number) => at % 2 === 0)
    expect(said).toEqual(["One", "Two", "Three"])
    const { history } = current.received.at(-1)!
    expect(history.filter(({ role }) => role === "user")).toHaveLength(3)
  })

  test("another person's response is not found, and a response that was already continued cannot be continued again", async () => {
    const first = await respond({ input: "One" })
    const bob = (await openAiAs(face, "bob")).client
    const asBob = (more: object) => refusalOf(bob.responses.create({ model: "pawl/test", input: "Mine?", ...more }))
    const refusals = [
      await asBob({ previous_response_id: first.id }),
      await asBob({ conversation: first.conversation.id }),
      await asBob({ previous_response_id: "resp_0" }),
      await asBob({ previous_response_id: "nonsense" }),
      await asBob({ conversation: "conv_0" }),
    ]
    expect(refusals.map(({ status, error }) => [status, error])).toEqual(refusals.map(() => [404, refusals[4].error]))
    await respond({ input: "Two", previous_response_id: first.id })
    const behind = await refusalOf(respond({ input: "Three", previous_response_id: first.id }))
    expect([behind.status, behind.param]).toEqual([400, "previous_response_id"])
    expect(await wordsOf(first.conversation.id)).toHaveLength(4)
  })

  test("a repeated request with a key is the same run, also for a continued response", async () => {
    const first = await respond({ input: "One" })
    const headers = { "idempotency-key": "r-1" }
    const body = { input: "Two", previous_response_id: first.id }
    const [a, b] = [await respond(body, headers), await respond(body, headers)]
    expect([b.id, b.output]).toEqual([a.id, a.output])
    expect(current.received).toHaveLength(2)
  })

  test("a pending write is described as text, and a new message replaces it", async () => {
    plays(calls("create_task", { title: "Buy milk" }), always(says("As you like.")))
    const waiting = await respond({ model: "pawl/workspace", input: "milk" })
    expect(waiting.output_text).toMatch(/^Waiting for your decision: Create task "Buy milk"/)
    expect([waiting.status, waiting.pawl.status, waiting.pawl.proposals.length]).toEqual(["completed", "paused", 1])
    const next = { model: "pawl/workspace", input: "Never mind.", previous_response_id: waiting.id }
    expect((await respond(next)).output_text).toBe("As you like.")
    expect((await native.get(`/api/agent/proposals/${waiting.pawl.proposals[0].id}`)).body.status).toBe("superseded")
  })

  test("an answer with a JSON format is valid JSON", async () => {
    plays(says("nonsense"), says('{"count": 4}'))
    const schema = { type: "object", properties: { count: { type: "number" } }, required: ["count"] }
    const text = { format: { type: "json_schema", name: "answer", schema } }
    const answer = await respond({ input: "How many?", text })
    expect([answer.output_text, answer.output.length]).toEqual(['{"count": 4}', 1])
    plays(calls("create_task", { title: "Buy milk" }))
    const waits = await respond({ model: "pawl/workspace", input: "milk", text })
    expect(waits).toMatchObject({ status: "incomplete", pawl: { status: "paused" } })
  })

  test("new messages in a continued response reach the model before its question, or are refused if too long", async () => {
    const first = await respond({ input: "One" })
    const documents = (text: string) => [
      { role: "user", content: text },
      { role: "user", content: "What is it?" },
    ]
    for (const more of [{ previous_response_id: first.id }, { conversation: first.conversation.id }]) {
      const word = Object.keys(more)[0]!
      await respond({ input: documents(`The secret is ${word}.`), ...more })
      expect(JSON.stringify(current.received.at(-1)!.history)).toContain(`user: The secret is ${word}.`)
    }
    const conversation = first.conversation.id
    const long = await refusalOf(respond({ input: documents("x".repeat(50_000)), conversation }))
    expect([long.status, long.param]).toEqual([400, "input"])
  })

  test.each<[what: string, body: object]>([
    ["store: false, since everything is kept", { store: false }],
    ["a tool that is no function", { tools: [{ type: "web_search" }] }],
    ["the result of a function without its text", { input: [{ type: "function_call_output", call_id: "c" }] }],
    ["work in the background that is not a yes or no", { background: "yes" }],
    ["two things to go on with", { conversation: "conv_1", previous_response_id: "resp_1" }],
    ["a conversation that ends with a reply", { input: [{ role: "assistant", content: "Yes." }] }],
    ["an image", { input: [{ role: "user", content: [{ type: "input_image", image_url: "x" }] }] }],
    ["content that is a number", { input: [{ role: "user", content: 7 }] }],
    ["parts that are none", { input: [{ role: "user", content: [null, 1] }] }],
  ])("%s is refused", async (_what, body) => {
    const refused = await refusalOf(respond({ input: "Hello", ...body }))
    expect([refused.status, refused.code]).toEqual([400, "bad_request"])
    expect(current.received).toHaveLength(0)
  })

  test("a failed run is an error, and in a stream a failed response", async () => {
    plays(always(fails("quota_spent")))
    const failed = await refusalOf(respond({ input: "Hello" }))
    expect([failed.status, failed.code, failed.headers.get("x-should-retry")]).toEqual([502, "quota_spent", "false"])
    const events = []
    for await (const event of await respond({ input: "Hello", stream: true })) events.push(event)
    expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { error: { code: "quota_spent" } } })
  })
})
