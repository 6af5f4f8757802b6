import { describe, expect, test } from "vitest"
import type { ConversationId } from "../../core/protocol/ids.ts"
import type { Message } from "../../core/protocol/conversation/message.ts"
import {
  always,
  breaksOff,
  calls,
  fails,
  hangs,
  replies,
  says,
  scripted,
  type ScriptedReply,
} from "../../core/testing.ts"
import { anyDatabase, databases } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"
import { framesIn, isOver, readFrames, type SeenFrame, transcriptOf } from "../support/server/stream.ts"
import { Held, read, write } from "../support/loop/tools.ts"
import { TurnedClock } from "../support/loop/world.ts"

const SSE = { accept: "text/event-stream" }
const LONG = "Ünïcödé 😀 and words, ".repeat(12)

const stream = (visitor: Visitor, id: string, text: string, more: Record<string, unknown> = {}) =>
  visitor.send("POST", `/api/conversations/${id}/messages`, { body: { text, ...more }, headers: SSE })

const turnOfTheLoop = async () => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}

const typesOf = (frames: readonly SeenFrame[]) => frames.map(({ type }) => type)
const isDelta = ({ type }: SeenFrame) => type === "text_delta"

describe.each(anyDatabase)("streams on $name", ({ create }) => {
  const open = async (...script: readonly ScriptedReply[]) => {
    const { url } = await create()
    const tools = [read("look"), write("change")]
    const face = await Face.open({ url, model: scripted(...script), tools })
    return { face, ada: await face.as("ada") }
  }
  const story = () =>
    [
      replies(says("Let me look. ", { chunks: 3 }), calls("look", { q: "a" })),
      calls(["change", { q: "b" }], ["change", { q: "c" }]),
      says(LONG, { chunks: 40 }),
    ] as const

  test.each(["/api/conversations/{id}/events", "/ai-sdk/{id}/stream"])(
    "a HEAD request for %s leaves nothing open",
    async (path) => {
      const { face, ada } = await open(hangs("Once"))
      await using _ = face
      const id = await ada.begin()
      const told = ada.say(id, "go")
      const { metrics } = face.server
      const isOpen = () => /^pawl_open_streams 1$/m.test(metrics.all.text())
      await expect.poll(() => ada.get(`/api/conversations/${id}`)).toMatchObject({ body: { status: "running" } })
      expect((await ada.send("HEAD", path.replace("{id}", id))).status).toBe(200)
      expect(isOpen()).toBe(false)
      const watching = await ada.send("GET", path.replace("{id}", id))
      expect([watching.status, isOpen()]).toEqual([200, true])
      await watching.body?.cancel()
      expect(isOpen()).toBe(false)
      await ada.post(`/api/conversations/${id}/cancel`)
      await told
    },
  )

  test("a run as a stream: each row is one frame with its position, text as it comes, one done at the end", async () => {
    const { face, ada } = await open(...story())
    await using _ = face
    const id = await ada.begin({ agent: "test" })
    const seen = await readFrames(await stream(ada, id, "go"), () => false)
    expect(typesOf(seen.filter((frame) => !isDelta(frame)))).toEqual([
      "run_started",
      "message",
      "message",
      "tool_start",
      "tool_end",
      "message",
      "awaiting_confirmation",
      "usage",
      "done",
    ])
    expect(seen.at(-1)).toMatchObject({ id: "8", data: { status: "paused" } })
    const { rows } = transcriptOf(seen)
    expect(rows.map(({ id }) => id)).toEqual(["2", "3", "4", "5", "6", "7", "8"])
    expect(rows[3]?.data).toMatchObject({ name: "look", input: { q: "a" } })
    const [first, second] = rows.at(-1)?.data.proposals ?? []
    expect(first).toMatchObject({ tool: "change", arguments: { q: "b" }, status: "pending" })

    await ada.post(`/api/agent/proposals/${first.id}/commit`)
    await ada.post(`/api/agent/proposals/${second.id}/reject`)
    const rest = await readFrames(
      await ada.send("POST", `/api/conversations/${id}/resume`, { headers: SSE }),
      () => false,
    )
    expect(rest.at(-1)).toMatchObject({ type: "done", data: { status: "completed" } })
    expect(transcriptOf(rest).shown).toEqual([LONG])
    expect(rest.filter(({ type }) => type === "done")).toHaveLength(1)
  })

  test("the JSON and the stream of a run contain the same", async () => {
    const { face, ada } = await open(...story(), ...story())
    await using _ = face
    const ids = [await ada.begin({ agent: "test", mode: "auto" }), await ada.begin({ agent: "test", mode: "auto" })]
    const { body } = await ada.say(ids[0] ?? "", "go")
    const frames = await readFrames(await stream(ada, ids[1] ?? "", "go"), () => false)
    const plain = ({
      id: _id,
      createdAt: _at,
      ms: _ms,
      toolCallId,
      toolCalls,
      ...message
    }: Message & Record<string, unknown>) => ({
      ...message,
      calls: toolCalls?.map(({ name, input }) => ({ name, input })) ?? null,
      isResult: toolCallId !== null,
    })
    const told = frames.flatMap(({ type, data }) => {
      if (type === "message") return [data.message as Message]
      if (type !== "tool_end") return []
      const { text: content, messageId, seq, callId, status, at } = data
      const head = { id: messageId, seq, role: "tool", content, toolCalls: null, toolCallId: callId }
      const result = { ...head, status, createdAt: at }
      return [data.data === undefined ? result : { ...result, data: data.data }] as Message[]
    })
    expect(told.sort((a, b) => a.seq - b.seq).map(plain)).toEqual(body.messages.map(plain))
    expect(body.run.status).toBe("completed")
  })

  test("cut after any byte and resumed, the pieces are the whole", async () => {
    const { face, ada } = await open(...story())
    await using _ = face
    const id = await ada.begin({ agent: "test", mode: "auto" })
    await ada.say(id, "go")
    const whole = await readFrames(await ada.watch(id), isOver)
    const text = whole.map((frame) => `id: ${frame.id}\nevent: ${frame.type}\ndata: ${JSON.stringify(frame.data)}\n\n`)
    const bytes = Buffer.from(text.join(""))
    const expected = transcriptOf(whole)
    expect(expected.shown).toEqual(["Let me look. ", "", LONG])
    for (let cut = 0; cut < bytes.length; cut += 61) {
      const before = framesIn(bytes.subarray(0, cut).toString())
      if (isOver(before)) continue
      const after = await readFrames(await ada.rewatch(id, before.at(-1)?.id ?? "0"), isOver)
      expect(transcriptOf([...before, ...after]), `cut at ${cut}`).toEqual(expected)
    }
  })

  test("from every position inside a reply the rest of its text follows, never half of a character", async () => {
    const { face, ada } = await open(says(LONG, { chunks: 40 }))
    await using _ = face
    const id = await ada.begin({ agent: "test" })
    await ada.say(id, "go")
    for (let offset = 0; offset <= 24; offset++) {
      const rest = await readFrames(await ada.watch(id, `3.${offset}`), isOver)
      const [text] = transcriptOf(rest).shown
      const start = LONG.charCodeAt(offset) >= 0xdc00 && LONG.charCodeAt(offset) <= 0xdfff ? offset - 1 : offset
      expect(text).toBe(LONG.slice(start))
    }
  })

  test("a client that joins while a reply is written gets the text so far, then the rest as it comes", async () => {
    const { face, ada } = await open(hangs("Half of the "))
    await using _ = face
    const id = await ada.begin({ agent: "test" })
    const run = stream(ada, id, "go")
    const first = await readFrames(await run, (seen) => seen.some(isDelta))
    expect(first.at(-1)).toMatchObject({ id: "3.12", data: { text: "Half of the " } })
    const late = await readFrames(await ada.watch(id, "3.5"), (seen) => seen.some(isDelta))
    expect(late).toEqual([{ id: "3.12", type: "text_delta", data: { text: "of the " } }])
    const watching = readFrames(await ada.watch(id, "3.12"), isOver)
    expect((await ada.post(`/api/conversations/${id}/cancel`)).body).toEqual({ cancelled: true })
    const rest = await watching
    expect(typesOf(rest)).toEqual(["message", "run_ended", "done"])
    expect(rest[0]?.data.message).toMatchObject({ content: "Half of the ", finish: "cancelled" })
    expect(rest.at(-1)?.data).toEqual({ status: "cancelled" })
  })

  test("the text of a failed attempt is followed by restarted, and an offset into it leads there", async () => {
    const { face, ada } = await open(fails("overloaded", { after: "I was about to", retriable: true }), says("Again."))
    await using _ = face
    const id = await ada.begin({ agent: "test" })
    const seen = await readFrames(await stream(ada, id, "go"), () => false)
    expect(transcriptOf(seen).shown).toEqual(["Again."])
    expect(typesOf(seen)).toContain("restarted")
    const again = await readFrames(await ada.watch(id, "3.9"), isOver)
    expect(typesOf(again).slice(0, 3)).toEqual(["restarted", "text_delta", "message"])
    expect(again[1]?.data.text).toBe("Again.")
  })

  test("a run that fails ends its stream with one error, and with nothing else", async () => {
    const { face, ada } = await open(breaksOff("Well"), fails("auth"))
    await using _ = face
    const id = await ada.begin({ agent: "test" })
    for (const code of ["provider_error", "auth"]) {
      const seen = await readFrames(await stream(ada, id, "go"), () => false)
      expect(seen.at(-1)).toMatchObject({ type: "error", data: { code } })
      expect(seen.filter(({ type }) => type === "done" || type === "error")).toHaveLength(1)
    }
  })

  test("an error before a stream starts is an HTTP status", async () => {
    const { face, ada } = await open(says("Hello."))
    await using _ = face
    const id = await ada.begin({ agent: "test" })
    const statuses = await Promise.all([
      stream(ada, id, "\u0000"),
      ada.watch(id, "2"),
      ada.watch(id, "one"),
      ada.watch("conv_missing"),
      (await face.as("eve")).watch(id),
      (await face.as("bob", "chat")).watch(id),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([400, 400, 400, 404, 404, 403])
  })

  test("a watcher of one conversation sees runs, decisions and settings, and each pause once", async () => {
    const { face, ada } = await open(calls("change", { q: "a" }), says("Done."))
    await using _ = face
    const id = await ada.begin({ agent: "test" })
    const watching = readFrames(await ada.watch(id), (seen) => seen.filter(({ type }) => type === "done").length === 2)
    const { body } = await ada.say(id, "go")
    await ada.patch(`/api/conversations/${id}`, { title: "Changes" })
    await ada.post(`/api/agent/proposals/${body.proposals[0].id}/commit`)
    const seen = await watching
    const order = ["awaiting_confirmation", "usage", "done", "settings", "decision", "tool_start", "tool_end"]
    const from = typesOf(seen).indexOf("awaiting_confirmation")
    expect(typesOf(seen).slice(from, from + 7)).toEqual(order)
    expect(seen.flatMap(({ type, data }) => (type === "done" ? [data.status] : []))).toEqual(["paused", "completed"])
  })

  test("a message that waits its turn streams its own run, from its start to its end", async () => {
    const held = new Held()
    const { url } = await create()
    const model = scripted(calls("wait"), says("First."), says("Second."))
    await using face = await Face.open({ url, model, tools: [read("wait", held.run)] })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const first = stream(ada, id, "one").then((answer) => readFrames(answer, () => false))
    await held.begun
    const second = readFrames(await stream(ada, id, "two"), () => false)
    held.end("found")
    expect(transcriptOf(await first).shown).toEqual(["", "First."])
    const seen = await second
    expect(typesOf(seen).slice(0, 2)).toEqual(["run_started", "message"])
    expect(seen[1]?.data.message.content).toBe("two")
    expect(transcriptOf(seen).shown).toEqual(["Second."])
  })
})

describe("a stream", () => {
  const [sqlite] = databases
  const openOne = async (...script: readonly ScriptedReply[]) => {
    const clock = new TurnedClock()
    const { url } = await (sqlite as (typeof databases)[number]).create()
    const face = await Face.open({ url, model: scripted(...script), clock })
    return { face, clock, ada: await face.as("ada") }
  }

  test("sends something at least every 15 s", async () => {
    const { face, ada, clock } = await openOne()
    await using _ = face
    const { body } = await ada.watch(await ada.begin(), "1")
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    const texts: string[] = []
    for (let seconds = 0; seconds < 60; seconds += 15) {
      const next = reader.read()
      await clock.turn(15_000)
      texts.push(new TextDecoder().decode((await next).value))
    }
    expect(texts).toEqual([":\n\n", ":\n\n", ":\n\n", ":\n\n"])
    await reader.cancel()
  })

  test("shows text at once, and more of it no sooner than a screen would", async () => {
    const { face, ada, clock } = await openOne()
    await using _ = face
    const id = (await ada.begin()) as ConversationId
    const { body } = await ada.watch(id, "1")
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    const read = async () => new TextDecoder().decode((await reader.read()).value)
    expect(await read()).toBe(":\n\n")
    const next = read()
    await turnOfTheLoop() // by then it waits for what comes
    const say = (text: string, offset: number) =>
      face.pawl.ports.bus.publish(id, { type: "text_delta", position: 1, offset, text })
    say("One ", 4)
    expect(framesIn(await next).map(({ data }) => data.text)).toEqual(["One "])
    let later: string | undefined
    const rest = read().then((text) => (later = text))
    for (const [text, offset] of [
      ["two ", 8],
      ["three", 13],
    ] as const) {
      say(text, offset)
      await turnOfTheLoop()
    }
    expect(later).toBeUndefined()
    await clock.turn(16)
    expect(framesIn(await rest)).toEqual([{ id: "1.13", type: "text_delta", data: { text: "two three" } }])
    await reader.cancel()
  })

  test("delays nothing and buffers nothing if its watcher does not read", async () => {
    const big = "x".repeat(200_000)
    const { face, ada } = await openOne(always(says(big, { chunks: 500 })))
    await using _ = face
    const id = await ada.begin()
    const slow = await ada.watch(id, "1")
    for (let turn = 0; turn < 30; turn++) expect((await ada.say(id, "go")).status).toBe(200)
    const seen = await readFrames(slow, (frames) => frames.filter(({ type }) => type === "done").length === 30)
    expect(transcriptOf(seen).shown.every((text) => text === big)).toBe(true)
  })
})
