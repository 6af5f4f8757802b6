import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { connect } from "@nats-io/transport-node"
import { systemClock } from "../../core/shared/time/clock.ts"
import { silentLog } from "../../core/shared/log.ts"
import { NatsTransport } from "../../core/bus/nats.ts"
import { hangs, says, scripted } from "../../core/testing.ts"
import { busKeys, natsSettings, readTraffic, shared } from "./links.ts"
import { PacedModel } from "../support/loop/paced-model.ts"
import { hasNats, NatsServer } from "../support/processes/nats-server.ts"
import { Face, type FaceOptions, Visitor } from "../support/server/face.ts"
import { isOver, readFrames, type SeenFrame } from "../support/server/stream.ts"

const textOf = (seen: readonly SeenFrame[]) =>
  seen.map(({ type, data }) => (type === "text_delta" ? (data.text as string) : "")).join("")
const busOf = async (face: Face) => (await (await face.as("ada")).get("/readyz")).body.bus as string

describe.skipIf(!hasNats).each(shared)("two servers on one $name connected by NATS", ({ create }) => {
  let nats: NatsServer
  beforeAll(async () => {
    nats = await NatsServer.start()
  })
  afterAll(() => nats[Symbol.asyncDispose]())

  const open = async (using: FaceOptions["nats"] = natsSettings(nats)) => {
    const { url } = await create()
    const model = new PacedModel()
    const one = await Face.open({ url, model, nats: using })
    const two = await Face.open({ url, model: scripted(says("Two.")), nats: using })
    const [here, there] = [await one.as("ada"), await two.as("ada")]
    const id = await here.begin({ agent: "test" })
    return {
      ...{ one, two, here, there, id, model },
      say: () => here.post(`/api/conversations/${id}/messages`, { text: "Go." }),
      async [Symbol.asyncDispose]() {
        model.end()
        await Promise.all([one[Symbol.asyncDispose](), two[Symbol.asyncDispose]()])
      },
    }
  }
  const heard = async ({ one, two }: { one: Face; two: Face }) => {
    for (const face of [one, two]) await expect.poll(() => busOf(face)).toBe("ok")
  }

  test("text written at one is shown at the other while the reply is being written", async () => {
    await using nodes = await open()
    await heard(nodes)
    const said = nodes.say()
    const watching = await nodes.there.watch(nodes.id)
    let seen: SeenFrame[] = []
    const all = readFrames(watching, (frames) => isOver((seen = frames)))
    nodes.model.write("Let me ")
    await expect.poll(() => textOf(seen)).toBe("Let me ")
    nodes.model.write("think.")
    await expect.poll(() => textOf(seen)).toBe("Let me think.")
    nodes.model.end()
    await said
    expect((await all).at(-1)?.type).toBe("done")
    expect(textOf(seen)).toBe("Let me think.") // and nothing twice
  })

  test("a client that joins in the middle of a reply sees it from its beginning, then the rest", async () => {
    await using nodes = await open()
    await heard(nodes)
    const said = nodes.say()
    const first = await nodes.here.watch(nodes.id)
    nodes.model.write("a".repeat(200_000))
    await readFrames(first, (seen) => textOf(seen).length === 200_000)
    let seen: SeenFrame[] = []
    const all = readFrames(await nodes.there.watch(nodes.id), (frames) => isOver((seen = frames)))
    await expect.poll(() => textOf(seen).length).toBe(200_000)
    nodes.model.write("b")
    await expect.poll(() => textOf(seen).at(-1)).toBe("b")
    nodes.model.end()
    await said
    await all
    expect(textOf(seen)).toBe(`${"a".repeat(200_000)}b`)
  })

  test("a NATS with a limit of 64 kB carries messages of any length", async () => {
    await using narrow = await NatsServer.withPayload(65_536)
    await using nodes = await open(natsSettings(narrow))
    await heard(nodes)
    const said = nodes.say()
    let seen: SeenFrame[] = []
    const all = readFrames(await nodes.there.watch(nodes.id), (frames) => isOver((seen = frames)))
    const long = "\u0001é漢".repeat(40_000) // six characters of JSON, two bytes, and three
    nodes.model.write(long)
    await expect.poll(() => textOf(seen).length).toBe(long.length)
    nodes.model.end()
    await said
    await all
    expect(textOf(seen)).toBe(long)
    for (const { logged } of [nodes.one, nodes.two]) expect(logged.map(({ event }) => event)).not.toContain("bus_down")
  })

  test("a NATS with a lower limit is not used, and the log says what to set", async () => {
    await using tooNarrow = await NatsServer.withPayload(32_768)
    await using nodes = await open(natsSettings(tooNarrow))
    const why = () => nodes.one.logged.find(({ event }) => event === "bus_down")?.why
    await expect.poll(why).toMatch(/max_payload/)
    expect(await busOf(nodes.one)).toBe("down")
  })

  test("without text, NATS carries no message content, and the reply appears when it is stored", async () => {
    await using nodes = await open(natsSettings(nats, { carriesText: false }))
    await heard(nodes)
    await using traffic = await readTraffic(nats)
    const all = readFrames(await nodes.there.watch(nodes.id), isOver)
    const said = nodes.say()
    nodes.model.write("Secret.")
    nodes.model.end()
    await said
    expect((await all).map(({ type }) => type)).toContain("message")
    expect(traffic.texts.join()).toContain(nodes.id)
    expect(traffic.texts.join()).not.toMatch(/refused|Secret|Go\./)
  })

  test("a cluster of another name on the same NATS receives nothing", async () => {
    await using nodes = await open()
    await heard(nodes)
    const carried: string[] = []
    const ear = await connect({ servers: nats.url })
    ear.subscribe("pawl.other.>", { callback: (_, message) => void carried.push(message.string()) })
    await ear.flush()
    const said = nodes.say()
    nodes.model.write("Hm.")
    nodes.model.end()
    await said
    await ear.close()
    expect(carried).toEqual([])
  })

  test("a message to a missing node is reported as not delivered", async () => {
    const openWire = async (self: string) => {
      const up = Promise.withResolvers<void>()
      const transport = new NatsTransport(
        { url: nats.url, cluster: "mail" },
        { self, clock: systemClock, log: silentLog, keys: busKeys },
      )
      transport.setReceiver({ received() {}, unknownSender() {}, changed: up.resolve })
      transport.onDelivery(() => {})
      await up.promise
      return transport
    }
    await using here = await openWire("node_here")
    await using _ = await openWire("node_there")
    expect(await here.deliver("node_there", "{}")).toBe("taken")
    expect(await here.deliver("node_gone", "{}")).toBe("nobody")
    // A stranger's confirmation in place of the node's is not accepted.
    const stranger = await connect({ servers: nats.url })
    stranger.subscribe("pawl.mail.mail.node_gone", { callback: (_, message) => void message.respond(message.data) })
    await stranger.flush()
    expect(await here.deliver("node_gone", "{}")).toBe("unknown")
    await stranger.close()
  })

  test("a token revoked at one closes its streams at the other", async () => {
    await using nodes = await open()
    await heard(nodes)
    const { body } = await nodes.here.post("/api/tokens", { scopes: ["read"] })
    const guest = new Visitor((request) => nodes.two.fetch(request), body.token as string)
    const watching = readFrames(await guest.watch(nodes.id), () => false)
    await nodes.here.delete(`/api/tokens/${body.id}`)
    await watching // it has an end
  })
})

