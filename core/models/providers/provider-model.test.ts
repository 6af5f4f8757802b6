import type { LanguageModelV4, LanguageModelV4FinishReason, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { describe, expect, test } from "vitest"
import { anyRequest, collect } from "./server.fixture.ts"
import { ProviderModel } from "./provider-model.ts"

const usage = {
  inputTokens: { total: 12, noCache: 2, cacheRead: 10, cacheWrite: undefined },
  outputTokens: { total: 7, text: 4, reasoning: 3 },
}
const finish = (unified: LanguageModelV4FinishReason["unified"], raw?: string): LanguageModelV4StreamPart => ({
  type: "finish",
  finishReason: { unified, raw },
  usage,
})
const text = (delta: string): LanguageModelV4StreamPart => ({ type: "text-delta", id: "1", delta })
const call: LanguageModelV4StreamPart = { type: "tool-call", toolCallId: "x", toolName: "find", input: '{"q":1}' }

/** A model whose adapter streams these parts, once a request. */
function streaming(...parts: readonly LanguageModelV4StreamPart[]): ProviderModel {
  return modelOf(() => ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart>)
}

function modelOf(stream: (signal: AbortSignal) => ReadableStream<LanguageModelV4StreamPart>): ProviderModel {
  const adapter = {
    specificationVersion: "v4",
    doStream: async ({ abortSignal }: { abortSignal: AbortSignal }) => ({ stream: stream(abortSignal) }),
  } as unknown as LanguageModelV4
  const load = async () => adapter
  return new ProviderModel({ name: "m", provider: "p", contextTokens: 1000, load, retry: { retries: 0 } })
}

const typesOf = (parts: readonly { type: string }[]) => parts.map((part) => part.type)

describe("a reply", () => {
  test("comes as text deltas, then one finish with what it used", async () => {
    expect(
      await collect(streaming({ type: "stream-start", warnings: [] }, text("Hel"), text("lo"), finish("stop", "stop"))),
    ).toEqual([
      { type: "text", text: "Hel" },
      { type: "text", text: "lo" },
      {
        type: "finish",
        finish: "stop",
        usage: { inputTokens: 12, outputTokens: 7, cachedTokens: 10, reasoningTokens: 3 },
      },
    ])
  })

  test.each(["reasoning-delta", "tool-input-delta"] as const)(
    "whose %s never ends is cut, and the provider's stream is cancelled",
    async (type) => {
      let [pieces, stopped] = [0, false]
      const endless = new ReadableStream<LanguageModelV4StreamPart>({
        pull: (controller) => controller.enqueue({ type, id: "r", delta: "x".repeat(++pieces && 100_000) }),
        cancel: () => void (stopped = true),
      })
      const parts = await collect(modelOf(() => endless))
      expect(parts).toMatchObject([{ type: "finish", finish: "limit" }])
      await expect.poll(() => stopped).toBe(true)
      expect(pieces).toBeLessThan(50)
    },
  )

  test("contains each block of reasoning once, complete, with the metadata of all its pieces", async () => {
    const parts = await collect(
      streaming(
        { type: "reasoning-start", id: "r", providerMetadata: { p: { itemId: "1" } } },
        { type: "reasoning-delta", id: "r", delta: "I th" },
        { type: "reasoning-delta", id: "r", delta: "ink" },
        { type: "reasoning-end", id: "r", providerMetadata: { p: { signature: "s" } } },
        { type: "reasoning-start", id: "hidden" },
        { type: "reasoning-end", id: "hidden", providerMetadata: { p: { encrypted: "e" } } },
        { type: "reasoning-start", id: "nothing" },
        { type: "reasoning-end", id: "nothing" },
        finish("stop"),
      ),
    )
    expect(parts.slice(0, -1)).toEqual([
      { type: "reasoning", text: "I think", metadata: { p: { itemId: "1", signature: "s" } } },
      { type: "reasoning", text: "", metadata: { p: { encrypted: "e" } } },
    ])
  })

  test("streams its reasoning from the first sign of it, without encrypted reasoning", async () => {
    const onActivity: string[] = []
    const model = streaming(
      { type: "reasoning-start", id: "r", providerMetadata: { p: { redactedData: "sealed" } } },
      { type: "reasoning-delta", id: "r", delta: "I th" },
      { type: "reasoning-delta", id: "r", delta: "ink", providerMetadata: { p: { signature: "sealed" } } },
      { type: "reasoning-end", id: "r", providerMetadata: { p: { encrypted: "sealed" } } },
      text("So."),
      finish("stop"),
    )
    for await (const part of model.stream(anyRequest, new AbortController().signal))
      onActivity.push(part.type === "thinking" ? `thinking:${part.text}` : part.type)
    expect(onActivity).toEqual(["thinking:", "thinking:I th", "thinking:ink", "reasoning", "text", "finish"])
  })

  test("holds each call once, with its arguments as the model wrote them and metadata under the model's name", async () => {
    const signed: LanguageModelV4StreamPart = { ...call, input: "{oops", providerMetadata: { p: { id: 1 } } }
    const parts = await collect(
      streaming(
        { type: "tool-input-start", id: "x", toolName: "find" },
        { type: "tool-input-delta", id: "x", delta: "{" },
        call,
        signed,
        finish("tool-calls", "tool_calls"),
      ),
    )
    expect(parts.slice(0, -1)).toEqual([
      { type: "call", name: "find", input: '{"q":1}' },
      { type: "call", name: "find", input: "{oops", metadata: { model: "m", providerOptions: { p: { id: 1 } } } },
    ])
    expect(parts.at(-1)).toHaveProperty("finish", "calls")
  })

  test("omits the provider's own tools, files and sources, and unknown parts", async () => {
    const parts = await collect(
      streaming(
        { ...call, providerExecuted: true },
        { type: "source", sourceType: "url", id: "s", url: "https://example.org" },
        { type: "file", mediaType: "image/png", data: { type: "data", data: "" } },
        { type: "hologram" } as unknown as LanguageModelV4StreamPart,
        { type: "ping" },
        text("x"),
        finish("stop"),
      ),
    )
    expect(typesOf(parts)).toEqual(["text", "finish"])
  })

  test.each([
    ["length", "limit"],
    ["content-filter", "refused"],
    ["stop", "stop"],
  ] as const)("that ends for %s finishes as %s", async (unified, expected) => {
    expect((await collect(streaming(text("x"), finish(unified, "raw")))).at(-1)).toHaveProperty("finish", expected)
  })

  test("that ends for a reason of the provider's own is finished, if there is one", async () => {
    expect((await collect(streaming(text("x"), finish("other", "eos")))).at(-1)).toHaveProperty("finish", "stop")
    expect((await collect(streaming(call, finish("other", "function")))).at(-1)).toHaveProperty("finish", "calls")
  })

  test("has null counts if the provider sends none", async () => {
    const unknown = {
      total: undefined,
      noCache: undefined,
      cacheRead: undefined,
      cacheWrite: undefined,
      text: undefined,
      reasoning: undefined,
    }
    const end = {
      ...finish("stop"),
      usage: { inputTokens: unknown, outputTokens: unknown },
    } as LanguageModelV4StreamPart
    expect((await collect(streaming(end))).at(-1)).toHaveProperty("usage.inputTokens", null)
  })
})

describe("never a finished answer", () => {
  test.each<[what: string, parts: LanguageModelV4StreamPart[]]>([
    ["a stream without a finish", [text("x")]],
    ["an empty stream", []],
    ["a finish without a reason", [text("x"), finish("other")]],
    ["an interrupted one", [text("x"), finish("interrupted")]],
    ["one that finished with an error", [text("x"), finish("error", "error")]],
    ["an error that goes by another name", [text("x"), finish("other", "insufficient_system_resource")]],
    ["calls that were announced and did not come", [text("x"), finish("tool-calls", "tool_calls")]],
  ])("is %s", async (_, parts) => {
    await expect(collect(streaming(...parts))).rejects.toMatchObject({
      code: "provider_error",
      details: { retriable: true },
    })
  })

  test("is a stream with an error in it, even if a finish follows", async () => {
    const model = streaming(
      text("x"),
      { type: "error", error: { message: "boom", type: "server_error" } },
      finish("stop"),
    )
    await expect(collect(model)).rejects.toMatchObject({ code: "provider_error", message: "p: boom" })
  })

  test("is a stream that fails in the middle", async () => {
    const model = modelOf((): ReadableStream<LanguageModelV4StreamPart> => {
      let count = 0
      return new ReadableStream({
        pull(controller) {
          if (count++ === 0) controller.enqueue(text("x"))
          else controller.error(new TypeError("terminated"))
        },
      })
    })
    await expect(collect(model)).rejects.toMatchObject({ code: "provider_error", details: { retriable: true } })
  })
})

describe("a cancelled request", () => {
  test("ends at once with the caller's reason, even if the adapter does not listen", async () => {
    const controller = new AbortController()
    const model = modelOf(() => new ReadableStream({ start: (stream) => stream.enqueue(text("x")) }))
    const parts = model.stream(anyRequest, controller.signal)
    await parts.next()
    const waiting = parts.next()
    controller.abort("enough")
    await expect(waiting).rejects.toBe("enough")
  })

  test("is never sent when it was cancelled before", async () => {
    let asked = false
    const model = modelOf(() => {
      asked = true
      return new ReadableStream()
    })
    await expect(collect(model, anyRequest, AbortSignal.abort("no"))).rejects.toBe("no")
    expect(asked).toBe(false)
  })

  test("stops reading from the provider when its caller stops", async () => {
    let signal: AbortSignal | undefined
    const model = modelOf((given) => {
      signal = given
      return new ReadableStream({ pull: (stream) => stream.enqueue(text("x")) })
    })
    for await (const _ of model.stream(anyRequest, new AbortController().signal)) break
    expect(signal?.aborted).toBe(true)
  })
})

test("an adapter that cannot be loaded is a typed error, and is tried again with the next request", async () => {
  let attempts = 0
  const load = async () => {
    attempts++
    throw new Error("baseURL must be a non-empty string")
  }
  const model = new ProviderModel({ name: "m", provider: "p", contextTokens: 1, load })
  await expect(collect(model)).rejects.toMatchObject({ code: "provider_error" })
  await expect(collect(model)).rejects.toMatchObject({ code: "provider_error" })
  expect(attempts).toBe(2)
})
