import { describe, expect, test } from "vitest"
import { HastyClock } from "../../client/hasty-clock.fixture.ts"
import {
  createClient,
  createSocketClient,
  emptyTranscript,
  isFrame,
  reduce,
  type UnknownFrame,
} from "../../client/index.ts"
import { answer } from "../../core/engine/definition/tool.ts"
import { always, calls, hangs, replies, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { anyDatabase, databases } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"
import { transcriptOf } from "../support/server/stream.ts"
import { read, write } from "../support/loop/tools.ts"

const LONG = "Ünïcödé 😀 and words, ".repeat(12)
const story = (): readonly ScriptedReply[] => [
  replies(says("Let me look. ", { chunks: 3 }), calls("look", { q: "a" })),
  calls(["change", { q: "b" }], ["change", { q: "c" }]),
  says(LONG, { chunks: 40 }),
]
const isEnd = ({ type }: UnknownFrame) => type === "done" || type === "error"

/** Returns all frames up to the first that matches. */
async function until(stream: AsyncIterable<UnknownFrame>, enough = isEnd): Promise<UnknownFrame[]> {
  const frames: UnknownFrame[] = []
  for await (const frame of stream) {
    frames.push(frame)
    if (enough(frame)) break
  }
  return frames
}

/** The platform's WebSocket, with counters, and cut after a number of events. */
function sockets() {
  const opened: WebSocket[] = []
  const counted = { opened, eventsUntilCut: Number.POSITIVE_INFINITY, sent: [] as Record<string, unknown>[] }
  class Counted extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols)
      opened.push(this)
      let left = counted.eventsUntilCut
      this.addEventListener("message", ({ data }) => {
        if (String(data).startsWith('{"type":"event"') && --left === 0) this.close()
      })
    }
    override send(text: string): void {
      counted.sent.push(JSON.parse(text) as Record<string, unknown>)
      super.send(text)
    }
  }
  return Object.assign(counted, { WebSocket: Counted })
}

/** Replaces ids by numbers in order of appearance and removes times, so that two runs of one script are equal. */
function nameless(value: unknown): unknown {
  const names = new Map<string, string>()
  const text = JSON.stringify(value)
    .replaceAll(/\b(conv|msg|run|call|prop|user|tok)_\w+/g, (id, kind: string) => {
      if (!names.has(id)) names.set(id, `${kind} ${names.size}`)
      return names.get(id) as string
    })
    .replaceAll(/"\d{4}-\d\d-\d\dT[^"]+"/g, '"then"')
    .replaceAll(/"hash":"[^"]*"/g, '"hash":""')
    .replaceAll(/"ms":\d+/g, '"ms":0')
  return JSON.parse(text)
}

