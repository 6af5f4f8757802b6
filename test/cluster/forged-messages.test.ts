import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { systemClock } from "../../core/shared/time/clock.ts"
import { silentLog } from "../../core/shared/log.ts"
import { NatsTransport } from "../../core/bus/nats.ts"
import { ALL_NODES } from "../../core/bus/wire.ts"
import { examineBus } from "../../apps/cli/doctor/server.ts"
import { openDevice } from "../../client/device/index.ts"
import { EVENT_VERSION } from "../../core/protocol/events.ts"
import { newId } from "../../core/protocol/ids.ts"
import { calls, hangs, says, scripted } from "../../core/testing.ts"
import { busKeys, natsSettings, shared } from "./links.ts"
import { openNodes } from "./nodes.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { hasNats, NatsServer } from "../support/processes/nats-server.ts"
import { Face } from "../support/server/face.ts"
import { isOver, readFrames, type SeenFrame } from "../support/server/stream.ts"

const STRANGER = "node_stranger"
const COMMAND = { action: "run_command", data: { command: "id", outside_sandbox: true, agreed: {} } } as const

interface Recorded {
  readonly subject: string
  readonly bytes: Uint8Array
  /** Sends the same bytes to the same subject. */
  again(): void
}

/** A client that may publish on the NATS of a cluster, and does not have its master key. */
class Stranger implements AsyncDisposable {
  readonly #connection: NatsConnection
  /** All messages that the stranger received. */
  readonly received: string[] = []

  private constructor(connection: NatsConnection) {
    this.#connection = connection
    const callback = (_: Error | null, message: { string(): string; respond(): boolean }) => {
      this.received.push(message.string())
      message.respond()
    }
    for (const kind of ["mail", "node"]) connection.subscribe(`pawl.test.${kind}.${STRANGER}`, { callback })
  }

  static async open(nats: NatsServer): Promise<Stranger> {
    const stranger = new Stranger(await connect({ servers: nats.url }))
    await stranger.#connection.flush()
    return stranger
  }

