import { setImmediate as turnOfLoop } from "node:timers/promises"
import { expect, test } from "vitest"
import { LossyNet } from "../../test/cluster/lossy-wire.ts"
import { TurnedClock } from "../../test/support/loop/world.ts"
import type { Live, Watched } from "../engine/ports.ts"
import { type ConversationId, newId } from "../protocol/ids.ts"
import { ClusterBus } from "./cluster.ts"
import { MAX_MESSAGE } from "./wire.ts"

const [A, B] = ["node_a", "node_b"]

/** Two processes: `one` writes and `two` watches. */
function open({ carriesText = true } = {}) {
  const net = new LossyNet()
  const clock = new TurnedClock()
  const wires = [net.join(A), net.join(B)] as const
  const [one, two] = wires.map((wire) => new ClusterBus(wire, { clock, carriesText })) as [ClusterBus, ClusterBus]
  /** Resolves when all messages have arrived and been answered. */
  const settle = async () => {
    for (let turns = 0; turns < 6; turns++) await turnOfLoop()
  }
  const write = async (id: ConversationId, text: string, offset: number) => {
    one.publish(id, { type: "text_delta", position: 1, offset, text })
    await clock.turn(16)
    await settle()
  }
  return { net, clock, wires, one, two, settle, write }
}

/** The live text that one subscriber has received. */
function watch(bus: ClusterBus, id: ConversationId) {
  const heard: Live[] = []
  const leave = bus.subscribe(id, (live) => void heard.push(live))
  const shown = async () => (await bus.soFar(id))?.text
  return { heard, leave, shown }
}

test("text is sent to nodes whose clients watch, and to no others", async () => {
  const { net, two, settle, write } = open()
  const carried: string[] = []
  net.copies = (text) => (carried.push(text), 1)
  const id = newId("conv")
  await settle()
  await write(id, "Nobody hears this.", 18)
  expect(carried.join()).not.toContain("Nobody hears this.")
  const { shown, leave } = watch(two, id)
  await settle()
  expect(await shown()).toBe("Nobody hears this.") // a new subscriber gets the previous text
  await write(id, " But this.", 28)
  expect(await shown()).toBe("Nobody hears this. But this.")
  leave()
  await settle()
  carried.length = 0
  await write(id, " Gone.", 34)
  expect(carried.join()).not.toContain("Gone.")
})

test("lost text is requested, and text that arrives twice is shown once", async () => {
  const { net, two, settle, write } = open()
  const id = newId("conv")
  await settle()
  const { heard, shown } = watch(two, id)
  await settle()
  await write(id, "One, ", 5)
  net.copies = (text) => (text.includes("two, ") ? 0 : 1)
  await write(id, "two, ", 10)
  net.copies = () => 1
  await write(id, "three, ", 17)
  expect(await shown()).toBe("One, two, three, ")
  net.copies = () => 2
  await write(id, "four.", 22)
  expect(await shown()).toBe("One, two, three, four.")
  const last = heard.findLast((live) => live.type === "text_delta")
  expect(last).toMatchObject({ text: "four.", offset: 22 })
  expect(heard.filter((live) => live.type === "text_delta" && live.text === "four.")).toHaveLength(1)
})

test("a lost watch is noticed with the next heartbeat", async () => {
  const { net, clock, two, settle, write } = open()
  const id = newId("conv")
  await settle()
  net.copies = (text) => (text.includes('"watch"') ? 0 : 1)
  const { shown } = watch(two, id)
  await settle()
  net.copies = () => 1
  await write(id, "Lost", 4)
  expect(await shown()).toBe(undefined)
  await clock.turn(2000)
  await settle()
  expect(await shown()).toBe("Lost")
})

test("a silent node gets no further messages, and all of the reply when it comes back", async () => {
  const { net, wires, clock, two, settle, write } = open()
  const id = newId("conv")
  await settle()
  const { shown } = watch(two, id)
  await settle()
  await write(id, "Before. ", 8)
  wires[1].turn(false)
  const carried: string[] = []
  net.copies = (text) => (carried.push(text), 1)
  for (let passed = 0; passed < 14_000; passed += 2000) await clock.turn(2000)
  await write(id, "Meanwhile. ", 19)
  expect(carried.join()).not.toContain("Meanwhile")
  wires[1].turn(true)
  await settle()
  expect(await shown()).toBe("Before. Meanwhile. ")
})

test("the journal is read when the connection comes or goes, and for a new watch as soon as the other nodes know it", async () => {
  const { wires, clock, two, settle } = open()
  const doubts: (Watched | undefined)[] = []
  two.onDoubt((about) => void doubts.push(about))
  const id = newId("conv")
  watch(two, id)
  await settle()
  expect(doubts).toEqual([])
  await clock.turn(100)
  expect(doubts.map((about) => [...(about?.conversations ?? [])])).toEqual([[id]])
  wires[1].turn(false)
  wires[1].turn(true)
  expect(doubts.slice(1)).toEqual([undefined, undefined])
})

