import { expect, test } from "vitest"
import { silentLog } from "../../../shared/log.ts"
import type { NodeMessage } from "../../../protocol/node-messages.ts"
import type { CallEnd } from "../device-connection.ts"
import type { DeviceConnection } from "../device-connection.ts"
import { IncomingRequests, Tickets, TICKET_TTL_MS } from "./node-requests.ts"
import { TurnedClock } from "../../../../test/support/loop/world.ts"

const call = { type: "tool_call", id: "call_1", action: "create", table: "tasks", data: {} } as const

/** A device of this node, the writes sent to it, and the answers to the other node. */
function open() {
  const written: string[] = []
  const answers: NodeMessage[] = []
  const device = {
    open: true,
    write: async ({ id }: { id: string }): Promise<CallEnd> => (written.push(id), "stopped"),
  }
  const asked = new IncomingRequests({
    messages: { send: async (_: string, message: NodeMessage) => answers.push(message) > 0 } as never,
    clock: new TurnedClock(),
    log: silentLog,
    socketOf: () => device as unknown as DeviceConnection,
  })
  const ticket = async () => {
    asked.receive({ type: "device_ticket", id: "ask_ticket", line: 7, callId: call.id }, "node_b")
    await expect.poll(() => answers).toHaveLength(1)
    return (answers.pop() as { answer: { ticket: string } }).answer.ticket
  }
  return { asked, written, answers, ticket }
}

test("a write that was stopped first is not sent, and its caller is answered at once; a copy of it has no effect", async () => {
  const { asked, written, answers, ticket } = open()
  const write = { type: "device_write", id: "ask_1", ticket: await ticket(), call, ms: 5000 } as const
  asked.receive({ type: "device_stop", id: "ask_1" }, "node_b")
  asked.receive(write, "node_b")
  await expect.poll(() => answers).toEqual([{ type: "device_answer", id: "ask_1", answer: { is: "absent" } }])
  asked.receive(write, "node_b")
  await asked[Symbol.asyncDispose]()
  expect([written, answers.length]).toEqual([[], 1])
})

test("a running call is stopped, and accepted once", async () => {
  const { asked, written, answers, ticket } = open()
  const write = { type: "device_write", id: "ask_1", ticket: await ticket(), call, ms: 5000 } as const
  asked.receive(write, "node_b")
  asked.receive(write, "node_b")
  asked.receive({ type: "device_stop", id: "ask_1" }, "node_b")
  await expect
    .poll(() => answers)
    .toEqual([{ type: "device_answer", id: "ask_1", answer: { is: "ended", how: "stopped" } }])
  expect(written).toEqual(["call_1"])
})

const what = { node: "node_b", line: 7, callId: "call_1" }
const openTickets = () => {
  const clock = new TurnedClock()
  const tickets = new Tickets(clock)
  return { clock, tickets, ticket: tickets.issue(what) ?? "" }
}

test("a ticket admits its call once", () => {
  const { tickets, ticket } = openTickets()
  expect([tickets.use(ticket, what), tickets.use(ticket, what)]).toEqual([{ line: 7 }, undefined])
})

test("it admits no other call, no other caller, and no call without a ticket", () => {
  const { tickets, ticket } = openTickets()
  expect(tickets.use(ticket, { ...what, callId: "call_2" })).toBeUndefined()
  expect(tickets.use(ticket, { ...what, node: "node_c" })).toBeUndefined()
  expect(tickets.use("none", what)).toBeUndefined()
  expect(tickets.use(ticket, what)).toEqual({ line: 7 })
})

test("it is valid for five seconds, and never again after it expired", async () => {
  const { clock, tickets, ticket } = openTickets()
  await clock.turn(TICKET_TTL_MS - 1)
  const second = tickets.issue(what) ?? ""
  expect(tickets.use(ticket, what)).toEqual({ line: 7 })
  await clock.turn(TICKET_TTL_MS)
  expect([tickets.use(second, what), tickets.use(second, what)]).toEqual(["expired", "expired"])
})

test("it expires while the machine sleeps, when only the wall clock advances", () => {
  const { clock, tickets, ticket } = openTickets()
  clock.shift(60_000)
  expect(tickets.use(ticket, what)).toBe("expired")
})

test("it expires by the machine's wall clock, because the nodes' shared time does not include sleep", () => {
  const machine = new TurnedClock()
  const now = machine.now()
  const clock = {
    ...{ now: () => now, machine: () => machine.now(), monotonic: () => machine.monotonic() },
    alarm: (ms: number, ring: () => void) => machine.alarm(ms, ring),
  }
  const tickets = new Tickets(clock)
  const ticket = tickets.issue(what) ?? ""
  machine.shift(60_000)
  expect(tickets.use(ticket, what)).toBe("expired")
})

test("a ticket issued before a status request does not admit its call", () => {
  const { tickets, ticket } = openTickets()
  tickets.bar("call_1", what.node)
  expect(tickets.use(ticket, what)).toBe("expired")
  expect(tickets.use(tickets.issue(what) ?? "", what)).toEqual({ line: 7 })
})

test("a used ticket is remembered while a copy of its call may arrive, and then forgotten", async () => {
  const { clock, tickets, ticket } = openTickets()
  tickets.use(ticket, what)
  await clock.turn(60_000)
  tickets.issue(what)
  expect(tickets.use(ticket, what)).toBeUndefined()
  await clock.turn(10 * 60_000)
  tickets.issue(what)
  expect(tickets.use(ticket, what)).toBeUndefined()
})

test("a call with a status request gets a ticket only for the node that requested it", () => {
  const tickets = new Tickets(new TurnedClock())
  tickets.bar("call_1", "node_b")
  expect(tickets.issue({ node: "node_a", line: 1, callId: "call_1" })).toBe(undefined)
  expect(tickets.issue({ node: "node_b", line: 1, callId: "call_1" })).toBeDefined()
  expect(tickets.issue({ node: "node_a", line: 1, callId: "call_2" })).toBeDefined()
})
