import { describe, expect, test } from "vitest"
import type { UnknownFrame } from "../../core/protocol/frames.ts"
import type { ClientError } from "../client-error.ts"
import type { StreamState } from "./follow.ts"
import { playing, problem, written } from "../scripted-server.fixture.ts"

const ID = "conv_1"
const row = (position: number, type = "step") => written(String(position), type, { n: position })
const text = (id: string, words: string) => written(id, "text_delta", { text: words })
const shown = ({ id, type, data }: UnknownFrame) =>
  type === "text_delta" ? `${id} ${(data as { text: string }).text}` : `${id} ${type}`

/** Returns the first frames of a stream, then leaves it. */
async function take(stream: AsyncIterable<UnknownFrame>, count: number): Promise<string[]> {
  const frames: string[] = []
  for await (const frame of stream) {
    frames.push(shown(frame))
    if (frames.length === count) break
  }
  return frames
}

const failed = (stream: AsyncIterable<UnknownFrame>) =>
  take(stream, Number.POSITIVE_INFINITY).then(
    () => expect.fail("it ended"),
    (error: unknown) => error as ClientError,
  )

describe("a followed stream", () => {
  test("continues after the last frame, over as many connections as needed", async () => {
    const { client, asked } = playing([
      { says: [row(1), row(2)], then: "breaks" },
      { says: [row(3), text("3.4", "abcd")], then: "breaks" },
      { says: [text("3.6", "ef"), row(4)], then: "stays" },
    ])
    expect(await take(client.events(ID), 6)).toEqual(["1 step", "2 step", "3 step", "3.4 abcd", "3.6 ef", "4 step"])
    expect(asked.map(({ path, headers }) => [path, headers["last-event-id"], headers.accept])).toEqual([
      ["/api/conversations/conv_1/events?after=0", undefined, "text/event-stream"],
      ["/api/conversations/conv_1/events", "2", "text/event-stream"],
      ["/api/conversations/conv_1/events", "3.4", "text/event-stream"],
    ])
  })

  test("starts after the given cursor, also when the first connections fail", async () => {
    const { client, asked } = playing(["refused", { then: "breaks" }, { says: [row(13)], then: "stays" }])
    expect(await take(client.events(ID, { after: "12.340" }), 1)).toEqual(["13 step"])
    expect(asked.map(({ path }) => path)).toEqual(Array(3).fill("/api/conversations/conv_1/events?after=12.340"))
  })

  test("gives no frame twice, even if a connection repeats it", async () => {
    const { client } = playing([
      { says: [row(1), row(2), text("2.5", "hello")], then: "breaks" },
      {
        says: [row(1), row(2), text("2.3", "hel"), text("2.5", "lo"), text("2.11", "llo world"), row(3)],
        then: "breaks",
      },
      { says: [text("2.11", "hello world"), row(3), row(4, "run_ended"), written("4", "done")], then: "breaks" },
      { says: [row(4, "run_ended"), written("4", "usage"), written("4", "done"), row(5)], then: "stays" },
    ])
    expect(await take(client.events(ID), 8)).toEqual([
      "1 step",
      "2 step",
      "2.5 hello",
      "2.11  world",
      "3 step",
      "4 run_ended",
      "4 done",
      "4 usage",
    ])
  })

  test("skips none: a gap causes a new request, and is reported if it stays", async () => {
    const { client, asked } = playing([
      { says: [row(1), row(3)], then: "stays" },
      { says: [row(2), text("2.9", "orld")], then: "stays" },
      { says: [text("2.5", "hello"), row(3)], then: "stays" },
    ])
    expect(await take(client.events(ID), 4)).toEqual(["1 step", "2 step", "2.5 hello", "3 step"])
    expect(asked.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "1", "2"])

    const always = playing(Array(3).fill({ says: [row(1), row(3)], then: "stays" }))
    const error = await failed(always.client.events(ID))
    expect(error.code).toBe("unexpected_answer")
    expect(error.message).toContain("watchConversation (GET /api/conversations/{id}/events)")
    expect(error.message).toContain("at 3 follows 1")
  })

  test("knows that an offset before `restarted` belongs to the failed attempt", async () => {
    const { client } = playing([
      { says: [row(1), text("1.9", "I was abo")], then: "breaks" },
      { says: [row(2, "restarted"), text("2.6", "Again."), row(3, "message")], then: "stays" },
    ])
    expect(await take(client.events(ID), 5)).toEqual([
      "1 step",
      "1.9 I was abo",
      "2 restarted",
      "2.6 Again.",
      "3 message",
    ])
  })

  test("keeps the open reply when another row is added", async () => {
    const { client } = playing([
      { says: [row(1), text("1.3", "abc"), written("2.3", "settings")], then: "breaks" },
      { says: [text("2.6", "def")], then: "stays" },
    ])
    expect(await take(client.events(ID), 4)).toEqual(["1 step", "1.3 abc", "2.3 settings", "2.6 def"])
  })

  test("waits longer each time, and resets after a new frame", async () => {
    const { client, clock } = playing([
      "down",
      "down",
      "down",
      { says: [row(1)], then: "breaks" },
      "down",
      { says: [row(2)] },
    ])
    await take(client.events(ID), 2)
    expect(clock.waits).toEqual([500, 1000, 2000, 500, 1000])
  })

  test("waits as long as the stream's retry or Retry-After says", async () => {
    const { client, clock } = playing([
      { says: ["retry: 1000\n", row(1)], then: "breaks" },
      problem(503, "store_unavailable", { "retry-after": "7" }),
      problem(429, "busy", { "retry-after": new Date(Date.UTC(2026, 0, 1) + 20_000).toUTCString() }),
      { says: [row(2)] },
    ])
    await take(client.events(ID), 2)
    expect(clock.waits).toEqual([1000, 7000, 12_000])
  })

  test("reconnects at once after a normal end, but not in a loop", async () => {
    const { client, clock } = playing([{ says: [row(1)] }, {}, {}, { says: [":\n\n"] }, { says: [row(2)] }])
    expect(await take(client.events(ID), 2)).toEqual(["1 step", "2 step"])
    expect(clock.waits).toEqual([1000, 2000, 4000])
  })

  test("treats a long quiet connection as healthy", async () => {
    const { client, clock } = playing([
      { says: [row(1), ":\n\n"], then: "stays" },
      { then: "stays" },
      { says: [row(2)] },
    ])
    const states: string[] = []
    const onState = ({ state }: StreamState) => {
      states.push(state)
      if (state === "live" && states.length > 2) {
        setImmediate(() => {
          clock.pass(45_000)
          clock.silence()
        })
      }
    }
    const stream = client.events(ID, { onState })
    expect((await stream.next()).value).toMatchObject({ id: "1" })
    const next = stream.next()
    await new Promise((resolve) => setImmediate(resolve))
    clock.pass(45_000)
    expect(clock.silence()).toBe(1)
    expect((await next).value).toMatchObject({ id: "2" })
    await stream.return()
    expect(clock.waits).toEqual([500, 500])
  })

  test("drops a silent connection, and one without any response", async () => {
    const { client, clock, open } = playing([
      { says: [row(1)], then: "stays" },
      { says: [row(2)], then: "stays" },
    ])
    const stream = client.events(ID)
    await stream.next()
    expect(clock.silence()).toBe(0) // the silence timer is off while the consumer handles a frame
    const next = stream.next()
    await new Promise((resolve) => setImmediate(resolve))
    expect(clock.silence()).toBe(1)
    expect((await next).value).toMatchObject({ id: "2" })
    expect(open.size).toBe(1)
    await stream.return()
    expect(open.size).toBe(0)

    let asked = 0
    const mute = playing([], {
      fetch: () => {
        asked++
        return new Promise<Response>(() => {})
      },
    })
    const error = failed(mute.client.events(ID, { tries: 2 }))
    for (let count = 0; count < 2; count++) {
      while (mute.clock.silence() === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await error).toMatchObject({ code: "unreachable" })
    expect(asked).toBe(2)
  })

  test("drops an endless refusal, and tries again", async () => {
    const { client, clock } = playing([
      { status: 503, then: "stays" },
      { says: [row(1)], then: "stays" },
    ])
    const next = take(client.events(ID), 1)
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(clock.silence()).toBe(1)
    expect(await next).toEqual(["1 step"])
  })

  test.each([
    [401, "unauthenticated"],
    [403, "forbidden"],
    [404, "not_found"],
    [400, "bad_request"],
  ])("ends with the server's refusal %i", async (status, code) => {
    const { client, clock } = playing([{ says: [row(1)], then: "breaks" }, problem(status, code)])
    const error = await failed(client.events(ID))
    expect(error).toMatchObject({ status, code })
    expect(clock.waits).toEqual([500])
  })

  test("survives error pages of gateways", async () => {
    const page = { status: 502, headers: { "content-type": "text/html" }, says: ["<h1>Bad gateway</h1>"] }
    const { client } = playing([...Array(12).fill(page), { says: [row(1)], then: "stays" }])
    expect(await take(client.events(ID), 1)).toEqual(["1 step"])
  })

  test("is given up if the response is not a stream", async () => {
    const page = { headers: { "content-type": "text/html" }, says: ["<h1>Welcome</h1>"] }
    const { client } = playing([page, page, page])
    expect(await failed(client.events(ID))).toMatchObject({ code: "unexpected_answer" })
  })

  test("ends with the reason of its signal while connecting, reading or waiting", async () => {
    const reason = new Error("left the page")
    for (const plays of [[], [{ says: [row(1)], then: "stays" as const }], ["down"]]) {
      const leave = new AbortController()
      const { client, open } = playing(
        plays,
        plays.length === 0 ? { fetch: () => new Promise<Response>(() => {}) } : {},
      )
      const onState = ({ state }: StreamState) => {
        if (state === (plays[0] === "down" ? "waiting" : plays.length === 0 ? "connecting" : "live")) {
          setImmediate(() => leave.abort(reason))
        }
      }
      expect(await failed(client.events(ID, { signal: leave.signal, onState }))).toBe(reason)
      expect(open.size).toBe(0)
    }
  })

  test("reports its status", async () => {
    const { client } = playing(["down", { says: [row(1)] }, { says: [row(2)], then: "stays" }])
    const states: unknown[] = []
    await take(client.events(ID, { onState: (state) => void states.push(state) }), 2)
    expect(states).toEqual([
      { state: "connecting" },
      { state: "waiting", retryInMs: 500, error: expect.objectContaining({ code: "unreachable" }) },
      { state: "connecting" },
      { state: "live" },
      { state: "waiting", retryInMs: 0 },
      { state: "connecting" },
      { state: "live" },
    ])
  })

  test("refuses an invalid cursor", () => {
    const { client } = playing([])
    expect(() => client.events(ID, { after: "soon" })).toThrow(expect.objectContaining({ code: "bad_request" }))
  })
})

