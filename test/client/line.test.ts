import { afterEach, describe, expect, test, vi } from "vitest"
import { HastyClock } from "../../client/hasty-clock.fixture.ts"
import { createSocketClient, type SocketClientOptions, type UnknownFrame } from "../../client/index.ts"
import { ScriptedSocketServer, type ServerSide } from "../device/scripted-socket-server.ts"
import { TurnedClock } from "../support/loop/world.ts"

const ID = "conv_1"
const row = (position: number, type = "step") => event(String(position), type)
const text = (id: string, words: string) => event(id, "text_delta", { text: words })
const event = (id: string, type: string, data: unknown = {}, conversationId: string | undefined = ID) => ({
  type: "event",
  ...(conversationId ? { conversationId } : {}),
  event: { id, type, data },
})
const snapshot = { type: "event", event: { id: "1", type: "snapshot", data: {} } }
const shown = ({ id, type, data }: UnknownFrame) =>
  type === "text_delta" ? `${id} ${(data as { text: string }).text}` : `${id} ${type}`

async function take(stream: AsyncGenerator<UnknownFrame, void, undefined>, count: number): Promise<string[]> {
  const frames: string[] = []
  while (frames.length < count) {
    const { value, done } = await stream.next()
    if (done) break
    frames.push(shown(value))
  }
  return frames
}
const failed = (stream: AsyncGenerator<UnknownFrame, void, undefined>) =>
  take(stream, Number.POSITIVE_INFINITY).then(
    () => expect.fail("it ended"),
    (error: unknown) => error,
  )
const attaches = ({ heard }: ServerSide) =>
  heard.flatMap(({ type, conversationId, after }) => (type === "attach" ? [[conversationId, after]] : []))

async function open<AnyClock extends HastyClock | TurnedClock>(
  clock: AnyClock,
  more: Partial<SocketClientOptions> = {},
) {
  const server = await ScriptedSocketServer.open()
  const client = createSocketClient({ baseUrl: server.url, token: "t", clock, random: () => 0, ...more })
  const close = () => {
    if (clock instanceof HastyClock) clock.stop()
    return server[Symbol.asyncDispose]()
  }
  return { server, client, clock, [Symbol.asyncDispose]: close }
}
const hasty = (more: Partial<SocketClientOptions> = {}) => open(new HastyClock(), more)
const turned = () => open(new TurnedClock())

