import { expect, test } from "vitest"
import { TurnedClock } from "../../../../test/support/loop/world.ts"
import { Tickets, TICKET_LIFE_MS } from "./tickets.ts"

const what = { node: "node_b", line: 7, callId: "call_1" }
const open = () => {
  const clock = new TurnedClock()
  const tickets = new Tickets(clock)
  return { clock, tickets, ticket: tickets.give(what) ?? "" }
}

test("a ticket lets its call through once", () => {
  const { tickets, ticket } = open()
  expect([tickets.use(ticket, what), tickets.use(ticket, what)]).toEqual([{ line: 7 }, undefined])
})

test("it lets nothing else through, nobody else, and nothing without one", () => {
  const { tickets, ticket } = open()
  expect(tickets.use(ticket, { ...what, callId: "call_2" })).toBeUndefined()
  expect(tickets.use(ticket, { ...what, node: "node_c" })).toBeUndefined()
  expect(tickets.use("none", what)).toBeUndefined()
  expect(tickets.use(ticket, what)).toEqual({ line: 7 })
})

test("it counts for five seconds, and one that has expired never counts again", async () => {
  const { clock, tickets, ticket } = open()
  await clock.turn(TICKET_LIFE_MS - 1)
  const second = tickets.give(what) ?? ""
  expect(tickets.use(ticket, what)).toEqual({ line: 7 })
  await clock.turn(TICKET_LIFE_MS)
  expect([tickets.use(second, what), tickets.use(second, what)]).toEqual(["expired", "expired"])
})

test("it expires while the machine sleeps, when only the time of day goes on", () => {
  const { clock, tickets, ticket } = open()
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
  const { tickets, ticket } = open()
  tickets.bar("call_1", what.node)
  expect(tickets.use(ticket, what)).toBe("expired")
  expect(tickets.use(tickets.give(what) ?? "", what)).toEqual({ line: 7 })
})

test("a used one is known for as long as a copy of its call may be on its way, and then forgotten", async () => {
  const { clock, tickets, ticket } = open()
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
