import { describe, expect, test } from "vitest"
import type { HistoryMessage, ModelRequest } from "../../../engine/model.ts"
import type { CallId } from "../../../protocol/ids.ts"
import { ModelRegistry } from "../../registry.ts"
import { anyRequest, collect, ProviderServer, sse, streamHead } from "../server.fixture.ts"

const chunk = (parts: readonly object[], finishReason?: string) => ({
  candidates: [{ content: { role: "model", parts }, ...(finishReason ? { finishReason } : {}), index: 0 }],
  usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3, thoughtsTokenCount: 4, totalTokenCount: 19 },
})

const modelAt = (url: string, id = "gemini-3-pro") =>
  new ModelRegistry({ geminiApiKey: "AIza-key", geminiBaseUrl: url }, { retry: { retries: 0 } }).get(`google/${id}`)

async function readingOf(...chunks: readonly object[]) {
  await using server = await ProviderServer.open((response) => streamHead(response).end(sse(...chunks)))
  return await collect(await modelAt(server.url))
}

describe("a reply of Gemini", () => {
  test("has reasoning, text and calls, each with its signature", async () => {
    const parts = await readingOf(
      chunk([{ text: "Hm.", thought: true }]),
      chunk([{ text: "I look." }]),
      chunk([{ functionCall: { name: "find", args: { q: "a" } }, thoughtSignature: "signed" }]),
      chunk([], "STOP"),
    )
    expect(parts).toMatchObject([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "I look." },
      { type: "call", name: "find", input: '{"q":"a"}' },
      { type: "finish", finish: "calls", usage: { inputTokens: 12, outputTokens: 7, reasoningTokens: 4 } },
    ])
    expect(parts[2]).toHaveProperty("metadata", {
      model: "google/gemini-3-pro",
      providerOptions: { google: { thoughtSignature: "signed" } },
    })
  })

  test("that was cut is an error", async () => {
    await expect(readingOf(chunk([{ text: "Hel" }]))).rejects.toMatchObject({ code: "provider_error" })
  })

  test.each([
    ["SAFETY", "refused"],
    ["MAX_TOKENS", "limit"],
    ["STOP", "stop"],
  ])("that ends with %s is %s", async (reason, finish) => {
    expect((await readingOf(chunk([{ text: "x" }], reason))).at(-1)).toMatchObject({ type: "finish", finish })
  })

  test("to a wrong key is reported as such, without the key", async () => {
    await using server = await ProviderServer.open((response, { headers }) => {
      response.writeHead(400, { "content-type": "application/json" })
      const message = `API key not valid: ${headers["x-goog-api-key"]}`
      response.end(JSON.stringify({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }))
    })
    const asked = collect(await modelAt(server.url))
    await expect(asked).rejects.toMatchObject({ code: "auth", message: expect.not.stringContaining("AIza-key") })
  })
})

describe("what is sent to Gemini", () => {
  const call = (n: number, own?: string): HistoryMessage => ({
    role: "assistant",
    parts: [
      {
        ...{ type: "call", id: `call_${n}` as CallId, name: "find", input: { n } },
        ...(own ? { metadata: { model: own, providerOptions: { google: { thoughtSignature: "signed" } } } } : {}),
      },
    ],
  })
  const result = (n: number, status: "ok" | "denied"): HistoryMessage => ({
    role: "tool",
    results: [{ callId: `call_${n}` as CallId, name: "find", status, text: status }],
  })
  const request: ModelRequest = {
    ...anyRequest,
    history: [
      { role: "user", text: "Both." },
      ...[call(1, "google/gemini-3-pro"), result(1, "ok"), call(2, "another/model"), result(2, "denied")],
      { role: "user", text: "Go on." },
    ],
    tools: [{ name: "find", description: "d", inputSchema: { type: "object", properties: {} } }],
    toolChoice: "none",
  }

  test("has its own address, key and format, with each call before its result", async () => {
    await using server = await ProviderServer.open((response) => response.writeHead(400).end("{}"))
    await collect(await modelAt(server.url), request).catch(() => {})
    const [{ path, headers, body } = {} as never] = server.received
    expect(path).toBe("/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse")
    expect([headers["x-goog-api-key"], headers.authorization]).toEqual(["AIza-key", undefined])
    expect(body.systemInstruction).toEqual({ parts: [{ text: "Be brief." }] })
    expect(body.toolConfig).toMatchObject({ functionCallingConfig: { mode: "NONE" } })
    expect(body.tools).toMatchObject([{ functionDeclarations: [{ name: "find" }] }])
    expect(body.contents).toMatchObject([
      { role: "user", parts: [{ text: "Both." }] },
      { role: "model", parts: [{ functionCall: { name: "find", args: { n: 1 } }, thoughtSignature: "signed" }] },
      { role: "user", parts: [{ functionResponse: { name: "find" } }] },
      // Another model's call has no signature, and Gemini 3 refuses a call without one.
      {
        role: "model",
        parts: [
          { functionCall: { name: "find", args: { n: 2 } }, thoughtSignature: "skip_thought_signature_validator" },
        ],
      },
      { role: "user", parts: [{ functionResponse: { name: "find" } }] },
      { role: "user", parts: [{ text: "Go on." }] },
    ])
    expect(JSON.stringify(body.contents[4])).toContain("denied")
  })
})