describe("the connection of a client", () => {
  test("opens with a ticket, and resumes after the last frame on the next socket", async () => {
    await using world = await hasty()
    const stream = world.client.events(ID)
    const first = take(stream, 3)
    const one = await world.server.next()
    expect(one.protocol).toMatch(/^pawl\.ticket\.secret1/)
    await one.hears("attach")
    for (const frame of [row(1), row(2), text("2.5", "hello")]) one.say(frame)
    expect(await first).toEqual(["1 step", "2 step", "2.5 hello"])
    const rest = take(stream, 2)
    one.socket.terminate()
    const two = await world.server.next()
    await two.hears("attach")
    expect(attaches(two)).toEqual([[ID, "2.5"]])
    for (const frame of [row(2), text("2.11", "hello world"), row(3)]) two.say(frame)
    expect(await rest).toEqual(["2.11  world", "3 step"])
    expect(world.server.tokens).toEqual(["Bearer t", "Bearer t"])
  })

  test("closes a silent socket, and ignores what it still receives", async () => {
    await using world = await hasty()
    const stream = world.client.events(ID)
    const next = take(stream, 1)
    const one = await world.server.next()
    await one.hears("attach")
    one.say(row(1))
    await next
    const second = take(stream, 1)
    // As after a sleep: the other end is gone without a close frame.
    one.socket.pause()
    await expect.poll(() => world.clock.silence()).toBe(1)
    const two = await world.server.next()
    await two.hears("attach")
    one.socket.resume()
    one.say(row(2, "stale"))
    two.say(row(2))
    expect(await second).toEqual(["2 step"])
    expect(attaches(two)).toEqual([[ID, "1"]])
  })

  test("fails if connections never open or never get an answer", async () => {
    const never = () => new Promise<Response>(() => {})
    await using world = await hasty({ fetch: never })
    const end = failed(world.client.events(ID, { tries: 2 }))
    for (let count = 0; count < 2; count++) await expect.poll(() => world.clock.silence()).toBe(1)
    expect(await end).toMatchObject({ code: "unreachable" })
  })

  test("retries once for all subscribers, with growing delays", async () => {
    await using world = await turned()
    const { server, client, clock } = world
    server.refuses = 503
    const states: unknown[] = []
    const streams = ["conv_1", "conv_2", "conv_3"].map((id) =>
      client.events(id, { onState: ({ state }) => void states.push(state) }),
    )
    const first = Promise.all([...streams, client.feed()].map((stream) => take(stream, 1)))
    const waits = async (retryInMs: number) => {
      await expect.poll(() => client.connection.state).toMatchObject({ state: "waiting", retryInMs })
    }
    await waits(500)
    expect(server.tokens).toHaveLength(1)
    await clock.turn(499)
    expect(server.tokens).toHaveLength(1)
    await clock.turn(1)
    await waits(1000)
    expect(server.tokens).toHaveLength(2)
    expect(states.slice(0, 6)).toEqual([...Array(3).fill("connecting"), ...Array(3).fill("waiting")])
    server.refuses = undefined
    await clock.turn(1000)
    const side = await server.next()
    await side.hears("attach", undefined, 4)
    for (const id of ["conv_1", "conv_2", "conv_3"]) side.say(event("1", "step", {}, id))
    side.say(snapshot)
    expect((await first).flat()).toEqual(["1 step", "1 step", "1 step", "1 snapshot"])
    expect(server.tokens).toHaveLength(3)
  })

  test("retries at once after retryNow() or a new subscription", async () => {
    await using world = await turned()
    const { server, client } = world
    server.refuses = 503
    void failed(client.events(ID)).catch(() => {})
    await expect.poll(() => client.connection.state).toMatchObject({ retryInMs: 500 })
    client.connection.retryNow()
    await expect.poll(() => client.connection.state).toMatchObject({ retryInMs: 1000 })
    server.refuses = undefined
    void failed(client.feed()).catch(() => {})
    const side = await server.next()
    await side.hears("attach", undefined, 2)
    expect(attaches(side).sort()).toEqual(
      [
        [ID, "0"],
        [undefined, undefined],
      ].sort(),
    )
    expect(server.tokens).toHaveLength(3)
  })

  test("pings an open socket after retryNow(), in case the machine slept", async () => {
    await using world = await turned()
    const { server, client, clock } = world
    const stream = client.events(ID)
    const first = take(stream, 1)
    const one = await server.next()
    await one.hears("attach")
    client.connection.retryNow()
    await one.hears("ping")
    one.say({ type: "pong" })
    one.say(row(1))
    await first
    void failed(stream).catch(() => {})
    await clock.turn(5000)
    expect(client.connection.state).toEqual({ state: "live" })
    client.connection.retryNow()
    await one.hears("ping", undefined, 2)
    await clock.turn(5000)
    expect(client.connection.state).toMatchObject({ state: "waiting", error: { code: "unreachable" } })
    await clock.turn(500)
    const two = await server.next()
    await two.hears("attach")
    expect(attaches(two)).toEqual([[ID, "1"]])
  })

  test("reconnects at once after a server shutdown, but waits if it happens again", async () => {
    await using world = await turned()
    const { server, client } = world
    void failed(client.events(ID)).catch(() => {})
    const one = await server.next()
    await one.hears("attach")
    one.socket.close(1001, "the server goes down")
    const two = await server.next()
    await two.hears("attach")
    two.socket.close(1001, "the server goes down")
    await expect.poll(() => client.connection.state).toMatchObject({ state: "waiting", retryInMs: 1000 })
  })

  test("resets the delay once something new has arrived", async () => {
    await using world = await hasty()
    const { server, client, clock } = world
    const frames = take(client.events(ID), 3)
    for (const position of [1, 2, 3]) {
      const side = await server.next()
      await side.hears("attach")
      side.say(row(position))
      if (position < 3) setImmediate(() => side.socket.terminate())
    }
    expect(await frames).toEqual(["1 step", "2 step", "3 step"])
    expect(clock.waits).toEqual([500, 500])
  })

  test("fails all subscriptions with the refusal of the next ticket when the session is revoked", async () => {
    await using world = await hasty()
    const { server, client } = world
    const ends = [client.events(ID), client.feed()].map(failed)
    const side = await server.next()
    await side.hears("attach", undefined, 2)
    server.refuses = 401
    side.socket.close(4401, "no longer signed in")
    for (const error of await Promise.all(ends)) {
      expect(error).toMatchObject({ code: "unauthenticated", status: 401, message: "We do not know you." })
    }
    expect(client.connection.state).toEqual({ state: "idle" })
    // A client that has signed in again can connect.
    server.refuses = undefined
    const again = take(client.events(ID), 1)
    const next = await server.next()
    await next.hears("attach")
    next.say(row(1))
    expect(await again).toEqual(["1 step"])
  })

  test("ends with its signal's reason in every state", async () => {
    const reason = new Error("left the page")
    for (const where of ["connecting", "waiting", "reading"]) {
      await using world = await turned()
      const { server, client } = world
      if (where === "waiting") server.refuses = 503
      const leave = new AbortController()
      const end = failed(client.events(ID, { signal: leave.signal }))
      if (where === "reading") await (await server.next()).hears("attach")
      if (where === "waiting") await expect.poll(() => client.connection.state).toMatchObject({ state: "waiting" })
      leave.abort(reason)
      expect(await end).toBe(reason)
      await world.clock.turn(1000)
      expect(client.connection.state).toEqual({ state: "idle" })
    }
  })

  test("ignores unknown frames, and fails on malformed ones", async () => {
    await using world = await hasty()
    const { server, client } = world
    const end = failed(client.events(ID))
    const one = await server.next()
    await one.hears("attach")
    for (const frame of [{ type: "hologram" }, { type: "final", response: "" }, event("1", "step", {}, "conv_2")])
      one.say(frame)
    one.say("null")
    one.say("<html>")
    for (const [nonsense] of [['{"type":"event"}'], ['{"type":"error","code":7}']]) {
      const side = await server.next()
      await side.hears("attach")
      side.say(nonsense as string)
    }
    expect(await end).toMatchObject({ code: "unexpected_answer" })
  })

  test("fails with the server's message about a malformed frame", async () => {
    await using world = await hasty()
    const end = failed(world.client.events(ID))
    const side = await world.server.next()
    await side.hears("attach")
    side.say({ type: "error", code: "bad_request", message: "This is no frame." })
    side.socket.close(1008, "bad frame")
    expect(await end).toMatchObject({ code: "bad_request", status: 400, message: "This is no frame." })
  })
})

