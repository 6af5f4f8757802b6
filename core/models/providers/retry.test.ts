import { describe, expect, test } from "vitest"
import { AppError } from "../../protocol/errors.ts"
import { anyRequest, chatChunk, chatReply, collect, ProviderServer, sse, streamHead } from "./server.fixture.ts"
import { ModelRegistry } from "../registry.ts"
import { type RetryPolicy, retryRequest } from "./retry.ts"
import { retryAfter } from "../network/retry-after.ts"
import { TurnedClock } from "../../engine/turned-clock.fixture.ts"

const rateLimited = (retryAfterMs?: number) =>
  new AppError("rate_limited", "slow down", { retriable: true, retryAfterMs })

/** Runs a request that fails with these, one a time, then succeeds; says how long was waited each time. */
async function waitsOf(failures: readonly Error[], policy: RetryPolicy = {}) {
  const clock = new TurnedClock()
  const waits: number[] = []
  const left = [...failures]
  const result = retryRequest(
    async () => {
      const error = left.shift()
      if (error) throw error
      return "answer"
    },
    { clock, random: () => 1, ...policy },
    new AbortController().signal,
  )
  const outcome = result.catch((error: unknown) => error)
  for (let turn = 0; turn < 10; turn++) {
    await new Promise(setImmediate)
    const [wait] = clock.pending
    if (wait === undefined) break
    waits.push(wait)
    clock.turn(wait)
  }
  return { outcome: await outcome, waits }
}

describe("a failed request", () => {
  test("is repeated after a wait that doubles", async () => {
    expect(await waitsOf([rateLimited(), rateLimited()])).toEqual({ outcome: "answer", waits: [500, 1000] })
  })

  test("has a random wait of up to half as long", async () => {
    expect(await waitsOf([rateLimited()], { random: () => 0 })).toEqual({ outcome: "answer", waits: [250] })
  })

  test("is sent at most three times", async () => {
    const last = rateLimited()
    const { outcome, waits } = await waitsOf([rateLimited(), rateLimited(), last, rateLimited()])
    expect(outcome).toBe(last)
    expect(waits).toHaveLength(2)
  })

  test("waits as long as the provider asks, up to a minute; beyond that it is not repeated", async () => {
    expect((await waitsOf([rateLimited(7000)])).waits).toEqual([7000])
    expect((await waitsOf([rateLimited(60_000)])).waits).toEqual([60_000])
    const later = rateLimited(3_600_000)
    expect(await waitsOf([later])).toEqual({ outcome: later, waits: [] })
    const over = rateLimited(7000)
    expect(await waitsOf([over], { maxWaitMs: 100 })).toEqual({ outcome: over, waits: [] })
    expect((await waitsOf([rateLimited()], { maxWaitMs: 100 })).waits).toEqual([100])
  })

  test("is not repeated if that would not help", async () => {
    const refused = new AppError("auth", "no", { retriable: false })
    expect(await waitsOf([refused])).toEqual({ outcome: refused, waits: [] })
    const bug = new Error("bug")
    expect(await waitsOf([bug])).toEqual({ outcome: bug, waits: [] })
  })

  test("stops waiting as soon as it is cancelled", async () => {
    const controller = new AbortController()
    const clock = new TurnedClock()
    const failing = async () => {
      throw rateLimited()
    }
    const result = retryRequest(failing, { clock }, controller.signal)
    await new Promise(setImmediate)
    controller.abort("enough")
    await expect(result).rejects.toBe("enough")
    expect(clock.pending).toEqual([])
  })
})

test("Retry-After is read as seconds, as a date, and to the millisecond", () => {
  const now = Date.UTC(2026, 10, 15, 12)
  const at = (time: string) => `2026-11-15T${time}Z`
  expect(retryAfter({ "retry-after": "3" }, now)).toEqual({ retryAfterMs: 3000, retryAt: at("12:00:03.000") })
  expect(retryAfter({ "retry-after": "Sun, 15 Nov 2026 12:00:20 GMT" }, now)).toEqual({
    ...{ retryAfterMs: 20_000, retryAt: at("12:00:20.000") },
  })
  expect(retryAfter({ "retry-after": "Sun, 15 Nov 2026 11:00:00 GMT" }, now)).toEqual({
    ...{ retryAfterMs: 0, retryAt: at("12:00:00.000") },
  })
  expect(retryAfter({ "retry-after-ms": "120", "retry-after": "3" }, now)).toEqual({
    ...{ retryAfterMs: 120, retryAt: at("12:00:00.120") },
  })
  expect(retryAfter({ "retry-after": "1e20" }, now)).toEqual({ retryAfterMs: 1e23 })
  expect(retryAfter({ "retry-after": "soon" }, now)).toEqual({})
  expect(retryAfter({}, now)).toEqual({})
})