test("a live node that cannot be reached makes the bus partial", async () => {
  const net = new LossyNet()
  const clock = new TurnedClock()
  const living = [B]
  const one = new ClusterBus(net.join(A), { clock, carriesText: true, others: () => living })
  expect(one.hearsOthers()).toBe(false)
  const two = new ClusterBus(net.join(B), { clock, carriesText: true })
  for (let turns = 0; turns < 6; turns++) await turnOfLoop()
  expect([one.hearsOthers(), two.hearsOthers()]).toEqual([true, true])
  living.push("node_without_a_wire")
  expect(one.hearsOthers()).toBe(false)
})

test("a live node that stays unreachable is logged once, and so is its return; starts and failures are not logged", async () => {
  const net = new LossyNet()
  const clock = new TurnedClock()
  const logged: string[] = []
  const say = (event: string, { nodes = [] }: { nodes?: string[] }) => void logged.push(`${event} ${nodes.join()}`)
  const log = { info: say, warn: say, error: say }
  let living = [B]
  const one = new ClusterBus(net.join(A), { clock, carriesText: true, others: () => living, log })
  const pass = async (seconds: number) => {
    for (let at = 0; at < seconds; at += 2) await clock.turn(2000)
  }
  await pass(10) // as one that takes its time to start, or has just died
  living = []
  await pass(30)
  expect([one.isPartial, logged]).toEqual([false, []])
  living = [B]
  await pass(30)
  expect([one.isPartial, logged]).toEqual([true, [`bus_partial ${B}`]])
  new ClusterBus(net.join(B), { clock, carriesText: true })
  await pass(4)
  expect([one.isPartial, logged.slice(1)]).toEqual([false, ["bus_complete "]])
  net.wire(A).turn(false) // without any connection, nothing is partial
  await pass(30)
  expect([one.isPartial, logged.length]).toEqual([false, 2])
})

test("a reply of another node is forgotten when no client watches it any more", async () => {
  const { two, settle, write } = open()
  const id = newId("conv")
  await settle()
  const { shown, leave } = watch(two, id)
  await settle()
  await write(id, "Half", 4)
  expect(await shown()).toBe("Half")
  leave()
  expect(await shown()).toBe(undefined)
})

test("a takeover is announced to all nodes, because the previous owner may not know", async () => {
  const { one, two, settle } = open()
  const id = newId("conv")
  const doubts: (Watched | undefined)[] = []
  two.onDoubt((about) => void doubts.push(about))
  await settle()
  doubts.length = 0
  const row = { type: "restarted", position: 4 } as never
  one.publish(id, { type: "events", user: newId("user"), events: [row] })
  await settle()
  expect(doubts).toEqual([{ conversations: [id], people: [] }])
})

test("the watches of forty thousand people are announced in batches that fit", async () => {
  const { net, two, settle } = open()
  let longest = 0
  net.copies = (text) => ((longest = Math.max(longest, text.length)), 1)
  for (let count = 0; count < 40_000; count++) two.subscribe(newId("conv"), () => {})
  await settle()
  expect(longest).toBeGreaterThan(10_000)
  expect(longest).toBeLessThan(512 * 1024)
})

test("only the position of long rows is sent, and of all rows if text must not be sent", async () => {
  for (const [carriesText, length] of [
    [true, 100_000],
    [false, 10],
  ] as const) {
    const { one, two, settle } = open({ carriesText })
    const id = newId("conv")
    const { heard } = watch(two, id)
    await settle()
    const parts = [{ type: "text" as const, text: "x".repeat(length) }]
    const row = { type: "message", id: newId("msg"), position: 7, role: "user", parts } as never
    one.publish(id, { type: "events", user: newId("user"), events: [row] })
    await settle()
    expect(heard).toEqual([{ type: "recorded", position: 7, atWork: true }])
  }
})

test("messages of a newer version and malformed ones are ignored", async () => {
  const { wires, two, settle, write } = open()
  const id = newId("conv")
  await settle()
  const { shown } = watch(two, id)
  await settle()
  for (const text of ["", "null", "[]", '{"from":1}', `{"from":"${A}","words":[{"type":"song"},7,null]}`])
    wires[1].hear(text)
  await write(id, "Still here.", 11)
  expect(await shown()).toBe("Still here.")
})

test("wake-ups, news and revocations are sent to the other nodes, which do not forward them", async () => {
  const { net, one, two, settle } = open()
  const user = newId("user")
  const id = newId("conv")
  const heard: unknown[] = []
  two.onWake((woken, from) => void heard.push([woken, from]))
  two.onRevoked(() => void heard.push("revoked"))
  two.subscribeNews(user, (kind) => void heard.push(kind))
  await settle()
  let letters = 0
  net.copies = (_, to) => (to === A ? (letters++, 1) : 1)
  one.wake(id)
  one.spreadRevoked()
  one.spreadNews(user, "workspace")
  one.spreadNews(user, "library")
  await settle()
  expect(heard).toEqual(expect.arrayContaining([[id, "elsewhere"], "revoked", "workspace", "library"]))
  expect([heard.length, letters]).toEqual([4, 0])
})

