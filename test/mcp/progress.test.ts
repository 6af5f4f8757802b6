import type { ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import type { Live } from "../../core/engine/ports.ts"
import { reduce } from "../../client/reduce.ts"
import { StreamPosition } from "../../client/stream/stream-position.ts"
import { emptyTranscript, type Transcript } from "../../client/transcript/transcript.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { Subscription } from "../../core/server/stream/subscription.ts"
import { callLines } from "../../apps/terminal/drawing/call-lines.ts"
import { anyDatabase } from "../support/databases.ts"
import { of } from "../support/loop/checked-world.ts"
import { TurnedClock, type World } from "../support/loop/world.ts"
import { openMcpWorld, servers } from "./mcp-world.ts"
import { type PlayedCall, PlayedServer, text } from "./played-server.ts"

const DIG = { name: "dig", description: "Digs.", inputSchema: { type: "object", properties: {} } }
const named = (url: string, more: object = {}) =>
  servers({ mine: { url, data: "public", tools: { "*": "read" }, ...more } })
const tokenOf = (call: PlayedCall) => (call as unknown as { _meta?: { progressToken?: unknown } })._meta?.progressToken

/** A call that reports progress when the test says so, and ends likewise. */
class Digging {
  readonly #response: ServerResponse
  readonly #id: unknown
  readonly #progressToken: unknown

  constructor(call: PlayedCall, response: ServerResponse, id: unknown) {
    this.#response = response
    this.#id = id
    this.#progressToken = tokenOf(call)
    response.writeHead(200, { "content-type": "text/event-stream" })
  }

  tell(progress: unknown, message?: string, total?: number): void {
    const params = { progressToken: this.#progressToken, progress, total, message }
    this.#say({ jsonrpc: "2.0", method: "notifications/progress", params })
  }

  end(): void {
    this.#say({ jsonrpc: "2.0", id: this.#id, result: text("Dug.") })
    this.#response.end()
  }

  #say(message: object): void {
    this.#response.write(`data: ${JSON.stringify(message)}\n\n`)
  }
}

/** A run whose one call is running. */
async function dig(url: string, given: { clock?: TurnedClock; more?: object } = {}) {
  const begun = Promise.withResolvers<Digging>()
  const server = await PlayedServer.open([DIG], (call, response, id) => {
    begun.resolve(new Digging(call, response, id))
    return "played"
  })
  const model = scripted(calls("mine__dig", {}), says("Done."))
  const { clock, more } = given
  const secrets = ["very-secret-indeed"]
  const [one] = named(server.url, more)
  const world = await openMcpWorld([{ ...one!, secrets }], { url, model, ...(clock ? { clock } : {}) })
  const { id } = await world.start("Dig.")
  return {
    ...{ world, id, digging: await begun.promise },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

const isProgress = (live: Live) => live.type === "tool_progress"

/** The stream of a client that watches from the beginning. */
function watch({ pawl, store }: World, id: ConversationId) {
  const source = { journal: store.journal, bus: pawl.ports.bus, clock: pawl.ports.clock }
  const subscription = new Subscription(source, { id, after: { position: 0, offset: 0 }, runStart: 0 })
  const position = new StreamPosition("here", "0")
  let shown: Transcript = emptyTranscript
  const frames: { readonly id: string; readonly type: string }[] = []
  return {
    frames,
    close: () => subscription.close(),
    async until(fits: (item: Extract<Transcript["items"][number], { type: "call" }>) => boolean) {
      for (;;) {
        const call = shown.items.find((item) => item.type === "call")
        if (call && fits(call)) return call
        for (const frame of (await subscription.next()) ?? []) {
          const taken = position.take(frame)
          if (taken) frames.push(taken)
          if (taken) shown = reduce(shown, taken)
        }
      }
    },
  }
}

describe.each(anyDatabase)("the progress of a call at an MCP server, on $name", ({ create }) => {
  test("is streamed without hidden characters and secrets, and is not in the journal", async () => {
    await using place = await create()
    await using scene = await dig(place.url)
    const { world, id, digging } = scene
    const watched = watch(world, id)
    await watched.until(({ state }) => state === "running")
    digging.tell(1, "\u001b[2J\u202eHalf\nway,\u0007 says very-secret-indeed", 4)
    const call = await watched.until(({ progress }) => progress !== undefined)
    expect(call.progress).toMatch(/^⟨U\+202E⟩Half way, says \[hidden\] · 25 %$/)
    expect(
      callLines(call, 120)
        .flat()
        .map((span) => span.text)
        .join(""),
    ).toContain("Half way")
    digging.tell(4, "All of it", 4)
    await watched.until(({ progress }) => progress === "All of it · 100 %")
    digging.end()
    const ended = await watched.until(({ isOver }) => isOver)
    expect([ended.state, ended.progress]).toEqual(["ok", undefined])
    const told = watched.frames.filter(({ type }) => type === "tool_progress")
    expect(told.length).toBe(2)
    // It does not advance the stream position: its id is that of the row before it.
    const before = watched.frames[watched.frames.indexOf(told[0]!) - 1]
    expect(told.map((frame) => frame.id)).toEqual([before?.id, before?.id])
    watched.close()
    await world.pawl.runtime.rest(id)
    expect(await world.types(id)).not.toContain("tool_progress")
    expect(world.problems).toEqual([])
  })

  test("is streamed at intervals, however often it is sent, and always ends with the last report", async () => {
    await using place = await create()
    const clock = new TurnedClock()
    await using scene = await dig(place.url, { clock })
    const { world, id, digging } = scene
    const heard: Live[] = []
    world.pawl.ports.bus.subscribe(id, (live) => void (isProgress(live) && heard.push(live)))
    const first = world.seen(id, isProgress)
    for (let at = 1; at <= 300; at++) digging.tell(at, `${at}${"x".repeat(1000)}`)
    await first
    digging.tell("much", "Done soon.")
    digging.tell(301, "Last.")
    const ended = world.seen(id, (live) => live.type === "events" && live.events.some((row) => row.type === "tool_end"))
    // All of it has arrived once the stream has the last report.
    await expect.poll(async () => (await clock.turn(250), heard.at(-1))).toMatchObject({ text: "Last.", done: 301 })
    expect(heard.length).toBeLessThan(10)
    expect(heard.every((live) => live.type === "tool_progress" && live.text.length <= 200)).toBe(true)
    digging.end()
    await ended
  })

  test("gives it no more time, even if it never ends", async () => {
    await using place = await create()
    const clock = new TurnedClock()
    await using scene = await dig(place.url, { clock, more: { timeoutSeconds: 40 } })
    const { world, id, digging } = scene
    for (let seconds = 0; seconds < 40; seconds += 10) {
      const heard = world.seen(id, isProgress)
      digging.tell(seconds, "Still digging.")
      await heard
      await clock.turn(10_000)
    }
    await world.pawl.runtime.rest(id)
    expect(of(await world.events(id), "tool_end")).toMatchObject([{ status: "timed_out" }])
  })
})
