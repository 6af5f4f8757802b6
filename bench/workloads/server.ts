import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { newId } from "../engine.ts"
import type { Served } from "../contenders/pawl-server.ts"
import type { Order, Seen } from "../http-client.ts"
import { check, cpuMs, median, type Numbers, settledHeap } from "../meters.ts"
import { DELTA, finalText, streamPrompt, userText } from "../script.ts"
import type { Sizes } from "../sizes.ts"

const KB = 1024
const WARM_PASSES = 3
const SPREAD_EVERY = 5

/**
 * W6: the server over real connections. The clients are in a separate process. Costs are the CPU time of this one;
 * times that users wait are compared with a floor with the same clients.
 */
export async function server(open: () => Promise<Served>, sizes: Sizes["w6"]): Promise<Numbers> {
  await using served = await open()
  await using clients = await startClients(served)
  const trips = await deviceTrips(served, clients, sizes)
  const turns = await httpTurns(clients, sizes)
  const deltas = await watchedDeltas(served, clients, sizes)
  const idle = await idleWatchers(served, clients, sizes)
  return { ...trips, ...turns, ...deltas, ...idle }
}

/** A task as a device stores it. */
const ROW = JSON.stringify({
  id: "task_1",
  projectId: null,
  title: "Water the plants",
  status: "todo",
  priority: "high",
  createdAt: 1_767_225_600_000,
})

/** Round trips to a device, one after the other over one socket. */
async function deviceTrips(served: Served, clients: Clients, { trips }: Sizes["w6"]): Promise<Numbers> {
  await clients.ask({ type: "device", deviceId: "bench", row: ROW })
  const times: number[] = []
  let cpu = 0
  for (let i = -trips; i < trips; i++) {
    if (i === 0) cpu = cpuMs()
    const from = performance.now()
    const answer = await served.askDevice("bench")
    if (i >= 0) times.push((performance.now() - from) * 1000)
    if (i === 0) check(/^echo|Water/.test(textOf(answer)), "the answer of a device")
  }
  const tripCpuUs = ((cpuMs() - cpu) * 1000) / trips
  await clients.ask({ type: "leave" })
  return { tripUs: median(times), tripCpuUs }
}

const textOf = (answer: unknown) => (Buffer.isBuffer(answer) ? answer.toString() : JSON.stringify(answer))

interface Clients extends AsyncDisposable {
  ask(order: Order): Promise<Seen>
}

async function startClients({ url, token }: Served): Promise<Clients> {
  const script = join(import.meta.dirname, "..", "http-client.ts")
  const child: ChildProcess = fork(script, [url, token], { execArgv: [], serialization: "json" })
  const exit = once(child, "exit")
  const answer = async () => {
    const [seen] = (await Promise.race([
      once(child, "message"),
      exit.then(() => [{ error: "the clients are gone" }]),
    ])) as [Seen & { error?: string }]
    if (seen.error !== undefined) throw new Error(seen.error)
    return seen
  }
  await answer()
  return {
    ask(order) {
      const answered = answer()
      child.send(order)
      return answered
    },
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await exit
    },
  }
}

/** A conversation of one turn: `POST /api/conversations`, then its message, answered as JSON when the run has ended. */
async function httpTurns(clients: Clients, { warmTurns, turns }: Sizes["w6"]): Promise<Numbers> {
  await clients.ask({ type: "turns", count: warmTurns, text: userText(0) })
  const cpu = cpuMs()
  const { times = [], answer = "" } = await clients.ask({ type: "turns", count: turns, text: userText(0) })
  const httpTurnCpu = (cpuMs() - cpu) / turns
  const { messages } = JSON.parse(answer) as { messages: { content: string }[] }
  check(messages.at(-1)?.content === finalText(0), "the answer of a turn over HTTP")
  return { httpTurn: median(times), httpTurnCpu, httpAnswerKb: answer.length / KB }
}

/**
 * The CPU time that watchers add to a reply, per delta. The kinds alternate, so that disturbances affect all of them.
 */