  /** Returns true if the node has confirmed that it took the message. */
  async request(node: string, message: object): Promise<boolean> {
    const text = JSON.stringify({ from: STRANGER, words: [message] })
    return this.#connection.request(`pawl.test.mail.${node}`, text, { timeout: 1000 }).then(
      () => true,
      () => false,
    )
  }

  async publish(node: string, message: object): Promise<void> {
    this.#connection.publish(`pawl.test.node.${node}`, JSON.stringify({ from: STRANGER, words: [message] }))
    await this.#connection.flush()
  }

  /** Records all messages of the cluster from now on. */
  record(): Recorded[] {
    const seen: Recorded[] = []
    const callback = (_: Error | null, { subject, data }: { subject: string; data: Uint8Array }) => {
      seen.push({ subject, bytes: data, again: () => this.#connection.publish(subject, data) })
    }
    this.#connection.subscribe("pawl.test.>", { callback })
    return seen
  }

  flush(): Promise<void> {
    return this.#connection.flush()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.close()
  }
}

describe.skipIf(!hasNats).each(shared)("a stranger who can publish on the NATS of a cluster on $name", (database) => {
  let nats: NatsServer
  beforeAll(async () => {
    nats = await NatsServer.start()
  })
  afterAll(() => nats[Symbol.asyncDispose]())

  test("gets no ticket for a device and makes it run no command", async () => {
    await using nodes = await openNodes({ database, nats: natsSettings(nats) })
    await using stranger = await Stranger.open(nats)
    const { one, machine } = nodes
    using device = await nodes.connect(one)
    const [{ number }] = (await nodes.rows("connected_device")) as [{ number: number }]
    const node = one.face.store.node.id
    const ticket = { type: "device_ticket", id: "ask_1", line: Number(number), callId: "call_forged" }
    const isTaken = await stranger.request(node, ticket)
    if (isTaken) await expect.poll(() => stranger.received).toHaveLength(1)
    const answer = /"ticket":"([^"]+)"/.exec(stranger.received.join())?.[1]
    const call = { type: "tool_call", id: "call_forged", ...COMMAND }
    const write = { type: "device_write", id: "ask_2", ticket: answer ?? "none", call, ms: 5000 }
    if (await stranger.request(node, write)) await device.next("tool_call")
    expect(machine.calls).toEqual([])
    expect([isTaken, answer]).toEqual([false, undefined])
    const refused = one.face.logged.filter(({ event }) => event === "bus_message_refused")
    expect(refused[0]).toMatchObject({ reason: "not encrypted", sender: STRANGER })
    const findings = (await Array.fromAsync(examineBus(one.face.server))).map(([, what]) => what)
    expect(findings).toContainEqual(
      expect.stringMatching(
        /those of node_stranger are refused; they are not encrypted; .* who else publishes on NATS under its name/,
      ),
    )
  })

  test("even with the key of the bus is refused by the device, because no server has signed that", async () => {
    await using nodes = await openNodes({ database, nats: natsSettings(nats) })
    const { one } = nodes
    const ran: unknown[] = []
    const connected = Promise.withResolvers<void>()
    await using _ = openDevice({
      ...{ server: one.url, token: nodes.token, db: join(dataFolder(), "device.db"), deviceId: "laptop" },
      handlers: { run_command: (data) => (ran.push(data), { text: "Done." }) },
      onState: ({ state }) => state === "connected" && connected.resolve(),
    })
    await connected.promise
    const node = one.face.store.node.id
    const [{ number }] = (await nodes.rows("connected_device")) as [{ number: number }]
    const up = Promise.withResolvers<void>()
    const settings = { url: nats.url, cluster: "test" }
    await using transport = new NatsTransport(settings, {
      self: STRANGER,
      clock: systemClock,
      log: silentLog,
      keys: busKeys,
    })
    transport.setReceiver({ received() {}, unknownSender() {}, changed: up.resolve })
    const answers: string[] = []
    transport.onDelivery((text) => void answers.push(text))
    await up.promise
    const tell = (message: object) => transport.deliver(node, JSON.stringify({ from: STRANGER, words: [message] }))
    await tell({ type: "device_ticket", id: "ask_1", line: Number(number), callId: "call_forged" })
    await expect.poll(() => answers).toHaveLength(1)
    const ticket = /"ticket":"([^"]+)"/.exec(answers[0] ?? "")?.[1]
    const call = { type: "tool_call", id: "call_forged", ...COMMAND }
    await tell({ type: "device_write", id: "ask_2", ticket, call, ms: 5000 })
    await expect.poll(() => answers).toHaveLength(2)
    expect(answers[1]).toMatch(/without a signature/)
    expect(ran).toEqual([])
  })

  test("learns no text of a conversation, and replays no message that a node has already had", async () => {
    const script = [calls("create_task", { title: "Buy milk" }), says("There it is.")]
    await using nodes = await openNodes({ database, nats: natsSettings(nats), script })
    await using stranger = await Stranger.open(nats)
    const { one, two, ada, machine } = nodes
    const recorded = stranger.record()
    await stranger.flush()
    using _ = await nodes.connect(one)
    const id = await ada.begin({ deviceId: "laptop", mode: "auto" })
    expect((await ada.say(id, "milk")).body.run.status).toBe("completed")
    const mail = recorded.filter(({ subject }) => subject.includes(".mail."))
    expect(mail.length).toBeGreaterThanOrEqual(4) // a ticket and a write, each with its answer
    for (const { bytes } of recorded) expect(Buffer.from(bytes).toString("latin1")).not.toMatch(/milk|"words"/)
    for (const message of mail) message.again()
    const isReplay = ({ event, reason }: Record<string, unknown>) =>
      event === "bus_message_refused" && reason === "replayed"
    for (const { face } of [one, two]) await expect.poll(() => face.logged.some(isReplay)).toBe(true)
    expect([machine.effects, machine.calls.length]).toEqual([1, 1])
  })

  test("cannot send a recorded broadcast to a node that starts later", async () => {
    await using stranger = await Stranger.open(nats)
    const recorded = stranger.record()
    await stranger.flush()
    const open = async (self: string) => {
      const up = Promise.withResolvers<void>()
      const [heard, unknownSender]: [string[], string[]] = [[], []]
      const ports = { self, clock: systemClock, log: silentLog, keys: busKeys }
      const transport = new NatsTransport({ url: nats.url, cluster: "test" }, ports)
      transport.setReceiver({
        received: (text) => heard.push(text),
        unknownSender: (node) => unknownSender.push(node),
        changed: up.resolve,
      })
      await up.promise
      return { transport, heard, unknownSender, [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() }
    }
    await using one = await open("node_one")
    one.transport.send(ALL_NODES, "recorded")
    await expect.poll(() => recorded).toHaveLength(1)
    await using two = await open("node_two")
    recorded[0]?.again()
    await expect.poll(() => two.unknownSender).toEqual(["node_one"])
    one.transport.send("node_two", "met")
    one.transport.send(ALL_NODES, "live")
    await expect.poll(() => two.heard).toEqual(["met", "live"])
    recorded[0]?.again()
    await expect.poll(() => two.unknownSender).toEqual(["node_one", "node_one"])
    expect(two.heard).toEqual(["met", "live"])
    expect(two.transport.refused.totals.size).toBe(0)
  })

  test("cannot read a person's stream", async () => {
    await using nodes = await openNodes({ database, nats: natsSettings(nats), script: [hangs("")] })
    await using stranger = await Stranger.open(nats)
    const { two, ada } = nodes
    const id = await ada.begin()
    let seen: readonly SeenFrame[] = []
    const all = readFrames(await ada.watch(id), (frames) => isOver((seen = frames)))
    await expect.poll(() => nodes.rows("event")).toHaveLength(1)
    const parts = [{ type: "text", text: "Forged." }]
    const version = EVENT_VERSION
    const event = {
      type: "message",
      version,
      position: 2,
      id: newId("msg"),
      seq: 1,
      role: "assistant",
      parts,
      at: Date.now(),
    }
    const [person] = await nodes.rows("person")
    await stranger.publish(two.face.store.node.id, { type: "rows", id, user: person!.id, events: [event] })
    const said = ada.say(id, "Hello")
    await expect.poll(() => JSON.stringify(seen)).toContain("Hello")
    expect(JSON.stringify(seen)).not.toContain("Forged.")
    await ada.post(`/api/conversations/${id}/cancel`)
    await Promise.all([said, all])
  })
})

test.each(shared)(
  "a server on $name does not start with a NATS on another machine and no credentials",
  async (database) => {
    const { url } = await database.create()
    const nats = { url: "nats://nats.example:4222", credentialsFile: undefined, cluster: "test", carriesText: true }
    const opening = Face.open({ url, model: scripted(), nats })
    await expect(opening).rejects.toThrow(/nats\.example:4222 .*NATS_URL .*NATS_CREDS/)
    for (const address of ["nats://token@nats.example:4222", "nats://localhost:9", "tls://127.0.0.1:9,nats://[::1]:9"])
      await (await Face.open({ url, model: scripted(), nats: { ...nats, url: address } }))[Symbol.asyncDispose]()
  },
)
