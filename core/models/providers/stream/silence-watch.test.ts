import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import { anyRequest, chatChunk, collect, ProviderServer, sse, streamHead } from "../server.fixture.ts"
import { ModelRegistry } from "../../registry.ts"
import { TurnedClock } from "../../../engine/turned-clock.fixture.ts"
import { SilenceWatch } from "./silence-watch.ts"
import { watchedFetch } from "./watched-fetch.ts"

/** A server whose answer the test writes by hand, and a model on a clock that the test turns. */
async function silentProvider(idleSeconds?: number) {
  const asked = Promise.withResolvers<ServerResponse>()
  const server = await ProviderServer.open((response) => asked.resolve(response))
  const clock = new TurnedClock()
  const models = new ModelRegistry({ lmStudioEndpoint: server.url, idleSeconds }, { clock })
  return { server, clock, model: await models.get("qwen"), asked: asked.promise }
}

/** The outcome of a promise after all pending work, or a symbol if it is still pending. */
async function settled(promise: Promise<unknown>): Promise<unknown> {
  const waiting = Symbol("still waiting")
  const late = new Promise((resolve) => setTimeout(resolve, 50, waiting))
  const outcome = await Promise.race([promise.catch((error: unknown) => error), late])
  return outcome === waiting ? "waiting" : outcome
}

const silent = expect.objectContaining({ code: "model_silent" })

describe("a provider that stays silent", () => {
  test("before the first byte is given up after 60 s, and the connection is closed", async () => {
    const { server, clock, model, asked } = await silentProvider()
    await using _ = server
    const reply = collect(model)
    const response = await asked
    const closed = once(response, "close")
    clock.turn(59_999)
    expect(await settled(reply)).toBe("waiting")
    clock.turn(1)
    await expect(reply).rejects.toEqual(silent)
    await closed
    expect(server.received).toHaveLength(1)
  })

  test("is given up after the same time if the clock is set meanwhile, forward or back", async () => {
    for (const aheadMs of [3_600_000, -3_600_000]) {
      const asked = Promise.withResolvers<ServerResponse>()
      await using server = await ProviderServer.open((response) => asked.resolve(response))
      const turned = new TurnedClock()
      let ahead = 0
      const alarm = turned.alarm.bind(turned)
      const clock = { alarm, now: () => turned.now() + ahead, monotonic: () => turned.monotonic() }
      const models = new ModelRegistry({ lmStudioEndpoint: server.url, idleSeconds: 10 }, { clock })
      const reply = collect(await models.get("qwen"))
      const stream = streamHead(await asked.promise)
      turned.turn(5000)
      stream.write(sse(chatChunk({ content: "Hel" })))
      expect(await settled(reply)).toBe("waiting")
      ahead = aheadMs
      turned.turn(9999)
      expect(await settled(reply)).toBe("waiting")
      turned.turn(1)
      await expect(reply).rejects.toEqual(silent)
    }
  })

  test("after its headers is given up as well", async () => {
    const { server, clock, model, asked } = await silentProvider()
    await using _ = server
    const reply = collect(model)
    streamHead(await asked)
    expect(await settled(reply)).toBe("waiting")
    clock.turn(60_000)
    await expect(reply).rejects.toEqual(silent)
  })

  test("in the middle of its reply is given up; received parts were passed on", async () => {
    const { server, clock, model, asked } = await silentProvider(10)
    await using _ = server
    const shown: unknown[] = []
    const reply = (async () => {
      for await (const part of model.stream(anyRequest, new AbortController().signal)) shown.push(part)
    })()
    streamHead(await asked).write(sse(chatChunk({ content: "Hel" })))
    await expect.poll(() => shown).toHaveLength(1)
    expect(await settled(reply)).toBe("waiting")
    clock.turn(10_000)
    await expect(reply).rejects.toEqual(silent)
    // As one that was cut would be.
    await expect(reply).rejects.toMatchObject({ details: { retriable: true } })
    expect(shown).toEqual([{ type: "text", text: "Hel" }])
    expect(server.received).toHaveLength(1)
  })

  test("is named in the error, with the time it had", async () => {
    const { server, clock, model, asked } = await silentProvider(5)
    await using _ = server
    const reply = collect(model)
    await asked
    clock.turn(5000)
    await expect(reply).rejects.toThrow("LM Studio sent nothing for 5 s")
  })
})

describe("activity is", () => {
  test("any byte, such as a keep-alive comment", async () => {
    const { server, clock, model, asked } = await silentProvider()
    await using _ = server
    const reply = collect(model)
    const response = streamHead(await asked)
    for (let minute = 0; minute < 3; minute++) {
      response.write(": keep-alive\n\n")
      expect(await settled(reply)).toBe("waiting")
      clock.turn(59_000)
    }
    response.end(sse(chatChunk({ content: "At last." }), chatChunk({}, "stop")))
    expect(await reply).toHaveLength(2)
  })

  test("not the time of a slow reader", async () => {
    const { server, clock, model, asked } = await silentProvider()
    await using _ = server
    const parts = model.stream(anyRequest, new AbortController().signal)[Symbol.asyncIterator]()
    const first = parts.next()
    const response = streamHead(await asked)
    response.write(sse(chatChunk({ content: "a" })))
    await first
    clock.turn(600_000)
    response.end(sse(chatChunk({ content: "b" }), chatChunk({}, "stop")))
    expect(await parts.next()).toEqual({ done: false, value: { type: "text", text: "b" } })
  })
})

test("a reply that ended, was given up or was cancelled leaves no timer", async () => {
  const { server, clock, model, asked } = await silentProvider()
  await using _ = server
  const controller = new AbortController()
  const cancelled = collect(model, anyRequest, controller.signal)
  await asked
  controller.abort("enough")
  await expect(cancelled).rejects.toBe("enough")
  expect(clock.pending).toEqual([])
})

test("received bytes that wait for their turn do not count as silence", async () => {
  const clock = new TurnedClock()
  const answer = async () => new Response(new ReadableStream({ pull: (all) => all.enqueue(new Uint8Array(16 * 1024)) }))
  const open = async () => {
    const watch = new SilenceWatch(new AbortController().signal, { provider: "x", clock })
    const { body } = await watchedFetch(answer)("http://x", { signal: watch.signal })
    return { watch, reader: body!.getReader() }
  }
  const [first, second] = [await open(), await open()]
  // The first has all that is handed on in this turn of the event loop, the second waits for the next one.
  await first.reader.read()
  let isHandedOn = false
  const read = second.reader.read().finally(() => (isHandedOn = true))
  for (let step = 0; step < 100; step++) await Promise.resolve()
  clock.turn(3_600_000)
  expect([isHandedOn, second.watch.signal.aborted]).toEqual([false, false])
  await read
  clock.turn(60_000)
  expect(second.watch.signal.reason).toEqual(silent)
  first.watch.close()
})