async function watchedDeltas(served: Served, clients: Clients, sizes: Sizes["w6"]): Promise<Numbers> {
  const { deltas, passes } = sizes
  const kinds: readonly (Pick<Reply, "watchers" | "aTurn" | "by"> & { readonly name: string })[] = [
    { name: "none", watchers: 0, aTurn: undefined },
    { name: "one", watchers: 1, aTurn: undefined },
    { name: "ten", watchers: 10, aTurn: undefined },
    { name: "oneSocket", watchers: 1, aTurn: undefined, by: "socket" },
    { name: "tenSockets", watchers: 10, aTurn: undefined, by: "socket" },
    { name: "noneSpread", watchers: 0, aTurn: 1 },
    { name: "oneSpread", watchers: 1, aTurn: 1 },
    { name: "tenSpread", watchers: 10, aTurn: 1 },
    { name: "oneSocketSpread", watchers: 1, aTurn: 1, by: "socket" },
    { name: "tenSocketsSpread", watchers: 10, aTurn: 1, by: "socket" },
  ]
  const spent = Object.fromEntries(kinds.map(({ name }) => [name, [] as number[]]))
  for (let pass = -WARM_PASSES; pass < passes; pass++) {
    for (const { name, ...kind } of kinds) {
      // A reply that is spread over turns of the event loop takes long and varies little, so it needs fewer passes.
      if (kind.aTurn !== undefined && pass % SPREAD_EVERY !== 0) continue
      const cpu = await watchedReply(served, clients, { ...kind, deltas })
      if (pass >= 0) spent[name]?.push((cpu * 1000) / deltas)
    }
  }
  const us = (name: string) => median(spent[name] ?? [])
  return {
    deltaUs: us("none"),
    sseUs: us("one") - us("none"),
    sseOfTenUs: (us("ten") - us("none")) / 10,
    socketUs: us("oneSocket") - us("none"),
    socketOfTenUs: (us("tenSockets") - us("none")) / 10,
    spreadSocketUs: us("oneSocketSpread") - us("noneSpread"),
    spreadSocketOfTenUs: (us("tenSocketsSpread") - us("noneSpread")) / 10,
    spreadDeltaUs: us("noneSpread"),
    spreadSseUs: us("oneSpread") - us("noneSpread"),
    spreadSseOfTenUs: (us("tenSpread") - us("noneSpread")) / 10,
  }
}

interface Reply {
  readonly watchers: number
  readonly deltas: number
  readonly aTurn: number | undefined
  readonly by?: "socket"
}

/** CPU time of this process from the message to the last watcher's last byte. */
async function watchedReply({ pawl }: Served, clients: Clients, reply: Reply): Promise<number> {
  const { watchers, deltas, aTurn, by } = reply
  const { runtime, store } = pawl
  const person = await store.people.ensure("ada", Date.now())
  const { id } = await runtime.begin({ user: person.id, agent: "bench" })
  await clients.ask({ type: "watch", ids: Array.from({ length: watchers }, () => id), ...(by ? { by } : {}) })
  const over = clients.ask({ type: "over" })
  const from = cpuMs()
  const text = streamPrompt(deltas, aTurn)
  await runtime.submit(id, { type: "message", id: newId("msg"), text, when: "queue" })
  await runtime.rest(id)
  const { texts = [] } = await over
  const cpu = cpuMs() - from
  check(texts.length === watchers, "everyone who watched was told that it is over")
  for (const seen of texts) check(seen === DELTA.repeat(deltas), `text watched: ${seen.length} units`)
  await clients.ask({ type: "leave" })
  return cpu
}

/** The memory of this process for each idle watcher. */
async function idleWatchers({ pawl }: Served, clients: Clients, { watchers }: Sizes["w6"]): Promise<Numbers> {
  const { runtime, store } = pawl
  const person = await store.people.ensure("ada", Date.now())
  const ids: string[] = []
  for (let i = 0; i < watchers; i++) ids.push((await runtime.begin({ user: person.id, agent: "bench" })).id)
  // Connect some first, so that their code is loaded; only a few, because the process retains freed memory.
  await clients.ask({ type: "watch", ids: ids.slice(0, watchers / 20) })
  await clients.ask({ type: "leave" })
  const before = await settledMemory()
  await clients.ask({ type: "watch", ids })
  const after = await settledMemory()
  await clients.ask({ type: "leave" })
  const each = (name: keyof typeof after) => (after[name] - before[name]) / watchers / KB
  return { watcherKb: each("used"), watcherRssKb: each("rss"), socketKb: await idleSockets(clients, ids) }
}

/** The same for sockets; somewhat fewer, because the previous ones may not be disconnected completely. */
async function idleSockets(clients: Clients, ids: readonly string[]): Promise<number> {
  const some = ids.slice(0, Math.ceil(ids.length * 0.8))
  await clients.ask({ type: "watch", ids: some.slice(0, some.length / 20), by: "socket" })
  await clients.ask({ type: "leave" })
  const before = await settledMemory()
  await clients.ask({ type: "watch", ids: some, by: "socket" })
  const after = await settledMemory()
  await clients.ask({ type: "leave" })
  return (after.used - before.used) / some.length / KB
}

async function settledMemory(): Promise<{ used: number; rss: number }> {
  await settledHeap()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { used: heapUsed + external, rss }
}
