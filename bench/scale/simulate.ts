import { quantile } from "../meters.ts"
import { type Constants, costOf, type Phase, type TurnCost } from "./constants.ts"
import { chance, SharedFlush, Station, Timeline } from "./events.ts"
import { GroupedCommits } from "./groups.ts"

export interface Setup {
  readonly cost: TurnCost
  readonly nodes: number
  /** Databases, each on a machine of its own with so many cores; or one, on the cores of the node's machine. */
  readonly shards: number
  readonly cores: number
  readonly sharesMachine?: boolean
  /** Connections that a node has to each database. */
  readonly connections: number
  /** So many turns under way all the time, or so many that begin each second. */
  readonly load: { readonly atOnce: number } | { readonly perSecond: number }
  readonly turns: number
  readonly seed: number
  /** An outage of one database; its users' turns wait. */
  readonly down?: { readonly shard: number; readonly fromMs: number; readonly toMs: number }
}

/** As many as a server opens where nothing else is set. */
export const CONNECTIONS_OF_A_NODE = 10

/** As many statements with commits of many conversations as a node has under way (`open-postgres.ts`). */
const GROUPS_AT_ONCE = 4

/** The machine of the measurement: the node and PostgreSQL on the same cores. */
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
  /** How busy the cores of the databases were, and the threads of the nodes: 1 is all the time. */
  readonly databaseBusy: number
  readonly nodeBusy: number
}

/** Plays turns through nodes and databases. Times of service are drawn (exponential), so that queues form as they do. */
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

  /** Writes a group: the node puts the statement together, a connection carries it, the database does it and its log. */
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
