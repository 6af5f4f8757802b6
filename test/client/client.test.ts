import { describe, expect, test } from "vitest"
import {
  type ClientOptions,
  createClient,
  createSocketClient,
  emptyTranscript,
  fromDetail,
  hasCode,
  isFrame,
  reduce,
  type UnknownFrame,
} from "../../client/index.ts"
import { HastyClock } from "../../client/hasty-clock.fixture.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { type Listening, listen } from "../../core/server/listen.ts"
import { calls, hangs, replies, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { Cutter } from "../support/server/cutter.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { transcriptOf } from "../support/server/stream.ts"
import { read, write } from "../support/loop/tools.ts"

const LONG = "Ünïcödé 😀 and words, ".repeat(12)
const story = () =>
  [
    replies(says("Let me look. ", { chunks: 3 }), calls("look", { q: "a" })),
    calls(["change", { q: "b" }], ["change", { q: "c" }]),
    says(LONG, { chunks: 40 }),
  ] as const

const isEnd = ({ type }: UnknownFrame) => type === "done" || type === "error"

/** Returns all frames up to the first that matches. */
async function until(
  stream: AsyncIterable<UnknownFrame>,
  enough: (frame: UnknownFrame) => boolean,
): Promise<UnknownFrame[]> {
  const frames: UnknownFrame[] = []
  for await (const frame of stream) {
    frames.push(frame)
    if (enough(frame)) break
  }
  return frames
}

const transports = [
  { way: "server-sent events", connect: (options: ClientOptions) => createClient(options) },
  { way: "a socket", connect: (options: ClientOptions) => createSocketClient(options) },
]
const everyWay = transports.flatMap((transport) => anyDatabase.map((database) => ({ ...transport, ...database })))

describe.each(everyWay)(
  "the client over $way against a server on $name",
  { timeout: 120_000 },
  ({ create, connect }) => {
    /** A server on a port, a proxy that cuts its connections, and a client that uses the proxy. */
    async function open(...script: readonly ScriptedReply[]) {
      const { url } = await create()
      const stack = new AsyncDisposableStack()
      const face = stack.use(
        await Face.open({ url, model: scripted(...script), tools: [read("look"), write("change")] }),
      )
      const serving = await listen((request, env) => face.fetch(request, env), { host: "127.0.0.1", port: 0 })
      stack.defer(() => serving.close(0))
      const cutter = stack.use(await Cutter.open(serving.url))
      const ada = await face.store.people.ensure("ada", Date.now())
      const { token, id } = await face.store.people.createToken(ada, ["read", "chat", "approve", "manage"], Date.now())
      const clock = new HastyClock()
      stack.defer(() => clock.stop())
      const client = connect({ baseUrl: cutter.url, token, clock })
      const revoke = () => face.store.people.revokeToken(ada, id, Date.now())
      return Object.assign(stack, { face, cutter, client, clock, revoke })
    }

    test("every method returns the server's answer, and refusals keep their codes", async () => {
      await using world = await open(...story())
      const { client } = world
      const { id } = await client.createConversation({ body: { agent: "test", title: "Shopping" } })
      const answer = await client.sendMessage({ params: { id }, body: { text: "go" } })
      if (!("run" in answer)) return expect.fail("it was queued")
      expect(answer.run.status).toBe("paused")
      const [first, second] = answer.proposals
      expect(await client.commitProposal({ params: { id: first?.id ?? "" } })).toMatchObject({ status: "applied" })
      const again = await client.commitProposal({ params: { id: first?.id ?? "" } }).catch((error: unknown) => error)
      expect(hasCode(again, "proposal_decided")).toBe(true)
      expect(again).toMatchObject({ status: 409, details: { proposal: { id: first?.id, status: "applied" } } })
      await client.rejectProposal({ params: { id: second?.id ?? "" }, body: { reason: "no" } })
      expect((await client.resumeRun({ params: { id } })).messages.at(-1)?.content).toBe(LONG)
      expect((await client.listConversations({ query: { limit: 1 } })).items).toMatchObject([{ id, title: "Shopping" }])
      expect((await client.readMessages({ params: { id }, query: { limit: 2 } })).items).toHaveLength(2)
      await expect(client.readConversation({ params: { id: "conv_nobody" } })).rejects.toMatchObject({
        code: "not_found",
      })
    })

    test("cut after any number of bytes, a stream yields what is stored", async () => {
      await using world = await open(...story())
      const { client, cutter, face } = world
      const { id } = await client.createConversation({ body: { agent: "test", mode: "auto" } })
      const straight = await until(client.run(id, "go"), isEnd)
      expect(straight.at(-1)?.data).toEqual({ status: "completed" })
      const stored = await face.store.journal.read(id)
      for (const step of [53, 131, 397]) {
        // Each connection lasts a bit longer than the last one, so that even the longest frame arrives eventually.
        cutter.cutAfter(...Array.from({ length: Math.ceil(6000 / step) }, (_, turn) => 250 + turn * step))
        const before = cutter.cuts
        const frames = await until(client.events(id), isEnd)
        expect(cutter.cuts - before, `cuts of ${step} bytes`).toBeGreaterThan(2)
        const { rows, shown } = transcriptOf(frames as never)
        expect(rows.map((row) => [Number(row.id), row.type])).toEqual(
          stored.map(({ position, type }) => [position, type]),
        )
        expect(shown).toEqual(["Let me look. ", "", LONG])
        expect(frames.filter(isEnd)).toHaveLength(1)
        expect(frames.reduce(reduce, emptyTranscript).items.length).toBeGreaterThan(8)
      }
    })

    test("run() continues over cut connections until done, and the stream continues after the decisions", async () => {
      await using world = await open(...story())
      const { client, cutter, face } = world
      const { id } = await client.createConversation({ body: { agent: "test" } })
      cutter.cutAfter(...Array.from({ length: 100 }, (_, turn) => turn * 150))
      const run = await until(client.run(id, "go"), () => false)
      expect(run.at(-1)).toMatchObject({ type: "done", data: { status: "paused" } })
      expect(cutter.cuts).toBeGreaterThan(0)
      let transcript = run.reduce(reduce, emptyTranscript)
      expect(transcript.status).toBe("awaiting_confirmation")
      // Cut before the first frame, the message itself was sent again, and is there once.
      expect(transcript.items.filter((item) => item.type === "message" && item.message.role === "user")).toHaveLength(1)
      cutter.cutAfter()
      const waiting = transcript.items.flatMap((item) => (item.type === "proposal" ? [item.proposal.id] : []))
      const after = until(client.events(id, { after: transcript.cursor }), (frame) => isFrame(frame, "run_ended"))
      await client.decideAll({ params: { id }, body: { decision: "yes", proposalIds: waiting } })
      transcript = (await after).reduce(reduce, transcript)
      expect(transcript).toMatchObject({ status: "active", run: { status: "completed" } })
      expect(transcript.items.at(-1)).toMatchObject({ type: "message", message: { content: LONG } })
      const stored = await face.store.journal.read(id)
      expect(transcript.cursor).toBe(String(stored.at(-1)?.position))

      // A page that loads now shows the same messages.
      const loaded = fromDetail(await client.readConversation({ params: { id } }))
      const said = ({ items }: typeof loaded) =>
        items.flatMap((item) => (item.type === "message" ? [item.message.content] : []))
      expect(said(loaded)).toEqual(said(transcript))
      expect(loaded).toMatchObject({ cursor: transcript.cursor, status: "active" })
    })

    test("a message whose answers are lost is sent once", async () => {
      await using world = await open(says("Hello."))
      const { client, cutter, clock } = world
      const { id } = await client.createConversation({ body: { agent: "test" } })
      cutter.cutAfter(0, 100, Number.POSITIVE_INFINITY)
      const answer = await client.sendMessage({ params: { id }, body: { text: "hi" } })
      expect(cutter.cuts).toBe(2)
      expect(clock.waits).toHaveLength(2)
      expect("run" in answer && answer.messages.map(({ content }) => content)).toEqual(["hi", "Hello."])
      expect((await client.readConversation({ params: { id } })).messages).toHaveLength(2)
    })

    test("a token that is revoked ends the stream with the refusal", async () => {
      await using world = await open(hangs("Half of the "))
      const { client, cutter, revoke } = world
      const { id } = await client.createConversation({ body: { agent: "test" } })
      const stream = client.run(id, "go")
      for (let next = await stream.next(); next.value?.type !== "text_delta";) next = await stream.next()
      await revoke()
      cutter.cutNow()
      await expect(until(stream, () => false)).rejects.toMatchObject({ code: "unauthenticated", status: 401 })
    })

    test("the feed sends pending items, also after it was cut", async () => {
      await using world = await open(calls("change", { q: "a" }))
      const { client, cutter } = world
      const { id } = await client.createConversation({ body: { agent: "test" } })
      const feed = client.feed()
      const first = await feed.next()
      expect(first.value && isFrame(first.value, "snapshot") && first.value.data.conversations[0]?.id).toBe(id)
      cutter.cutNow()
      const waits = until(feed, (frame) => {
        const told = isFrame(frame, "snapshot") || isFrame(frame, "conversation") ? frame.data.proposals : []
        return told.some(({ conversationId }) => conversationId === id)
      })
      await client.sendMessage({ params: { id }, body: { text: "go" } })
      expect((await waits).at(-1)?.data).toMatchObject({ proposals: [{ tool: "change", status: "pending" }] })
    })

    test("a client reconnects to a new server on the same port", async () => {
      const { url } = await create()
      const serve = async (port: number, ...script: readonly ScriptedReply[]) => {
        const face = await Face.open({ url, model: scripted(...script), tools: [] })
        return { face, serving: await listen((request, env) => face.fetch(request, env), { host: "127.0.0.1", port }) }
      }
      const stop = async ({ face, serving }: { face: Face; serving: Listening }) => {
        await serving.close(0)
        await face[Symbol.asyncDispose]()
      }
      const first = await serve(0, says("First."))
      const ada = await first.face.store.people.ensure("ada", Date.now())
      const { token } = await first.face.store.people.createToken(ada, ["read", "chat"], Date.now())
      const { url: baseUrl } = first.serving
      const client = connect({ baseUrl, token, clock: new HastyClock() })
      const { id } = await client.createConversation({ body: { agent: "test" } })
      const watching = until(
        client.events(id),
        (frame) => isFrame(frame, "message") && frame.data.message.content === "Second.",
      )
      await until(client.run(id, "one"), isEnd)
      await stop(first)
      const second = await serve(Number(new URL(baseUrl).port), says("Second."))
      try {
        await until(client.run(id, "two"), isEnd)
        const stored = await second.face.store.journal.read(id as ConversationId)
        const { rows } = transcriptOf((await watching) as never)
        expect(rows.map((row) => Number(row.id))).toEqual(stored.slice(0, -1).map(({ position }) => position))
      } finally {
        await stop(second)
      }
    })
  },
)