describe.each(anyDatabase)("a client on one socket, against a server on $name", { timeout: 120_000 }, (database) => {
  async function open(script: readonly ScriptedReply[], clock?: HastyClock) {
    const server = await openServer({
      database,
      model: scripted(...script),
      tools: [read("look"), write("change")],
      watching: true,
    })
    const token = await server.tokenFor("ada")
    const counted = sockets()
    const options = { baseUrl: server.url, token, ...(clock ? { clock } : {}) }
    const client = createSocketClient({ ...options, WebSocket: counted.WebSocket })
    const close = () => {
      clock?.stop()
      return server[Symbol.asyncDispose]()
    }
    return { ...server, token, counted, client, sse: createClient(options), [Symbol.asyncDispose]: close }
  }

  test("the same script as JSON, as server-sent events and over the socket gives the same transcript", async () => {
    await using server = await open([...story(), ...story(), ...story()])
    const { client, sse } = server
    const decide = async (id: string) => {
      const { proposals } = await client.readConversation({ params: { id } })
      await client.decideAll({ params: { id }, body: { decision: "yes", proposalIds: proposals.map(({ id }) => id) } })
    }
    const begin = async () => (await client.createConversation({ body: { agent: "test" } })).id
    const streamed = async (over: typeof sse) => {
      const id = await begin()
      const run = await until(over.run(id, "go"))
      const { cursor } = run.reduce(reduce, emptyTranscript)
      const isDone = (frame: UnknownFrame) => isFrame(frame, "done") && frame.data.status === "completed"
      const rest = until(over.events(id, { after: cursor }), isDone)
      await decide(id)
      // Text is split into pieces at random; the resulting message is not.
      return [...run, ...(await rest)]
    }
    const json = await begin()
    await client.sendMessage({ params: { id: json }, body: { text: "go" } })
    await decide(json)
    const stored = await until(sse.events(json), (frame) => isFrame(frame, "run_ended"))
    const [bySse, bySocket] = [await streamed(sse), await streamed(client)]
    const folded = (frames: readonly UnknownFrame[]) => nameless(frames.reduce(reduce, emptyTranscript))
    expect(folded(bySocket)).toEqual(folded(bySse))
    const types = (frames: readonly UnknownFrame[]) => frames.map(({ type }) => type).filter((t) => t !== "text_delta")
    expect(types(bySocket)).toEqual(types(bySse))
    const rows = (frames: readonly UnknownFrame[]) => nameless(transcriptOf(frames as never))
    // A run's own stream begins with its run.
    const ofRun = stored.slice(stored.findIndex(({ type }) => type === "run_started"))
    expect(rows(bySocket)).toEqual(rows(ofRun))
    const detail = await client.readConversation({ params: { id: json } })
    const said = bySocket.flatMap((frame) => (isFrame(frame, "message") ? [frame.data.message.content] : []))
    expect(said).toEqual(detail.messages.flatMap(({ role, content }) => (role === "tool" ? [] : [content])))
    expect(server.counted.opened.length).toBeGreaterThan(0)
  })

  test("cut after any number of frames, it yields each once and in order", async () => {
    await using server = await open(story(), new HastyClock())
    const { client, sse, counted } = server
    const { id } = await client.createConversation({ body: { agent: "test", mode: "auto" } })
    await until(client.run(id, "go"))
    const whole = await until(sse.events(id))
    // At least two: `usage` and `done` have no position of their own, and arrive together.
    for (let many = 2; many <= whole.length; many++) {
      counted.eventsUntilCut = many
      const before = counted.opened.length
      const frames = await until(client.events(id))
      expect(transcriptOf(frames as never), `cut after ${many}`).toEqual(transcriptOf(whole as never))
      expect(frames.filter(isEnd)).toHaveLength(1)
      if (many < whole.length / 2) expect(counted.opened.length - before).toBeGreaterThan(1)
    }
  })

  test("a run cut after every second frame yields all its frames", async () => {
    await using server = await open(story(), new HastyClock())
    const { client, sse, counted } = server
    const { id } = await client.createConversation({ body: { agent: "test", mode: "auto" } })
    counted.eventsUntilCut = 2
    const frames = await until(client.run(id, "go"), () => false)
    const whole = (await until(sse.events(id))).filter(({ id }) => Number(id) > 1)
    expect(transcriptOf(frames as never)).toEqual(transcriptOf(whole as never))
    expect(frames.slice(-2).map(({ type }) => type)).toEqual(["usage", "done"])
    expect(counted.opened.length).toBeGreaterThan(3) // after its first frame it came by sockets
  })

  test("two conversations, the feed and a run share one socket, which closes after the last subscriber leaves", async () => {
    await using server = await open([says("One."), says("Two.")])
    const { client, counted } = server
    const ids = await Promise.all([1, 2].map(async () => (await client.createConversation()).id))
    const states: string[] = []
    client.connection.onState(({ state }) => void states.push(state))
    expect(client.connection.state).toEqual({ state: "idle" })
    const feed = client.feed()
    expect((await feed.next()).value).toMatchObject({ type: "snapshot" })
    const watching = ids.map((id) => until(client.events(id)))
    for (const id of ids) await until(client.run(id, "go"))
    for (const frames of await Promise.all(watching)) expect(frames.at(-1)?.type).toBe("done")
    expect((await feed.next()).value).toMatchObject({ type: "conversation" })
    await feed.return()
    expect(counted.opened).toHaveLength(1)
    await expect.poll(() => client.connection.state, { timeout: 60_000 }).toEqual({ state: "idle" })
    expect(counted.opened[0]?.readyState).toBeGreaterThan(1)
    await until(client.events(ids[0] as string))
    expect(counted.opened).toHaveLength(2)
    expect(states).toEqual(["connecting", "live", "idle", "connecting", "live"])
  })

  test("subscribers that join a conversation at different positions each get their own events", async () => {
    await using server = await open([...story(), says("Again.", { chunks: 5 })])
    const { client, counted } = server
    const { id } = await client.createConversation({ body: { agent: "test", mode: "auto" } })
    const second = (frame: UnknownFrame) => isFrame(frame, "run_ended") && Number(frame.id) > 15
    const first = until(client.events(id), second)
    const run = await until(client.run(id, "go"))
    const late = ["0", "3", run.at(-1)?.id ?? ""].map((after) => until(client.events(id, { after }), second))
    await until(client.run(id, "again"))
    const [all, fromStart, fromThree, fromEnd] = await Promise.all([first, ...late])
    const positions = (frames: readonly UnknownFrame[] = []) => transcriptOf(frames as never).rows.map((row) => row.id)
    const stored = (await server.face.store.journal.read(id)).map(({ position }) => String(position))
    expect(positions(all)).toEqual(stored)
    expect(positions(fromStart)).toEqual(stored)
    expect(positions(fromThree)).toEqual(stored.slice(3))
    expect(positions(fromEnd)).toEqual(stored.slice(Number(run.at(-1)?.id)))
    expect(all?.filter(isEnd)).toHaveLength(1) // the first run's; it was left with the second's last row
    // The event that `after` names is not sent again, nor is the end that has no position.
    expect(fromEnd?.[0]?.type).toBe("run_started")
    expect(counted.opened).toHaveLength(1)
  })

  test("a refused subscription ends alone, as over HTTP", async () => {
    await using server = await open([says("Hello.")])
    const { client, sse, counted } = server
    const eve = await server.visitor("eve")
    const foreign = await eve.begin()
    const { id } = await client.createConversation()
    const refusals = (wrong: string, after = "0") =>
      Promise.all([client, sse].map((over) => until(over.events(wrong, { after })).catch((error: unknown) => error)))
    const ahead = await refusals(id, "99")
    const stays = until(client.events(id))
    const others = ["conv_missing", foreign, "no id/at all", ".."]
    for (const [overSocket, overHttp] of [ahead, ...(await Promise.all(others.map((other) => refusals(other))))]) {
      const { code, status, message } = overHttp as Record<string, unknown>
      expect(overSocket).toMatchObject({ code, status, message })
      expect(status).toBeGreaterThanOrEqual(400)
    }
    await until(client.run(id, "go"))
    expect((await stays).at(-1)?.type).toBe("done")
    expect(counted.opened).toHaveLength(1)
  })

  test("a deleted conversation ends with not_found", async () => {
    await using server = await open([])
    const { client } = server
    const { id } = await client.createConversation()
    const watching = client.events(id)
    await watching.next()
    const end = watching.next().catch((error: unknown) => error)
    await client.deleteConversation({ params: { id } })
    expect(await end).toMatchObject({ code: "not_found", status: 404 })
  })

  test("a revoked token ends everything with the refusal that HTTP gives", async () => {
    await using server = await open([hangs("Half of the ")])
    const { client } = server
    const { people } = server.face.store
    const { id } = await client.createConversation({ body: { agent: "test" } })
    const ends = [client.run(id, "go"), client.events(id), client.feed()].map((stream) =>
      until(stream, () => false).catch((error: unknown) => error),
    )
    await until(server.sse.events(id), ({ type }) => type === "text_delta")
    const ada = await people.ensure("ada", 0)
    const { items } = await people.listTokens(ada.id, { limit: 10 }, Date.now())
    for (const token of items) await people.revokeToken(ada, token.id, Date.now())
    await server.face.revocation.check()
    for (const end of await Promise.all(ends)) expect(end).toMatchObject({ code: "unauthenticated", status: 401 })
    expect(client.connection.state).toEqual({ state: "idle" })
  })

  test("a slow reader costs bounded memory, does not delay others, and misses nothing", async () => {
    const turns = 12
    const text = "words, ".repeat(20_000)
    await using server = await open([always(says(text))])
    const { client, counted } = server
    const { id } = await client.createConversation({ body: { agent: "test" } })
    const slow = client.events(id)
    const seen = [(await slow.next()).value as UnknownFrame]
    for (let turn = 0; turn < turns; turn++) await until(client.run(id, "go"))
    const detached = counted.sent.filter(({ type }) => type === "detach")
    expect(detached.length).toBeGreaterThan(0)
    let done = 0
    seen.push(...(await until(slow, ({ type }) => type === "done" && ++done === turns)))
    const stored = await server.face.store.journal.read(id)
    const { rows, shown } = transcriptOf(seen as never)
    expect(rows.map((row) => Number(row.id))).toEqual(stored.map(({ position }) => position))
    expect(shown).toEqual(Array(turns).fill(text))
    expect(counted.opened).toHaveLength(1)
  })
})