test.each<[says: string, ms: number | undefined]>([
  ["Please retry in 58.821668433s.", 58_822],
  ["Please retry in 2m3s.", 123_000],
  ["Please retry in 1h0m0.5s.", 3_600_500],
  ["Please retry in 20ms.", undefined],
  ["Please retry in a while.", undefined],
])("“%s” is a wait of %s ms without a header about it", (says, ms) => {
  expect(retryAfter({}, 0, says).retryAfterMs).toBe(ms)
  expect(retryAfter({ "retry-after": "4" }, 0, says).retryAfterMs).toBe(4000)
})

describe("over HTTP", () => {
  const models = (url: string) =>
    new ModelRegistry({ lmStudioEndpoint: url }, { retry: { random: () => 0, maxWaitMs: 5 } })

  test.each([429, 500, 502, 503, 529])(
    "a %i is tried again and the answer handed on as if nothing had been",
    async (status) => {
      await using server = await ProviderServer.open((response) => {
        if (server.received.length < 3) response.writeHead(status, { "retry-after-ms": "1" }).end("{}")
        else streamHead(response).end(chatReply("Hello"))
      })
      const parts = await collect(await models(server.url).get("qwen"))
      expect(parts.map((part) => part.type)).toEqual(["text", "finish"])
      expect(server.received).toHaveLength(3)
    },
  )

  test("a noticeable wait is reported before it starts, with its cause and length", async () => {
    const clock = new TurnedClock()
    await using server = await ProviderServer.open((response) => {
      if (server.received.length < 2) response.writeHead(429, { "retry-after": "20" }).end("{}")
      else streamHead(response).end(chatReply("Hello"))
    })
    const model = await new ModelRegistry({ lmStudioEndpoint: server.url }, { clock }).get("qwen")
    const reply = model.stream(anyRequest, new AbortController().signal)[Symbol.asyncIterator]()
    const waiting = {
      type: "waiting",
      provider: "LM Studio",
      because: "rate_limited",
      ms: 20_000,
      attempt: 2,
      attempts: 3,
    }
    expect(await reply.next()).toEqual({ done: false, value: waiting })
    const next = reply.next()
    while (clock.pending.length === 0) await new Promise(setImmediate)
    expect(server.received).toHaveLength(1)
    clock.turn(20_000)
    expect((await next).value).toEqual({ type: "text", text: "Hello" })
  })

  test.each([429, 503])(
    "a %i that asks for an hour ends it at once, and says when it makes sense again",
    async (status) => {
      const clock = new TurnedClock()
      await using server = await ProviderServer.open((response) => {
        response.writeHead(status, { "retry-after": "3600" }).end("{}")
      })
      const model = await new ModelRegistry({ lmStudioEndpoint: server.url }, { clock }).get("qwen")
      const time = new Date(Math.ceil((clock.now() + 3_600_000) / 60_000) * 60_000).toISOString().slice(0, 16)
      await expect(collect(model)).rejects.toMatchObject({
        code: status === 429 ? "rate_limited" : "overloaded",
        message: expect.stringContaining(`Try again in 60 min, after ${time.replace("T", " ")} UTC.`),
      })
      expect(server.received).toHaveLength(1)
      expect(clock.pending).toEqual([])
    },
  )

  test("a connection that is lost before the first part is retried", async () => {
    await using server = await ProviderServer.open((response) => {
      if (server.received.length === 1) response.destroy()
      else if (server.received.length === 2) streamHead(response).destroy()
      else streamHead(response).end(chatReply("Hello"))
    })
    expect(await collect(await models(server.url).get("qwen"))).toHaveLength(2)
  })

  test("a reply that fails after its first part is not retried, because a client may have shown it", async () => {
    await using server = await ProviderServer.open((response) => {
      streamHead(response).write(sse(chatChunk({ content: "Hel" })), () => setTimeout(() => response.destroy(), 20))
    })
    await expect(collect(await models(server.url).get("qwen"))).rejects.toMatchObject({
      code: "provider_error",
      details: { retriable: true },
    })
    expect(server.received).toHaveLength(1)
  })
})
