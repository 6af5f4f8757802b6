import { expect, test } from "vitest"
import { readConstants, type TurnCost } from "../../bench/scale/constants.ts"
import { benchMachine, type Outcome, type Setup, simulate } from "../../bench/scale/simulate.ts"
import { evenly, loadOfShards, loadOfSlots, moveOfSlot, rebalance, worst } from "../../bench/scale/spread.ts"
import { mean } from "../../bench/meters.ts"

const quarter = { ofStatement: 0.25, ofCommit: 0 }
const cost: TurnCost = {
  ...{ node: quarter, database: quarter },
  ...{ roundTrips: 4, commits: 4, fsyncMs: 0.2, waitedFor: 1, mostTogether: 1 },
}
const usual: Setup = {
  ...{ cost, nodes: 2, shards: 2, cores: 2, connections: 10, seed: 7 },
  ...{ load: { atOnce: 40 }, turns: 2000 },
}

test("every turn that starts ends, and the same seed gives the same result", () => {
  for (const load of [{ atOnce: 40 }, { perSecond: 800 }]) {
    const outcome = simulate({ ...usual, load })
    expect(outcome.turns).toHaveLength(usual.turns)
    expect(outcome.turns.every(({ begunAt, endedAt }) => endedAt > begunAt)).toBe(true)
    expect(JSON.stringify(simulate({ ...usual, load }))).toBe(JSON.stringify(outcome))
  }
})

test("utilisation is the arrival rate times the service time (the utilisation law)", () => {
  const { perSecond, databaseBusy, nodeBusy } = simulate({ ...usual, load: { perSecond: 900 }, turns: 8000 })
  const turnsAMs = perSecond / 1000
  expect(databaseBusy / (turnsAMs / 4)).toBeCloseTo(1, 1)
  expect(nodeBusy / (turnsAMs / 2)).toBeCloseTo(1, 1)
})

test("a single server with random arrivals waits as theory predicts: 1 / (service rate - arrival rate)", () => {
  const [nothing, one] = [
    { ofStatement: 0, ofCommit: 0 },
    { ofStatement: 1, ofCommit: 0 },
  ]
  const alone = { node: nothing, database: one, roundTrips: 1, commits: 0, fsyncMs: 0, waitedFor: 1, mostTogether: 1 }
  const setup = { ...usual, cost: alone, nodes: 1, shards: 1, cores: 1, connections: 1_000_000, turns: 30_000 }
  for (const busy of [0.5, 0.8]) {
    const { turns } = simulate({ ...setup, load: { perSecond: busy * 1000 } })
    const took = mean(turns.map(({ begunAt, endedAt }) => endedAt - begunAt))
    expect(took * (1 - busy), `at ${busy}`).toBeGreaterThan(0.9)
    expect(took * (1 - busy), `at ${busy}`).toBeLessThan(1.1)
  }
})

test("only its own users notice a database outage, and its backlog lasts as long as there is capacity for it", () => {
  const setup = { ...usual, nodes: 8 }
  const most = simulate({ ...setup, load: { atOnce: 400 }, turns: 4000 }).perSecond
  const [busy, awayMs] = [0.6, 1000]
  const perSecond = most * busy
  const down = { shard: 0, fromMs: 1000, toMs: 1000 + awayMs }
  const { turns } = simulate({ ...setup, load: { perSecond }, turns: Math.round(perSecond * 5), down })
  const tookLong = turns.filter(({ begunAt, endedAt }) => endedAt - begunAt > 200)
  expect(new Set(tookLong.map(({ shard }) => shard))).toEqual(new Set([0]))
  const last = Math.max(...tookLong.map(({ begunAt }) => begunAt))
  const backlogMs = (awayMs * busy) / (1 - busy)
  expect((last - down.toMs) / backlogMs).toBeGreaterThan(0.6)
  expect((last - down.toMs) / backlogMs).toBeLessThan(1.3)
})

test("slots that move keep all their people", () => {
  const slots = loadOfSlots({ people: 20_000, busyShare: 0.01, times: 100, seed: 3 })
  const loads = loadOfShards(slots, evenly(16), 16)
  expect(loads.reduce((sum, load) => sum + load, 0)).toBe(slots.reduce((sum, load) => sum + load, 0))
  expect(slots.reduce((sum, load) => sum + load, 0)).toBeGreaterThan(20_000)
  const { moved, worst: then } = rebalance(slots, 16, 1.05)
  expect(worst(loads)).toBeGreaterThan(1.05)
  expect(then).toBeLessThanOrEqual(1.05)
  expect(moved).toBeLessThan(100)
  const { fencedSeconds } = moveOfSlot({ bytes: 1e9, bytesPerSecond: 1e7, writtenPerSecond: 1e6, fenceBelowSeconds: 2 })
  expect(fencedSeconds).toBeCloseTo(1)
})

test("commits that are written together share the cost of a statement: with more of them each takes less", () => {
  const shared = { ofStatement: 1, ofCommit: 0.05 }
  const together = { ...cost, node: { ofStatement: 0, ofCommit: 0 }, database: shared, mostTogether: 32 }
  const setup = { ...usual, cost: together, nodes: 1, shards: 1, turns: 4000 }
  const [one, many] = [1, 64].map((atOnce) => simulate({ ...setup, load: { atOnce } })) as [Outcome, Outcome]
  // Alone it is four statements of 1.05 ms and a flush each; 64 share two cores, at most 32 in a statement.
  expect(one.perSecond).toBeGreaterThan(180)
  expect(one.perSecond).toBeLessThan(220)
  expect(many.perSecond).toBeGreaterThan(8 * one.perSecond)
  expect(many.perSecond).toBeLessThan((2 * 1000 * 32) / (4 * (1 + 32 * 0.05)))
})

test("the model predicts the measurements, with one and with many at once, from the cost of statements and commits, within a quarter", () => {
  const constants = readConstants()
  for (const phases of [constants.phases, constants.floorPhases]) {
    for (const { atOnce, perSecond: measured } of phases) {
      const { perSecond } = simulate(benchMachine(constants, phases, { atOnce, turns: 3000 }))
      expect(perSecond / measured, `${atOnce} at once`).toBeGreaterThan(0.75)
      expect(perSecond / measured, `${atOnce} at once`).toBeLessThan(1.25)
    }
  }
})
