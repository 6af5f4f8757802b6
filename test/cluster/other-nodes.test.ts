import { randomUUID } from "node:crypto"
import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import type { Script } from "../../core/models/scripted/script.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { linked, linkedBy } from "./links.ts"
import { listen } from "../../core/server/listen.ts"
import { Held, read, write } from "../support/loop/tools.ts"
import { Face, type Reply } from "../support/server/face.ts"
import { Peer } from "../support/server/socket.ts"
import { isOver, readFrames, type SeenFrame } from "../support/server/stream.ts"

interface Scripts {
  readonly then?: readonly string[]
  readonly elsewhere?: readonly Script[]
}

describe.each(linked)("two servers on one $name and $link", ({ create, link }) => {
  const natsOf = linkedBy(link)

  /** A run on `one`, in the middle of a tool call, and a client of `two`. */
  const open = async ({ then = [], elsewhere = [says("Two.")] }: Scripts = {}) => {
    const { url } = await create()
    const held = new Held()
    const tools = [read("wait", held.run), write("save", () => answer("Saved."))]
    const model = scripted(calls("wait"), says("Found."), ...then.map((text) => says(text)))
    const nats = natsOf()
    const one = await Face.open({ url, model, tools, nats })
    const two = await Face.open({ url, model: scripted(...elsewhere), tools, nats })
    const heard = ({ pawl }: Face) => !nats || pawl.ports.bus.hearsOthers()
    await expect.poll(() => heard(one) && heard(two)).toBe(true)
    const [here, there] = [await one.as("ada"), await two.as("ada")]
    const id = await here.begin({ agent: "test" })
    const path = `/api/conversations/${id}/messages`
    const key = { "idempotency-key": randomUUID() }
    const said = here.post(path, { text: "Look." }, key)
    await held.begun
    return {
      ...{ one, two, here, there, id, path, key, held, said },
      async [Symbol.asyncDispose]() {
        held.end("too late")
        await said
        await Promise.all([one[Symbol.asyncDispose](), two[Symbol.asyncDispose]()])
      },
    }
  }
  const statusOf = ({ body }: Reply) => body.run?.status
  const textOf = (frames: readonly SeenFrame[]) =>
    frames.flatMap(({ type, data }) => (type === "message" ? [data.message.content] : [])).at(-1)

  test("a client that watches at the other node sees the run to its end", async () => {
    await using nodes = await open()
    const seen = readFrames(await nodes.there.watch(nodes.id), isOver)
    nodes.held.end("found it")
    expect(textOf(await seen)).toBe("Found.")
  })

  test("a message that arrives at the other one is answered there", async () => {
    await using nodes = await open({ then: ["Second."] })
    const headers = { accept: "text/event-stream", "content-type": "application/json" }
    const stream = await nodes.there.send("POST", nodes.path, { body: { text: "And then?" }, headers })
    const seen = readFrames(stream, isOver)
    nodes.held.end("found it")
    expect(textOf(await seen)).toBe("Second.")
  })

  test("a socket at the other one also shows the run and answers messages", async () => {
    await using nodes = await open({ then: ["Second."] })
    const { people } = nodes.two.store
    const { token } = await people.createToken(await people.ensure("ada", 0), ["read", "chat"], 0)
    await using stack = new AsyncDisposableStack()
    const listening = await listen((sent, env) => nodes.two.fetch(sent, env), { host: "127.0.0.1", port: 0 })
    stack.defer(() => listening.close(0))
    using peer = await Peer.open(listening.url, { authorization: `Bearer ${token}` })
    peer.send({ type: "attach", conversationId: nodes.id })
    peer.send({ type: "chat_request", message: "And then?", context: { conversationId: nodes.id } })
    await expect
      .poll(async () => (await nodes.here.get(`/api/conversations/${nodes.id}/queue`)).body.items)
      .toHaveLength(1)
    nodes.held.end("found it")
    expect((await peer.next("final")).response).toBe("Second.")
    const shown = () =>
      peer.events(nodes.id).flatMap(({ type, data }) => (type === "message" ? [data.message.content] : []))
    await peer.until(() => shown().includes("Second."))
    expect(shown()).toContain("Found.")
  })

  test("a request that is repeated at the other one waits there for the answer in progress here", async () => {
    await using nodes = await open()
    const repeated = nodes.there.post(nodes.path, { text: "Look." }, nodes.key)
    nodes.held.end("found it")
    expect((await repeated).body).toEqual((await nodes.said).body)
    expect(statusOf(await repeated)).toBe("completed")
  })

  test("a cancel at the other one stops the run here, and says so there", async () => {
    await using nodes = await open()
    const signal = await nodes.held.begun
    const { status, body } = await nodes.there.post(`/api/conversations/${nodes.id}/cancel`)
    expect([status, body]).toEqual([200, { cancelled: true }])
    expect(signal.aborted).toBe(true)
    expect(statusOf(await nodes.said)).toBe("cancelled")
  })

  test("a resume at the other one waits there for the run that is at work here", async () => {
    await using nodes = await open()
    const resumed = nodes.there.post(`/api/conversations/${nodes.id}/resume`)
    nodes.held.end("found it")
    expect(statusOf(await resumed)).toBe("completed")
  })

  test("a conversation erased at the other one ends for its watchers here, and its run stops", async () => {
    await using nodes = await open()
    const seen = readFrames(await nodes.here.watch(nodes.id), () => false)
    const signal = await nodes.held.begun
    expect((await nodes.there.delete(`/api/conversations/${nodes.id}`)).status).toBe(204)
    await seen // the stream has an end
    expect(signal.aborted).toBe(true)
    nodes.held.end("too late")
    await nodes.said
    expect((await nodes.here.get(`/api/conversations/${nodes.id}`)).status).toBe(404)
  })

  test("a decision at the other one is carried out and answered there", async () => {
    await using nodes = await open({ elsewhere: [calls("save"), says("Saved.")] })
    nodes.held.end("found it")
    const id = await nodes.there.begin({ agent: "test" })
    expect(statusOf(await nodes.there.say(id, "Save."))).toBe("paused")
    const { items } = (await nodes.here.get("/api/agent/proposals")).body
    const decided = await nodes.here.post(`/api/agent/proposals/${items[0].id}/commit`)
    expect([decided.status, decided.body.status]).toEqual([200, "applied"])
  })

  test("a server that other nodes consider failed stops its work, and its watchers see the run as the other node continues it", async () => {
    await using nodes = await open()
    const signal = await nodes.held.begun
    const seen = readFrames(await nodes.here.watch(nodes.id), isOver)
    // As after a pause that was too long: the others have removed the node, and it does not know.
    const struckOff = { sql: "DELETE FROM node WHERE id = ?", values: [nodes.one.store.node.id] }
    await nodes.two.store.engine.change({ type: "statements", statements: [struckOff] })
    expect(await nodes.two.pawl.runtime.recover()).toBe(1)
    await expect.poll(() => signal.aborted).toBe(true)
    nodes.held.end("found it")
    const frames = await seen
    expect(frames.map(({ type }) => type)).toContain("restarted")
    expect(textOf(frames)).toBe("Two.")
  })

  test("a server reports how many conversations it writes and has taken over, and how old its last poll is", async () => {
    await using nodes = await open()
    const numbersOf = async (face: Face) => {
      const { text } = await (await face.as("ops", "admin")).get("/metrics")
      const of = (name: string) => Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1])
      return [of("pawl_leases_held"), of("pawl_takeovers_total"), of("pawl_look_age_seconds") < 5]
    }
    expect([await numbersOf(nodes.one), await numbersOf(nodes.two)]).toEqual([
      [1, 0, true],
      [0, 0, true],
    ])
    const struckOff = { sql: "DELETE FROM node WHERE id = ?", values: [nodes.one.store.node.id] }
    await nodes.two.store.engine.change({ type: "statements", statements: [struckOff] })
    await nodes.two.pawl.runtime.recover()
    await expect.poll(async () => (await numbersOf(nodes.two))[1]).toBe(1)
    nodes.held.end("found it") // there the tool runs again, and would be waited for
    await nodes.two.pawl.runtime.rest(nodes.id as ConversationId)
    expect(await numbersOf(nodes.two)).toEqual([0, 1, true])
  })

  test("all devices of a person update with what happens at the other one", async () => {
    await using nodes = await open()
    nodes.held.end("found it")
    await nodes.said
    const told = (frames: readonly SeenFrame[]) => JSON.stringify(frames.map(({ data }) => data))
    const feed = await nodes.there.send("GET", "/api/feed")
    const title = `Named ${randomUUID()}`
    const seen = readFrames(feed, (frames) => told(frames).includes(title))
    await nodes.here.patch(`/api/conversations/${nodes.id}`, { title })
    expect(told(await seen)).toContain(title)
    const again = await nodes.there.send("GET", "/api/feed")
    let seenAgain: readonly SeenFrame[] = []
    const tasksIn = (frames: readonly SeenFrame[]) =>
      frames.filter(({ data }) => data.table === "tasks").map(({ data }) => data)
    const rows = readFrames(again, (frames) => {
      seenAgain = frames
      return told(frames).includes("Bread")
    })
    await expect.poll(() => seenAgain.length).toBeGreaterThan(0) // the snapshot
    expect((await nodes.here.post("/api/workspace/tasks", { title: "Milk" })).status).toBe(201)
    await expect.poll(() => tasksIn(seenAgain)).not.toEqual([])
    // If the report from the other node arrives twice, a frame without rows may replace the one with this row.
    const addBread = async () => {
      await nodes.there.post("/api/workspace/tasks", { title: "Bread" })
      return told(seenAgain)
    }
    await expect.poll(addBread, { interval: 500 }).toContain("Bread")
    // A change on the other node is reported only by its table; a local change is reported with its rows.
    const frames = tasksIn(await rows)
    expect(frames[0]).toEqual({ table: "tasks" })
    expect(frames.at(-1)).toMatchObject({ rows: [{ title: "Bread" }], deleted: [] })
  })
})