describe("a run", () => {
  const sent = { method: "POST", path: "/api/conversations/conv_1/messages", body: '{"text":"go"}' }

  test("gives every frame up to its `done`, also when its connection breaks", async () => {
    const { client, asked } = playing([
      { says: [row(2, "run_started"), row(3, "message"), text("3.2", "He")], then: "breaks" },
      { says: [text("3.5", "llo")] },
      { says: [row(4, "message"), row(5, "run_ended")], then: "breaks" },
      {
        says: [written("5", "usage"), written("5", "done", { status: "completed" }), row(6, "run_started")],
        then: "stays",
      },
    ])
    const frames = await take(client.run(ID, "go"), Number.POSITIVE_INFINITY)
    expect(frames).toEqual([
      "2 run_started",
      "3 message",
      "3.2 He",
      "3.5 llo",
      "4 message",
      "5 run_ended",
      "5 usage",
      "5 done",
    ])
    expect(asked[0]).toMatchObject(sent)
    const rest = asked.slice(1).map(({ method, path, headers }) => [method, path, headers["last-event-id"]])
    const events = "/api/conversations/conv_1/events"
    expect(rest).toEqual([
      ["GET", events, "3.2"],
      ["GET", events, "3.5"],
      ["GET", events, "5"],
    ])
  })

  test("is sent again with the same key until its first frame, because it may not have arrived", async () => {
    const { client, asked } = playing(["lost", { then: "breaks" }, { says: [row(2), written("2", "error")] }])
    expect(await take(client.run(ID, "go"), 9)).toEqual(["2 step", "2 error"])
    expect(asked).toEqual(Array(3).fill(expect.objectContaining(sent)))
    expect(new Set(asked.map(({ headers }) => headers["idempotency-key"])).size).toBe(1)
    expect(asked[0]?.headers["idempotency-key"]).toMatch(/^[0-9a-f]{32}$/)
  })

  test("is given up after a while, with the reason", async () => {
    const { client, asked } = playing(Array(10).fill("down"))
    expect(await failed(client.run(ID, "go", { when: "steer" }))).toMatchObject({ code: "unreachable" })
    expect(asked).toHaveLength(10)
    expect(asked[0]?.body).toBe('{"text":"go","when":"steer"}')
  })

  test("fails with the refusal of its message", async () => {
    const { client, asked } = playing([problem(409, "busy")])
    expect(await failed(client.run(ID, "go", { when: "reject" }))).toMatchObject({ code: "busy", status: 409 })
    expect(asked).toHaveLength(1)
  })

  test("closes its connection when the caller stops reading", async () => {
    const { client, open } = playing([{ says: [row(2), row(3)], then: "stays" }])
    await take(client.run(ID, "go"), 1)
    expect(open.size).toBe(0)
  })
})

describe("the feed", () => {
  test("starts from a snapshot on each connection, and does not loop if the server disconnects after it", async () => {
    const snapshot = written("1", "snapshot", { conversations: [], proposals: [] })
    const { client, asked, clock } = playing([
      { says: [snapshot, written("2", "conversation")] },
      { says: [snapshot] },
      { says: [snapshot] },
      { says: [snapshot], then: "stays" },
    ])
    const told = ["1 snapshot", "2 conversation", "1 snapshot", "1 snapshot", "1 snapshot"]
    expect(await take(client.feed(), 5)).toEqual(told)
    expect(asked.map(({ path, headers }) => [path, headers["last-event-id"]])).toEqual(
      Array(4).fill(["/api/feed", undefined]),
    )
    expect(clock.waits).toEqual([1000, 2000])
  })
})
