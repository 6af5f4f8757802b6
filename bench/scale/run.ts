import { mean, quantile } from "../meters.ts"
import { costOf, readConstants } from "./constants.ts"
import { benchMachine, CONNECTIONS_OF_A_NODE, simulate } from "./simulate.ts"
import { evenly, loadOfShards, loadOfSlots, moveOfSlot, rebalance, worst } from "./spread.ts"

/**
 * Predicts the throughput of one and several databases by a simulation with measured constants (`constants.json`).
 * First it must reproduce the measurements, then it predicts. `npm run bench:scale`.
 */
const constants = readConstants()
const { machine, measured, postgres } = constants

const cost = costOf(constants)
const common = { connections: CONNECTIONS_OF_A_NODE, seed: 1 } as const

console.log(
  `Constants of ${measured}: ${machine.cores} × ${machine.cpu}, PostgreSQL ${postgres}, commit ${machine.commit}\n`,
)
foretell()
oneDatabase()
skewed()
shardDown()
moving()

function foretell(): void {
  const both = { ours: constants.phases, "the floor": constants.floorPhases }
  const rows = Object.entries(both).flatMap(([whose, phases]) =>
    phases.map(({ atOnce, perSecond: measured }) => {
      const { perSecond, nodeBusy } = simulate(benchMachine(constants, phases, { atOnce, turns: 20_000 }))
      const error = `${Math.round((perSecond / measured - 1) * 100)} %`
      return { whose, "at once": atOnce, measured, foretold: perSecond, error, "thread busy": nodeBusy }
    }),
  )
  print("Turns a second, foretold from what statements and commits cost", rows)
}

/** Nodes on separate machines, and a database with eight cores. */
function oneDatabase(): void {
  const cores = 8
  const rows = [1, 2, 4, 8, 16].flatMap((nodes) => {
    const setup = { ...common, cost, nodes, shards: 1, cores }
    const most = simulate({ ...setup, load: { atOnce: 64 * nodes }, turns: 40_000 }).perSecond
    return [0.5, 0.8, 0.95].map((share) => {
      const perSecond = most * share
      const { p50, p99, databaseBusy, nodeBusy } = simulate({ ...setup, load: { perSecond }, turns: 40_000 })
      return { nodes, "most/s": most, load: share, "p50 ms": p50, "p99 ms": p99, databaseBusy, nodeBusy }
    })
  })
  print(`One database of ${cores} cores: what it carries, and how long a turn takes beside its model`, rows)
}

function skewed(): void {
  const rows = [2, 4, 8, 16, 32, 64].flatMap((shards) =>
    [100_000, 10_000_000].map((people) => {
      const seeds = people > 1_000_000 ? [1, 2, 3] : Array.from({ length: 20 }, (_, i) => i + 1)
      const slots = seeds.map((seed) => loadOfSlots({ people, busyShare: 0.01, times: 100, seed }))
      const before = slots.map((each) => worst(loadOfShards(each, evenly(shards), shards)))
      const after = slots.map((each) => rebalance(each, shards, 1.02))
      const moved = mean(after.map((each) => each.moved))
      return {
        people,
        databases: shards,
        busiest: Math.max(...before),
        moved,
        "busiest then": Math.max(...after.map((each) => each.worst)),
      }
    }),
  )
  print(
    "One person in a hundred does a hundred times as much: the busiest database against the mean, and slots to move to 1.02",
    rows,
  )
}

/** Four databases at 70 % load, one of them down for a minute. */
function shardDown(): void {
  const [nodes, shards, cores] = [16, 4, 2]
  const setup = { ...common, cost, nodes, shards, cores }
  const most = simulate({ ...setup, load: { atOnce: 64 * nodes }, turns: 40_000 }).perSecond
  const perSecond = most * 0.7
  const [fromMs, toMs] = [30_000, 90_000]
  const { turns } = simulate({
    ...setup,
    load: { perSecond },
    turns: Math.round(perSecond * 400),
    down: { shard: 0, fromMs, toMs },
  })
  const took = (of: typeof turns, share: number) =>
    quantile(
      of.map(({ begunAt, endedAt }) => endedAt - begunAt),
      share,
    )
  const during = turns.filter(({ begunAt }) => begunAt >= fromMs && begunAt < toMs)
  const before = turns.filter(({ begunAt }) => begunAt < fromMs)
  const theirs = turns.filter(({ shard }) => shard === 0)
  const inSecond = (second: number) => theirs.filter(({ begunAt }) => Math.floor(begunAt / 1000) === second)
  // Until the median time of a second is no longer than before the outage.
  let over = toMs / 1000
  while (took(inSecond(over), 0.5) > 2 * took(before, 0.5)) over++
  print(
    `One of ${shards} databases is away for ${(toMs - fromMs) / 1000} s, at ${Math.round(perSecond)} turns a second (70 %)`,
    [
      {
        "p99 ms before": took(before, 0.99),
        "others' p99 ms meanwhile": took(
          during.filter(({ shard }) => shard !== 0),
          0.99,
        ),
        "theirs, median s":
          took(
            during.filter(({ shard }) => shard === 0),
            0.5,
          ) / 1000,
        "backlog gone after s": over - toMs / 1000,
      },
    ],
  )
}

/** The move of a slot of ten million people with half a year of turns, copied at 50 MB/s. */
function moving(): void {
  const turnsADay = 20
  const { newConversation } = constants.diskBytes
  const rows = [100_000, 10_000_000].map((people) => {
    const inSlot = people / 2916
    const written = (inSlot * turnsADay * newConversation) / 86_400
    const bytes = inSlot * turnsADay * 183 * newConversation
    const move = { bytes, bytesPerSecond: 50e6, writtenPerSecond: written * 5, fenceBelowSeconds: 0.5 }
    const { passes, seconds, fencedSeconds } = moveOfSlot(move)
    return { people, "in a slot": inSlot, GB: bytes / 1e9, passes, seconds, "fenced s": fencedSeconds }
  })
  print("Moving one slot while it is in use, at five times the mean load", rows)
}

function print(title: string, rows: readonly Record<string, number | string>[]): void {
  console.log(title)
  const rounded = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === "number" ? Number(value.toPrecision(3)) : value,
      ]),
    ),
  )
  console.table(rounded)
}