test("round-trip times are known for each node that answers, and grow if it stops answering", async () => {
  const { net, clock, one, settle } = open()
  await settle()
  expect([...one.lagsMs()]).toEqual([[B, 0]])
  // An answer that is held up on its way: it counts when it comes, and its absence before that.
  const held: (() => void)[] = []
  net.copies = (text, to) => (text.includes('"echo"') && to === A ? (held.push(() => wireOf(A).hear(text)), 0) : 1)
  const wireOf = (name: string) => net.wire(name)
  await clock.turn(2000)
  await settle()
  await clock.turn(700)
  expect(one.lagsMs().get(B)).toBe(700)
  for (const hand of held.splice(0)) hand()
  net.copies = () => 1
  expect(one.lagsMs().get(B)).toBe(700)
  await clock.turn(1300)
  await settle()
  expect(one.lagsMs().get(B)).toBe(0)
})

test("a node that never answers heartbeats, such as an older version, has no round-trip time", async () => {
  const { net, clock, one, settle } = open()
  net.copies = (text) => (text.includes('"echo"') ? 0 : 1)
  await settle()
  for (let passed = 0; passed < 8000; passed += 2000) await clock.turn(2000)
  await settle()
  expect([...one.lagsMs()]).toEqual([])
})

test("no batch is longer than the connection accepts, however much is watched and written", async () => {
  const { net, one, two, settle, write } = open()
  const carried: string[] = []
  net.copies = (text) => (carried.push(text), 1)
  const ids = Array.from({ length: 1500 }, () => newId("conv", null))
  const [id] = ids as [ConversationId]
  const ada = newId("user")
  const watches = ids.map((each) => watch(two, each))
  await settle()
  const text = `\u0001"é漢`.repeat(10_000)
  await write(id, text, text.length)
  expect(await watches[0]?.shown()).toBe(text)
  for (const length of [1000, 10_000, 100_000]) {
    const parts = [{ type: "text", text: "\u0001".repeat(length) }]
    const row = { type: "message", id: newId("msg", null), position: 2, role: "user", parts } as never
    one.publish(id, { type: "events", user: ada, events: [row] })
  }
  two.subscribeUser(ada, () => {})
  await settle()
  const copied = Array.from({ length: 5000 }, (_, at) => ({ type: "tool_end", position: at + 3 }) as never)
  one.publish(newId("conv", ada), { type: "events", user: ada, events: copied })
  await settle()
  expect(carried.length).toBeGreaterThan(5)
  expect(Math.max(...carried.map((letter) => letter.length))).toBeLessThan(MAX_MESSAGE + 200)
})

test("reasoning is sent like text: in order, once, and from its start to a late client", async () => {
  const { net, one, two, settle, clock } = open()
  const id = newId("conv")
  const think = async (text: string, offset: number) => {
    one.publish(id, { type: "reasoning_delta", position: 1, offset, text, ms: offset })
    await clock.turn(16)
    await settle()
  }
  const thought = async () => (await two.soFar(id))?.thought
  await think("Hm, ", 4)
  const { heard } = watch(two, id)
  await settle()
  await think("wait", 8)
  expect(await thought()).toEqual({ text: "Hm, wait", ms: 8 })
  one.publish(id, { type: "text_delta", position: 1, offset: 3, text: "Yes" })
  await clock.turn(16)
  await settle()
  await think(".", 9)
  expect(await two.soFar(id)).toEqual({ position: 1, text: "Yes", thought: { text: "Hm, wait.", ms: 9 } })
  // A lost message is requested again from its start and shown once; so is one that arrives twice.
  net.copies = (text) => (text.includes(" Or") ? 0 : 1)
  await think(" Or", 12)
  net.copies = () => 2
  await think(" no?", 16)
  expect((await thought())?.text).toBe("Hm, wait. Or no?")
  const told = heard.flatMap((live) => (live.type === "reasoning_delta" ? [live.text] : []))
  expect(told.join("")).toBe("Hm, wait. Or no?")
})

test("if text must not be sent, neither is reasoning", async () => {
  const { one, two, settle, clock } = open({ carriesText: false })
  const id = newId("conv")
  const { heard } = watch(two, id)
  await settle()
  one.publish(id, { type: "reasoning_delta", position: 1, offset: 3, text: "Hm.", ms: 1 })
  await clock.turn(16)
  await settle()
  expect(heard.filter(({ type }) => type === "reasoning_delta")).toEqual([])
})

test("the progress of a call is sent to other nodes, and does not change the open reply", async () => {
  const { one, two, settle, clock } = open()
  const id = newId("conv")
  const { heard } = watch(two, id)
  await settle()
  one.publish(id, { type: "text_delta", position: 1, offset: 3, text: "Yes" })
  one.publish(id, { type: "tool_progress", callId: newId("call"), text: "Half", done: 1, total: 2 })
  one.publish(id, { type: "text_delta", position: 1, offset: 4, text: "." })
  await clock.turn(16)
  await settle()
  expect(heard).toContainEqual(expect.objectContaining({ type: "tool_progress", text: "Half", done: 1, total: 2 }))
  expect(await one.soFar(id)).toEqual({ position: 1, text: "Yes." })
  expect(await two.soFar(id)).toEqual({ position: 1, text: "Yes." })
})
