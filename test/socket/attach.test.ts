import { once } from "node:events"
import { describe, expect, test, vi } from "vitest"
import { WebSocket } from "ws"
import { always, calls, replies, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { Cutter } from "../support/server/cutter.ts"
import { anyDatabase, databases, type TestDatabase } from "../support/databases.ts"
import { openServer, Peer } from "../support/server/socket.ts"
import { isLong } from "../support/sizes.ts"
import { isOver, readFrames, type SeenFrame, transcriptOf } from "../support/server/stream.ts"
import { read, write } from "../support/loop/tools.ts"

const LONG = "Ünïcödé 😀 and words, ".repeat(12)
const [sqlite] = databases as readonly [TestDatabase]
/** Batches of twenty sockets each. */
const BATCHES = isLong ? 50 : 20

describe.each(anyDatabase)("watching over a socket on $name", (database) => {
  const open = (...script: readonly ScriptedReply[]) =>
    openServer({ database, model: scripted(...script), tools: [read("look"), write("change")] })

  test("several conversations and the feed share one socket, each under its name", async () => {
    await using server = await open(says("One."), says("Two."))
    const ada = await server.visitor("ada")
    const [one, two] = [await ada.begin({ agent: "test" }), await ada.begin({ agent: "test" })]
    using peer = await server.socket("ada")
    for (const conversationId of [one, two]) peer.send({ type: "attach", conversationId })
    peer.send({ type: "attach" })
    await peer.until(() => peer.events().length > 0)
    expect(peer.events()[0]).toMatchObject({ type: "snapshot" })
    await ada.say(one, "go")
    await ada.say(two, "go")
    await peer.until(() => isOver(peer.events(one)) && isOver(peer.events(two)))
    for (const id of [one, two]) {
      const streamed = await readFrames(await ada.watch(id), isOver)
      expect(transcriptOf(peer.events(id)).rows).toEqual(transcriptOf(streamed).rows)
    }
    expect(peer.events().some(({ type, data }) => type === "conversation" && data.conversation.id === two)).toBe(true)
  })

  test("another person's conversation looks missing, a cursor that lies ahead is refused, and the socket stays", async () => {
    await using server = await open()
    const id = await (await server.visitor("ada")).begin()
    using eve = await server.socket("eve")
    eve.send({ type: "attach", conversationId: id })
    eve.send({ type: "attach", conversationId: "conv_missing" })
    await eve.until((seen) => seen.length === 2)
    expect(eve.seen[0]).toEqual({ ...eve.seen[1], id })
    expect(eve.seen[0]).toMatchObject({ type: "error", code: "not_found" })
    using ada = await server.socket("ada")
    ada.send({ type: "attach", conversationId: id, after: "99" })
    expect(await ada.next("error")).toMatchObject({ code: "bad_request", id })
    ada.send({ type: "attach", conversationId: id })
    await ada.next("event")
  })

  test("a client that detaches gets no more events, and one that attaches again continues from the new position", async () => {
    await using server = await open(says("One."), says("Two."))
    const ada = await server.visitor("ada")
    const id = await ada.begin({ agent: "test" })
    using peer = await server.socket("ada")
    peer.send({ type: "attach", conversationId: id })
    await ada.say(id, "go")
    await peer.until(() => isOver(peer.events(id)))
    const last = peer.events(id).at(-1)?.id ?? ""
    peer.send({ type: "detach", conversationId: id })
    peer.send({ type: "ping" })
    await peer.next("pong")
    await ada.say(id, "go on")
    const from = peer.events(id).length
    peer.send({ type: "attach", conversationId: id, after: last })
    await peer.until(() => peer.events(id).some(({ data }) => data.message?.content === "Two."))
    expect(peer.events(id)[from]?.type).toBe("usage") // the end that has no place of its own, once more
    expect(
      peer
        .events(id)
        .slice(from)
        .some(({ data }) => data.message?.content === "One."),
    ).toBe(false)
  })

  test("of a deleted conversation ends with an error that names it", async () => {
    await using server = await open()
    const ada = await server.visitor("ada")
    const id = await ada.begin()
    using peer = await server.socket("ada")
    peer.send({ type: "attach", conversationId: id })
    await peer.next("event")
    await ada.delete(`/api/conversations/${id}`)
    expect(await peer.next("error")).toMatchObject({ code: "not_found", id })
  })

  test(
    "cut off anywhere, a client that reconnects with its last cursor has every event once",
    {
      timeout: 120_000,
    },
    async () => {
      await using server = await open(
        replies(says("Let me look. ", { chunks: 3 }), calls("look", { q: "a" })),
        calls(["change", { q: "b" }], ["change", { q: "c" }]),
        says(LONG, { chunks: 40 }),
      )
      const ada = await server.visitor("ada")
      const id = await ada.begin({ agent: "test" })
      const { proposals } = (await ada.say(id, "go")).body
      const proposalIds = proposals.map((proposal: { id: string }) => proposal.id)
      await ada.post(`/api/conversations/${id}/decide`, { decision: "yes", proposalIds })
      const isWhole = (frames: readonly SeenFrame[]) => frames.at(-1)?.data.status === "completed" && isOver(frames)
      const whole = await readFrames(await ada.watch(id), isWhole)
      await using cutter = await Cutter.open(server.url)
      const token = await server.tokenFor("ada")
      for (const bytes of [300, 411, 700, 1201, 2500]) {
        cutter.cutAfter(bytes)
        const seen: ReturnType<Peer["events"]> = []
        for (let round = 0; round < 500 && !isWhole(seen); round++) {
          const peer = new Peer(
            new WebSocket(`${cutter.url.replace("http", "ws")}/api/ws`, {
              headers: { authorization: `Bearer ${token}` },
            }),
          )
          // A frame larger than what gets through would repeat forever, so each try lets a little more through.
          cutter.cutAfter(bytes + round * 150)
          const cursor = seen.at(-1)?.id
          peer.socket.on("open", () =>
            peer.send({ type: "attach", conversationId: id, ...(cursor ? { after: cursor } : {}) }),
          )
          await peer.until(() => isWhole(peer.events(id))).catch(() => {}) // or it was cut
          seen.push(...peer.events(id))
          peer.socket.terminate()
        }
        const [given, wanted] = [transcriptOf(seen), transcriptOf(whole)]
        expect(given.rows, `cut after ${bytes}`).toEqual(wanted.rows)
        expect(given.shown, `cut after ${bytes}`).toEqual(wanted.shown)
      }
      expect(cutter.cuts).toBeGreaterThan(10)
    },
  )
})

describe("a reader that does not read", () => {
  test("delays no other client, and little waits for it in memory", { timeout: 120_000 }, async () => {
    const text = "words, ".repeat(20_000)
    const turns = 100
    await using server = await openServer({ database: sqlite, model: scripted(always(says(text))) })
    const ada = await server.visitor("ada")
    const id = await ada.begin({ agent: "test" })
    using slow = await server.socket("ada")
    slow.send({ type: "attach", conversationId: id })
    await slow.next("event")
    slow.socket.pause()
    using quick = await server.socket("ada")
    quick.send({ type: "attach", conversationId: id })
    // All bytes on the server's side that were passed to a connection and have not left it yet.
    let most = 0
    const { send } = WebSocket.prototype
    using _spy = vi.spyOn(WebSocket.prototype, "send").mockImplementation(function (
      this: WebSocket,
      ...given: unknown[]
    ) {
      send.apply(this, given as never)
      most = Math.max(most, this.bufferedAmount)
    })
    for (let turn = 0; turn < turns; turn++) await ada.say(id, "go")
    const isDone = (peer: Peer) => peer.events(id).filter(({ type }) => type === "done").length >= turns
    await quick.until(() => isDone(quick))
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThan(1_000_000) // of 28 million
    expect(isDone(slow)).toBe(false)
    slow.socket.resume()
    await slow.until(() => isDone(slow))
    const bare = (peer: Peer) => transcriptOf(peer.events(id)).rows
    expect(bare(slow)).toEqual(bare(quick))
  })
})

test(
  "hundreds of sockets opened and closed, or cut, leave nothing behind",
  {
    timeout: 120_000,
  },
  async () => {
    await using server = await openServer({ database: sqlite, model: scripted() })
    const ada = await server.visitor("ada")
    const id = await ada.begin()
    const { bus } = server.face.pawl.ports
    let watchers = 0
    for (const name of ["subscribe", "subscribeUser"] as const) {
      const real = bus[name].bind(bus) as (...given: unknown[]) => () => void
      bus[name] = ((...given: unknown[]) => {
        watchers++
        const leave = real(...given)
        let left = false
        return () => {
          if (!left) watchers--
          left = true
          leave()
        }
      }) as never
    }
    const registered = new Set<object>()
    const { revocation } = server.face
    const register = revocation.register.bind(revocation)
    revocation.register = (caller, close) => {
      const key = {}
      registered.add(key)
      const leave = register(caller, close)
      return () => {
        registered.delete(key)
        leave()
      }
    }
    const token = await server.tokenFor("ada")
    const round = async (index: number) => {
      const peer = await Peer.open(server.url, { authorization: `Bearer ${token}` })
      peer.send({ type: "hello", deviceId: `device ${index % 7}`, offers: ["workspace"] })
      peer.send({ type: "attach", conversationId: id })
      peer.send({ type: "attach" })
      if (index % 3 === 0) await peer.next("event")
      if (index % 2 === 0) peer.socket.terminate()
      else {
        peer.socket.close()
        await once(peer.socket, "close")
      }
    }
    for (let batch = 0; batch < BATCHES; batch++)
      await Promise.all(Array.from({ length: 20 }, (_, index) => round(index)))
    await expect.poll(() => [watchers, registered.size], { timeout: 60_000 }).toEqual([0, 0])
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    expect(/^pawl_open_streams (\d+)/m.exec(metrics)?.[1]).toBe("0")
  },
)
