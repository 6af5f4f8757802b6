import { expect, test } from "vitest"
import { silentLog } from "../../../shared/log.ts"
import type { NodeMessage } from "../../../protocol/node-messages.ts"
import type { CallEnd } from "../ask-device.ts"
import type { DeviceConnection } from "../device-connection.ts"
import { AskedHere, Tickets, TICKET_LIFE_MS } from "./node-asks.ts"
import { TurnedClock } from "../../../../test/support/loop/world.ts"

const call = { type: "tool_call", id: "call_1", action: "create", table: "tasks", data: {} } as const

/** A device of this node, what it was asked to write, and what the other node is answered. */
function open() {
  const written: string[] = []
  const answers: NodeMessage[] = []
  const device = {
    open: true,
    write: async ({ id }: { id: string }): Promise<CallEnd> => (written.push(id), "stopped"),
  }
  const asked = new AskedHere({
    messages: { send: async (_: string, message: NodeMessage) => answers.push(message) > 0 } as never,
    clock: new TurnedClock(),
    log: silentLog,
    lineOf: () => device as unknown as DeviceConnection,
  })
  const ticket = async () => {
    asked.hear({ type: "device_ticket", id: "ask_ticket", line: 7, callId: call.id }, "node_b")
    await expect.poll(() => answers).toHaveLength(1)
    return (answers.pop() as { answer: { ticket: string } }).answer.ticket
  }
  return { asked, written, answers, ticket }
}

test("a write whose stop was faster is not sent, and whoever waits for it is told so at once; a copy of it says nothing more", async () => {
  const { asked, written, answers, ticket } = open()
  const write = { type: "device_write", id: "ask_1", ticket: await ticket(), call, ms: 5000 } as const
  asked.hear({ type: "device_stop", id: "ask_1" }, "node_b")
  asked.hear(write, "node_b")
  await expect.poll(() => answers).toEqual([{ type: "device_answer", id: "ask_1", answer: { is: "absent" } }])
  asked.hear(write, "node_b")
  await asked[Symbol.asyncDispose]()
  expect([written, answers.length]).toEqual([[], 1])
})

test("one that is under way is told of its stop, and taken up once", async () => {
  const { asked, written, answers, ticket } = open()
  const write = { type: "device_write", id: "ask_1", ticket: await ticket(), call, ms: 5000 } as const
  asked.hear(write, "node_b")
  asked.hear(write, "node_b")
  asked.hear({ type: "device_stop", id: "ask_1" }, "node_b")
  await expect
    .poll(() => answers)
    .toEqual([{ type: "device_answer", id: "ask_1", answer: { is: "ended", how: "stopped" } }])
  expect(written).toEqual(["call_1"])
})

const what = { node: "node_b", line: 7, callId: "call_1" }
const openTickets = () => {
  const clock = new TurnedClock()
  const tickets = new Tickets(clock)
  return { clock, tickets, ticket: tickets.give(what) ?? "" }
}

test("a ticket lets its call through once", () => {
  const { tickets, ticket } = openTickets()
  expect([tickets.use(ticket, what), tickets.use(ticket, what)]).toEqual([{ line: 7 }, undefined])
})

test("it lets nothing else through, nobody else, and nothing without one", () => {
  const { tickets, ticket } = openTickets()
  expect(tickets.use(ticket, { ...what, callId: "call_2" })).toBeUndefined()
  expect(tickets.use(ticket, { ...what, node: "node_c" })).toBeUndefined()
  expect(tickets.use("none", what)).toBeUndefined()
  expect(tickets.use(ticket, what)).toEqual({ line: 7 })
})

test("it counts for five seconds, and one that has expired never counts again", async () => {
  const { clock, tickets, ticket } = openTickets()
  await clock.turn(TICKET_LIFE_MS - 1)
  const second = tickets.give(what) ?? ""
  expect(tickets.use(ticket, what)).toEqual({ line: 7 })
  await clock.turn(TICKET_LIFE_MS)
  expect([tickets.use(second, what), tickets.use(second, what)]).toEqual(["expired", "expired"])
})

test("it expires while the machine sleeps, when only the time of day goes on", () => {
  const { clock, tickets, ticket } = openTickets()
  clock.shift(60_000)
  expect(tickets.use(ticket, what)).toBe("expired")
})

test("it expires by the machine's own time of day, where the time that nodes share knows nothing of a sleep", () => {
  const machine = new TurnedClock()
  const now = machine.now()
  const clock = {
    ...{ now: () => now, machine: () => machine.now(), monotonic: () => machine.monotonic() },
    alarm: (ms: number, ring: () => void) => machine.alarm(ms, ring),
  }
  const tickets = new Tickets(clock)
  const ticket = tickets.give(what) ?? ""
  machine.shift(60_000)
  expect(tickets.use(ticket, what)).toBe("expired")
})

test("a call that is asked about is let through by no ticket from before", () => {
  const { tickets, ticket } = openTickets()
  tickets.bar("call_1", what.node)
  expect(tickets.use(ticket, what)).toBe("expired")
  expect(tickets.use(tickets.give(what) ?? "", what)).toEqual({ line: 7 })
})

test("a used one is known for as long as a copy of its call may be on its way, and then forgotten", async () => {
  const { clock, tickets, ticket } = openTickets()
  tickets.use(ticket, what)
  await clock.turn(60_000)
  tickets.give(what)
  expect(tickets.use(ticket, what)).toBeUndefined()
  await clock.turn(10 * 60_000)
  tickets.give(what)
  expect(tickets.use(ticket, what)).toBeUndefined()
})

test("a call that was asked about gets no ticket for anybody but who asked", () => {
  const tickets = new Tickets(new TurnedClock())
  tickets.bar("call_1", "node_b")
  expect(tickets.give({ node: "node_a", line: 1, callId: "call_1" })).toBe(undefined)
  expect(tickets.give({ node: "node_b", line: 1, callId: "call_1" })).toBeDefined()
  expect(tickets.give({ node: "node_a", line: 1, callId: "call_2" })).toBeDefined()
})