describe.skipIf(!hasNats).each(shared)("NATS that connects and disconnects, on $name", ({ create }) => {
  test("a server starts without it, connects when it comes, and reports when it has gone", async () => {
    await using nats = await NatsServer.prepare()
    const { url } = await create()
    const model = new PacedModel()
    await using one = await Face.open({ url, model, nats: natsSettings(nats) })
    await using two = await Face.open({ url, model: scripted(hangs("")), nats: natsSettings(nats) })
    expect(await busOf(one)).toBe("down")
    await nats.start()
    for (const face of [one, two]) await expect.poll(() => busOf(face)).toBe("ok")
    const [here, there] = [await one.as("ada"), await two.as("ada")]
    const id = await here.begin({ agent: "test" })
    const said = here.post(`/api/conversations/${id}/messages`, { text: "Go." })
    let seen: SeenFrame[] = []
    const all = readFrames(await there.watch(id), (frames) => isOver((seen = frames)))
    model.write("One. ")
    await expect.poll(() => textOf(seen)).toBe("One. ")
    await nats.kill()
    for (const face of [one, two]) await expect.poll(() => busOf(face)).toBe("down")
    model.write("Two. ")
    await nats.start()
    for (const face of [one, two]) await expect.poll(() => busOf(face)).toBe("ok")
    model.write("Three.")
    await expect.poll(() => textOf(seen)).toBe("One. Two. Three.")
    await nats.kill()
    model.end()
    await said
    expect((await all).at(-1)?.type).toBe("done")
    expect(textOf(seen)).toBe("One. Two. Three.")
  })

  test("a server reports the delay of messages while connected, and none otherwise", async () => {
    await using nats = await NatsServer.start()
    const { url } = await create()
    await using one = await Face.open({ url, model: scripted(says("")), nats: natsSettings(nats) })
    await using two = await Face.open({ url, model: scripted(says("")), nats: natsSettings(nats) })
    const ops = await one.as("ops", "admin")
    const told = async () => (await ops.get("/metrics")).text.match(/^pawl_bus_(up|lag).*$/gm) ?? []
    await expect
      .poll(told)
      .toEqual([
        "pawl_bus_up 1",
        expect.stringMatching(/^pawl_bus_lag_seconds\{to="nats"\} (0\.\d+|\de-\d+)$/),
        expect.stringMatching(/^pawl_bus_lag_seconds\{to="nodes"\} (0\.\d+|\de-\d+)$/),
      ])
    expect(two.pawl.ports.bus.hearsOthers()).toBe(true)
    await nats.kill()
    await expect.poll(told).toEqual(["pawl_bus_up 0"])
    await using alone = await Face.open({ url, model: scripted(says("")) })
    expect((await (await alone.as("ops", "admin")).get("/metrics")).text).not.toMatch(/^pawl_bus_/m)
  })

  test("a silent one counts as disconnected, and as connected again when it answers", async () => {
    await using nats = await NatsServer.start()
    const { url } = await create()
    await using one = await Face.open({ url, model: scripted(says("")), nats: natsSettings(nats) })
    await expect.poll(() => busOf(one)).toBe("ok")
    nats.signal("SIGSTOP")
    await expect.poll(() => busOf(one)).toBe("down")
    expect(one.logged.map(({ event }) => event)).toContain("bus_down")
    nats.signal("SIGCONT")
    await expect.poll(() => busOf(one)).toBe("ok")
  })

  test("a node with the wrong password receives nothing, and the log contains no secret", async () => {
    await using nats = await NatsServer.start("--user", "pawl", "--pass", "s3cret-word")
    const { url } = await create()
    const at = (login: string) => ({ ...natsSettings(nats), url: nats.url.replace("//", `//${login}@`) })
    await using one = await Face.open({ url, model: scripted(says("")), nats: at("pawl:s3cret-word") })
    await using two = await Face.open({ url, model: scripted(says("")), nats: at("pawl:another-word") })
    await expect.poll(() => busOf(one)).toBe("ok")
    await expect.poll(() => two.logged.map(({ event }) => event)).toContain("bus_down")
    expect(await busOf(two)).toBe("down")
    const told = two.logged.map(({ event, error }) => `${event} ${error as Error}`).join()
    expect(told).toMatch(/authorization/i)
    expect(told).not.toMatch(/another-word/)
  })
})