describe("readers of one conversation", () => {
  test("receive each frame once, also while frames for another position are under way", async () => {
    await using world = await turned()
    const { server, client } = world
    const early = client.events(ID)
    const first = take(early, 3)
    const side = await server.next()
    await side.hears("attach")
    for (const frame of [row(1), row(2), row(3)]) side.say(frame)
    await first
    const late = client.events(ID, { after: "1" })
    const [rest, all] = [take(early, 3), take(late, 5)]
    await side.hears("attach", undefined, 2)
    // Sent before the second `attach` was read.
    for (const frame of [row(4), text("4.3", "abc")]) side.say(frame)
    for (const frame of [row(2), row(3), row(4), text("4.6", "abcdef"), row(5)]) side.say(frame)
    expect(await rest).toEqual(["4 step", "4.3 abc", "4.6 def"])
    expect(await all).toEqual(["2 step", "3 step", "4 step", "4.6 abcdef", "5 step"])
    expect(attaches(side)).toEqual([
      [ID, "0"],
      [ID, "1"],
    ])
  })

  test("lose nothing they have yet to receive when a third one joins", async () => {
    await using world = await turned()
    const { server, client } = world
    const streams = ["5", "2", "4"].map((after) => client.events(ID, { after }))
    const frames = streams.map((stream, index) => take(stream, [1, 4, 2][index] as number))
    const side = await server.next()
    await side.hears("attach", undefined, 3)
    expect(attaches(side)).toEqual([
      [ID, "5"],
      [ID, "2"],
      [ID, "2"],
    ])
    for (const position of [3, 4, 5, 6]) side.say(row(position))
    expect(await Promise.all(frames)).toEqual([
      ["6 step"],
      ["3 step", "4 step", "5 step", "6 step"],
      ["5 step", "6 step"],
    ])
  })

  test("are detached after the last one leaves", async () => {
    await using world = await turned()
    const { server, client } = world
    const [one, two] = [client.events(ID), client.events(ID)]
    const frames = [take(one, 1), take(two, 1)]
    const side = await server.next()
    await side.hears("attach", undefined, 2)
    side.say(row(1))
    await Promise.all(frames)
    await one.return()
    client.connection.retryNow()
    await side.hears("ping")
    expect(side.heard.some(({ type }) => type === "detach")).toBe(false)
    await two.return()
    expect(await side.hears("detach")).toMatchObject({ conversationId: ID })
  })

  test("fail alone when the server ends their conversation, and retry if the error may be temporary", async () => {
    await using world = await hasty()
    const { server, client } = world
    const [gone, other, broken] = ["conv_1", "conv_2", "conv_3"].map((id) => client.events(id))
    const ends = failed(gone!)
    const [goesOn, again] = [take(other!, 1), take(broken!, 1)]
    const side = await server.next()
    await side.hears("attach", undefined, 3)
    side.say({ type: "error", code: "not_found", message: "There is nothing here.", id: "conv_1" })
    side.say({ type: "error", code: "internal", message: "Something broke.", id: "conv_3" })
    expect(await ends).toMatchObject({ code: "not_found", status: 404, message: "There is nothing here." })
    await side.hears("attach", undefined, 4)
    side.say(event("1", "step", {}, "conv_3"))
    side.say(event("1", "step", {}, "conv_2"))
    expect([await goesOn, await again]).toEqual([["1 step"], ["1 step"]])
    expect(attaches(side).at(-1)).toEqual(["conv_3", "0"])
    expect(server.tokens).toHaveLength(1)
  })

  test("attach again if a frame is missing, until it arrives", async () => {
    await using world = await hasty()
    const { client, server, clock } = world
    const mended = client.events(ID)
    const frames = take(mended, 3)
    const side = await server.next()
    await side.hears("attach")
    for (const position of [1, 3]) side.say(row(position))
    expect(await side.hears("attach", undefined, 2)).toMatchObject({ after: "1" })
    for (const position of [2, 3]) side.say(row(position))
    expect(await frames).toEqual(["1 step", "2 step", "3 step"])

    const next = take(mended, 1)
    side.say(row(5))
    await side.hears("attach", undefined, 3)
    // Frames from a previous position are skipped, but not for longer than the timeout of a dead connection.
    side.say(row(5))
    clock.pass(45_000)
    side.say(row(5))
    expect(await side.hears("attach", undefined, 4)).toMatchObject({ after: "3" })
    side.say(row(4))
    expect(await next).toEqual(["4 step"])
  })
})

