import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import { z } from "zod"
import { always, scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { calls, finishes, replies, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { currentScript } from "../../support/current-script.ts"
import { pdf, png } from "../../support/message-files/images.ts"
import { Face } from "../../support/server/face.ts"
import { openAiAs } from "../openai-client.ts"

// The cases and required fields of Open Responses' compliance runner, specification 2026-04-24.

const int = z.number().int()
const outputText = z.object({ type: z.literal("output_text"), text: z.string(), annotations: z.array(z.unknown()) })
const itemStatus = z.enum(["in_progress", "completed", "incomplete"])
const item = z.discriminatedUnion("type", [
  z.object({
    ...{ type: z.literal("message"), id: z.string(), status: itemStatus, role: z.literal("assistant") },
    content: z.array(outputText),
  }),
  z.object({
    ...{ type: z.literal("function_call"), id: z.string(), call_id: z.string(), name: z.string() },
    ...{ arguments: z.string(), status: itemStatus },
  }),
])
const usage = z.object({
  ...{ input_tokens: int, output_tokens: int, total_tokens: int },
  input_tokens_details: z.object({ cached_tokens: int }),
  output_tokens_details: z.object({ reasoning_tokens: int }),
})
const resource = z.object({
  ...{ id: z.string(), object: z.literal("response"), created_at: int, completed_at: int.nullable() },
  ...{ status: z.string(), model: z.string(), previous_response_id: z.string().nullable() },
  incomplete_details: z.object({ reason: z.string() }).nullable(),
  instructions: z.string().nullable(),
  output: z.array(item),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(z.unknown()),
  tool_choice: z.enum(["none", "auto", "required"]),
  truncation: z.enum(["auto", "disabled"]),
  text: z.object({ format: z.object({ type: z.enum(["text", "json_object", "json_schema"]) }) }),
  reasoning: z.object({ effort: z.string().nullable(), summary: z.string().nullable() }).nullable(),
  ...{ parallel_tool_calls: z.boolean(), store: z.boolean(), background: z.boolean(), service_tier: z.string() },
  ...{ top_p: z.number(), presence_penalty: z.number(), frequency_penalty: z.number(), temperature: z.number() },
  ...{ top_logprobs: int, max_output_tokens: int.nullable(), max_tool_calls: int.nullable() },
  ...{ usage: usage.nullable(), metadata: z.record(z.string(), z.string()) },
  ...{ safety_identifier: z.string().nullable(), prompt_cache_key: z.string().nullable() },
})

const at = { item_id: z.string(), output_index: int }
const inPart = { ...at, content_index: int }
const eventOf = <const Type extends string>(type: Type, fields: z.ZodRawShape) =>
  z.object({ type: z.literal(`response.${type}`), sequence_number: int, ...fields })
const event = z.union([
  ...(["created", "in_progress", "completed", "failed", "incomplete"] as const).map((type) =>
    eventOf(type, { response: resource }),
  ),
  ...(["output_item.added", "output_item.done"] as const).map((type) => eventOf(type, { output_index: int, item })),
  ...(["content_part.added", "content_part.done"] as const).map((type) =>
    eventOf(type, { ...inPart, part: outputText }),
  ),
  eventOf("output_text.delta", { ...inPart, delta: z.string() }),
  eventOf("output_text.done", { ...inPart, text: z.string() }),
  eventOf("function_call_arguments.delta", { ...at, delta: z.string() }),
  eventOf("function_call_arguments.done", { ...at, arguments: z.string() }),
])

const message = (role: string, content: unknown) => ({ type: "message", role, content })
const ask = (text: string) => [message("user", text)]
const attached = (part: object) => [message("user", [{ type: "input_text", text: "What is it?" }, part])]
const base64 = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString("base64")}`
const parameters = { type: "object", properties: { location: { type: "string" } }, required: ["location"] }
const tools = [{ type: "function", name: "get_weather", description: "The weather at a location", parameters }]
const weather = { input: ask("How is the weather in Oslo?"), tools }

describe.each(anyDatabase)("the cases of Open Responses on $name", ({ create }) => {
  let face: Face
  let token: string
  let current: ScriptedModel
  const model = Object.assign(
    currentScript(() => current),
    { sees: { images: true, files: true } },
  )
  const plays = (...script: ScriptedReply[]) => (current = scripted(...script))
  const post = (body: object) =>
    face.fetch(
      new Request("http://localhost/v1/responses", {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "pawl/test", ...body }),
      }),
    )
  const respond = async (body: object) => {
    const response = await post(body)
    expect(response.status).toBe(200)
    return resource.parse(await response.json())
  }
  const stream = async (body: object) => {
    const text = await (await post({ ...body, stream: true })).text()
    return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => event.parse(JSON.parse(data)))
  }

  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model })
    token = (await openAiAs(face, "ada")).token
    return () => face[Symbol.asyncDispose]()
  })
  beforeEach(() => void plays(always(replies(says("Hello to you.", { chunks: 3 }), finishes("stop")))))

  test.each([
    ["basic-response", ask("Say hello in exactly 3 words.")],
    ["system-prompt", [message("system", "You are a pirate."), ...ask("Say hello.")]],
    ["image-input", attached({ type: "input_image", image_url: base64("image/png", png(3, 3)) })],
    [
      "file-input",
      attached({ type: "input_file", filename: "a.pdf", file_data: base64("application/pdf", pdf("Title")) }),
    ],
    ["multi-turn", [...ask("I am Ada."), message("assistant", "Hello Ada!"), ...ask("What is my name?")]],
  ])("%s", async (_id, input) => {
    expect(await respond({ input })).toMatchObject({
      status: "completed",
      completed_at: expect.any(Number),
      output: [{ type: "message" }],
    })
  })

  test("streaming-response", async () => {
    const events = await stream({ input: ask("Count from 1 to 5.") })
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { status: "completed" } })
  })

  test("tool-calling and tool-calling-streaming", async () => {
    plays(always(calls("client-get_weather", { location: "Oslo" })))
    expect((await respond(weather)).output).toMatchObject([{ type: "function_call", name: "get_weather" }])
    const types = (await stream(weather)).map(({ type }) => type)
    for (const type of ["output_item.added", "function_call_arguments.delta", "function_call_arguments.done"])
      expect(types).toContain(`response.${type}`)
  })

  test("function-call-roundtrip, if the model may decide whether it calls", async () => {
    plays(calls("client-get_weather", { location: "Oslo" }), says("It rains."))
    const first = await respond(weather)
    const [call] = first.output
    const result = { type: "function_call_output", call_id: (call as { call_id: string }).call_id, output: "rain" }
    const second = await respond({ previous_response_id: first.id, input: [result] })
    expect(second).toMatchObject({ status: "completed", output: [{ content: [{ text: "It rains." }] }] })
  })

  test("previous-response-id", async () => {
    const first = await respond({ input: "Remember this code word: papaya." })
    const second = await respond({ input: "What was it?", previous_response_id: first.id })
    expect(second).toMatchObject({ status: "completed", previous_response_id: first.id })
  })

  test.each([
    ["function-call-roundtrip: a forced call", { tool_choice: { type: "function", name: "get_weather" }, tools }],
    ["file-search", { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }],
    ["offline-web-search", { tools: [{ type: "web_search", external_web_access: false }] }],
  ])("%s is refused, as the documentation states", async (_id, body) => {
    const refused = await post({ input: "How is the weather?", ...body })
    expect([refused.status, ((await refused.json()) as { error: { type: string } }).error.type]).toEqual([
      ...[400, "invalid_request_error"],
    ])
  })

  test.each(["responses", "uploads", "batches", "vector_stores"])("GET /v1/%s does not exist", async (path) => {
    const headers = { authorization: `Bearer ${token}`, upgrade: "websocket", connection: "upgrade" }
    const refused = await face.fetch(new Request(`http://localhost/v1/${path}`, { headers }))
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      ...[404, "not_found"],
    ])
  })
})
