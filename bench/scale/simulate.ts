import { quantile } from "../meters.ts"
import { type Constants, costOf, type Phase, type TurnCost } from "./constants.ts"
import { chance, SharedFlush, Station, Timeline } from "./events.ts"
import { GroupedCommits } from "./groups.ts"

export interface Setup {
  readonly cost: TurnCost
  readonly nodes: number
  /**
   * The number of databases, each on its own machine with this many cores; or one, on the cores of the node's machine.
   */
  readonly shards: number
  readonly cores: number
  readonly sharesMachine?: boolean
  /** The connections of a node to each database. */
  readonly connections: number
  /** A constant number of concurrent turns, or a rate of new turns per second. */
  readonly load: { readonly atOnce: number } | { readonly perSecond: number }
  readonly turns: number
  readonly seed: number
  /** An outage of one database; its users' turns wait. */
  readonly down?: { readonly shard: number; readonly fromMs: number; readonly toMs: number }
}

/** The default of a server. */
export const CONNECTIONS_OF_A_NODE = 10

/** The concurrent statements with commits of many conversations of a node (`open-postgres.ts`). */
const GROUPS_AT_ONCE = 4

/** The machine of the measurements: the node and PostgreSQL on the same cores. */
export function benchMachine(constants: Constants, phases: readonly Phase[], { atOnce, turns }: Size): Setup {
  const { cores } = constants.machine
  const place = { nodes: 1, shards: 1, cores, sharesMachine: true, connections: CONNECTIONS_OF_A_NODE }
  return { cost: costOf(constants, phases), ...place, load: { atOnce }, turns, seed: 1 }
}

interface Size {
  readonly atOnce: number
  readonly turns: number
}

export interface SimulatedTurn {
  readonly shard: number
  readonly begunAt: number
  readonly endedAt: number
}

export interface Outcome {
  readonly turns: readonly SimulatedTurn[]
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** The utilization of the databases' cores, and of the nodes' threads: 1 is always busy. */
  readonly databaseBusy: number
  readonly nodeBusy: number
}

/**
 * Simulates turns through nodes and databases. Service times are random (exponential), so that realistic queues form.
 */
export function simulate(setup: Setup): Outcome {
  const { cost, nodes, shards, load } = setup
  const timeline = new Timeline()
  const random = chance(setup.seed)
  const drawn = (mean: number) => -mean * Math.log(1 - random())
  const machine = new Station(timeline, setup.cores)
  const roundTrips = Math.max(1, Math.round(cost.roundTrips))
  const commits = Math.min(roundTrips, Math.round(cost.commits))
  const most = cost.mostTogether
  const together = { most, atOnce: most > 1 ? GROUPS_AT_ONCE : Number.POSITIVE_INFINITY }
  const databases = Array.from({ length: shards }, () => ({
    cores: setup.sharesMachine ? machine : new Station(timeline, setup.cores),
    log: new SharedFlush(timeline, cost.fsyncMs),
  }))
  const threads = Array.from({ length: nodes }, () => {
    const node = { thread: new Station(timeline, 1), groups: [] as GroupedCommits[] }
    for (const shard of databases.keys())
      node.groups.push(new GroupedCommits(timeline, together, writer(node.thread, shard)))
    return node
  })
  const turns: SimulatedTurn[] = []
  let begun = 0

  function compute(thread: Station, ms: number, then: () => void): void {
    if (!setup.sharesMachine) return thread.work(ms, then)
    thread.take(() => {
      thread.busyMs += ms
      machine.work(ms, () => {
        thread.give()
        then()
      })
    })
  }

  /**
   * Writes a group: the node builds the statement, a connection sends it, the database executes it and writes its log.
   */
  function writer(thread: Station, shard: number) {
    const database = databases[shard]!
    const pool = new Station(timeline, setup.connections)
    return (size: number, step: number, written: () => void) => {
      let [ms, afterMs] = [drawn(cost.database.ofStatement), 0]
      for (let i = 0; i < size; i++) {
        ms += drawn(cost.database.ofCommit)
        afterMs += drawn(cost.node.ofCommit)
      }
      const answered = () => {
        pool.give()
        compute(thread, afterMs, written)
      }
      compute(thread, drawn(cost.node.ofStatement), () =>
        pool.take(() =>
          whenUp(shard, () =>
            database.cores.work(ms * cost.waitedFor, () => {
              if (cost.waitedFor < 1) database.cores.work(ms * (1 - cost.waitedFor), () => {})
              if (step < commits) database.log.wait(answered)
              else answered()
            }),
          ),
        ),
      )
    }
  }

  function begin(): void {
    if (begun === setup.turns) return
    const node = threads[begun++ % nodes]!
    const shard = Math.floor(random() * shards)
    const begunAt = timeline.now
    let step = 0
    const next = () => {
      if (step < roundTrips) return node.groups[shard]!.commit(step++, next)
      turns.push({ shard, begunAt, endedAt: timeline.now })
      if ("atOnce" in load) begin()
    }
    next()
  }

  function whenUp(shard: number, then: () => void): void {
    const { down } = setup
    const isDown = down && shard === down.shard && timeline.now >= down.fromMs && timeline.now < down.toMs
    if (isDown) timeline.after(down.toMs - timeline.now, then)
    else then()
  }

  if ("atOnce" in load) for (let i = 0; i < load.atOnce; i++) begin()
  else arrive(load.perSecond)
  timeline.run()

  function arrive(perSecond: number): void {
    timeline.after(drawn(1000 / perSecond), () => {
      begin()
      if (begun < setup.turns) arrive(perSecond)
    })
  }

  const times = turns.map(({ begunAt, endedAt }) => endedAt - begunAt)
  const busy = (stations: readonly Station[]) =>
    stations.reduce((sum, { busyMs }) => sum + busyMs, 0) /
    timeline.now /
    stations.reduce((sum, { servers }) => sum + servers, 0)
  return {
    turns,
    perSecond: (turns.length / timeline.now) * 1000,
    ...{ p50: quantile(times, 0.5), p99: quantile(times, 0.99) },
    databaseBusy: busy(setup.sharesMachine ? [machine] : databases.map(({ cores }) => cores)),
    nodeBusy: busy(threads.map(({ thread }) => thread)),
  }
}