test(
  "an answer to a queued or withdrawn message arrives as it does over HTTP",
  {
    timeout: 120_000,
  },
  async () => {
    const [sqlite] = databases
    let goOn = () => {}
    const held = new Promise<void>((resolve) => (goOn = resolve))
    const look = read("look", () => held.then(() => answer("found")))
    const model = scripted(calls("look", {}), says("One."), says("Two."))
    await using server = await openServer({ database: sqlite!, model, tools: [look] })
    const client = createSocketClient({ baseUrl: server.url, token: await server.tokenFor("ada") })
    const { id } = await client.createConversation({ body: { agent: "test" } })
    const first = until(client.run(id, "one"))
    await until(client.events(id), ({ type }) => type === "tool_start")
    const [second, third] = [until(client.run(id, "two")), until(client.run(id, "three"))]
    const queued = async () => (await client.listQueue({ params: { id } })).items
    await expect.poll(async () => (await queued()).map(({ text }) => text).sort()).toEqual(["three", "two"])
    const messageId = (await queued()).find(({ text }) => text === "three")?.id ?? ""
    await client.withdrawQueued({ params: { id, messageId } })
    expect((await third).map(({ type, data }) => [type, data])).toEqual([["done", { status: "cancelled" }]])
    goOn()
    const said = (frames: readonly UnknownFrame[]) =>
      frames.flatMap((frame) => (isFrame(frame, "message") ? [frame.data.message.content] : []))
    expect(said(await first)).toEqual(["one", "", "One."])
    expect(said(await second)).toEqual(["two", "Two."])
  },
)