describe("the feed", () => {
  test("begins with a snapshot for each subscriber, also on a socket that has already sent one", async () => {
    await using world = await turned()
    const { server, client } = world
    const one = client.feed()
    const first = take(one, 1)
    const side = await server.next()
    await side.hears("attach")
    side.say(snapshot)
    await first
    const [second, rest] = [take(client.feed(), 1), take(one, 2)]
    await side.hears("attach", undefined, 2)
    side.say({ type: "event", event: { id: "2", type: "conversation", data: {} } })
    side.say(snapshot)
    expect([await second, await rest]).toEqual([["1 snapshot"], ["2 conversation", "1 snapshot"]])
  })
})

describe("in a page", () => {
  afterEach(() => vi.unstubAllGlobals())

  test("the connection retries when the network is back and when the page becomes visible", async () => {
    const page = new EventTarget()
    const document = Object.assign(new EventTarget(), { visibilityState: "hidden" })
    const listening = new Set<string>()
    vi.stubGlobal("addEventListener", (type: string, listener: () => void) => {
      listening.add(type)
      page.addEventListener(type, listener)
    })
    vi.stubGlobal("removeEventListener", (type: string, listener: () => void) => {
      listening.delete(type)
      page.removeEventListener(type, listener)
    })
    vi.stubGlobal("document", document)
    await using world = await turned()
    const { server, client, clock } = world
    server.refuses = 503
    const leave = new AbortController()
    const end = failed(client.events(ID, { signal: leave.signal }))
    await expect.poll(() => client.connection.state).toMatchObject({ retryInMs: 500 })
    document.dispatchEvent(new Event("visibilitychange")) // it was hidden
    await new Promise((resolve) => setImmediate(resolve))
    expect(client.connection.state).toMatchObject({ retryInMs: 500 })
    page.dispatchEvent(new Event("online"))
    await expect.poll(() => client.connection.state).toMatchObject({ retryInMs: 1000 })
    document.visibilityState = "visible"
    server.refuses = undefined
    document.dispatchEvent(new Event("visibilitychange"))
    const side = await server.next()
    await side.hears("attach")
    document.dispatchEvent(new Event("visibilitychange"))
    await side.hears("ping")
    expect([...listening]).toEqual(["online"])
    leave.abort(new Error("closed"))
    await end
    await clock.turn(1000)
    expect([...listening]).toEqual([])
  })

  test("without an address the page's own is used", async () => {
    await using world = await hasty()
    const { server } = world
    vi.stubGlobal("location", { href: `${server.url}/some/page?x=1` })
    const fetch = (url: string | URL | Request, init?: RequestInit) =>
      globalThis.fetch(new URL(String(url), server.url), init)
    const client = createSocketClient({ baseUrl: "", fetch, clock: world.clock })
    const next = take(client.events(ID), 1)
    const side = await server.next()
    await side.hears("attach")
    side.say(row(1))
    expect(await next).toEqual(["1 step"])
  })
})
