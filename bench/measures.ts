import type { FloorName, OursName } from "./contender.ts"
import { happenings } from "./nodes/happenings.ts"
import type { Workload } from "./run-workload.ts"

/** One line of the report: one of our numbers, the floor that it is compared to, and the allowed ratio. */
export interface Measure {
  readonly workload: Workload
  readonly what: string
  readonly ours: OursName
  readonly floor: FloorName
  /** The name of the number in the results of the workload. */
  readonly key: string
  readonly unit:
    | "ms"
    | "µs"
    | "KB"
    | "MB"
    | "turns/s"
    | "×"
    | "lost"
    | "trips"
    | "unlisted"
    | "%"
    | "tokens"
    | "changes"
  /** The value that the bounds apply to: ours ÷ floor (for a rate floor ÷ ours), or our number itself. */
  readonly judged: "ratio" | "value"
  readonly must?: number
  readonly goal?: number
}

/** The contract of speed.md. A line without bounds is for information only. */
export const measures: readonly Measure[] = [
  ...against("w0", "pawl-normal", "floor-normal", [
    { what: "points of a turn lost to SIGKILL", key: "lost", unit: "lost", judged: "value", must: 0 },
  ]),
  ...against("w0", "pawl-full", "floor-full", [
    { what: "the same with fsync", key: "lost", unit: "lost", judged: "value", must: 0, goal: 0 },
  ]),
  ...against("w0", "pawl-postgres", "floor-postgres", [
    { what: "the same on PostgreSQL", key: "lost", unit: "lost", judged: "value", must: 0, goal: 0 },
  ]),
  ...against("w1", "pawl-normal", "floor-normal", [
    { what: "short turn, p50", key: "p50", unit: "ms", judged: "ratio", must: 3.5, goal: 2 },
    { what: "64 at once", key: "manyPerSecond", unit: "turns/s", judged: "ratio" },
  ]),
  ...against("w1", "pawl-full", "floor-full", [
    { what: "short turn with fsync, p50", key: "p50", unit: "ms", judged: "ratio", must: 2, goal: 1.3 },
  ]),
  ...against("w1", "pawl-full", "floor-normal", [
    {
      what: "64 at once with fsync, floor without",
      key: "manyPerSecond",
      unit: "turns/s",
      judged: "ratio",
      must: 2,
      goal: 0.8,
    },
  ]),
  ...against("w1", "pawl-full", "floor-full-group", [
    {
      what: "64 at once with fsync, floor grouped",
      key: "manyPerSecond",
      unit: "turns/s",
      judged: "ratio",
      must: 2.5,
      goal: 1.3,
    },
  ]),
  ...against("w1", "pawl-postgres", "floor-postgres", [
    { what: "short turn on PostgreSQL, p50", key: "p50", unit: "ms", judged: "ratio", must: 3, goal: 1.5 },
    { what: "round trips of a turn", key: "roundTrips", unit: "trips", judged: "value", goal: 4 },
    {
      what: "64 at once on PostgreSQL",
      key: "manyPerSecond",
      unit: "turns/s",
      judged: "ratio",
      must: 3,
      goal: 1.5,
    },
  ]),
  ...against("w2", "pawl-normal", "floor-normal", [
    { what: "growth of a turn's time", key: "growth", unit: "×", judged: "value", must: 1.15, goal: 1.05 },
    { what: "late turn, hot", key: "late", unit: "ms", judged: "ratio", must: 10, goal: 3 },
    { what: "bytes written per late turn", key: "lateKb", unit: "KB", judged: "ratio", must: 1.2, goal: 0.6 },
    { what: "growth of bytes written", key: "bytesGrowth", unit: "×", judged: "value", must: 1.1 },
  ]),
  ...against("w2", "pawl-full", "floor-full", [
    { what: "growth of a turn's time, fsync", key: "growth", unit: "×", judged: "value", must: 1.15, goal: 1.05 },
    { what: "late turn, hot, fsync", key: "late", unit: "ms", judged: "ratio", must: 10, goal: 3 },
    { what: "bytes written per late turn, fsync", key: "lateKb", unit: "KB", judged: "ratio", must: 1.2, goal: 0.6 },
  ]),
  ...against("w2", "pawl-reload", "floor-reload", [
    { what: "late turn, history read again", key: "late", unit: "ms", judged: "ratio", must: 3, goal: 1.5 },
  ]),
  ...against("w3", "pawl-normal", "floor-normal", [
    { what: "time per delta", key: "perDelta", unit: "µs", judged: "ratio", must: 10, goal: 4 },
    { what: "the same over a bare generator", key: "overBareUs", unit: "µs", judged: "value", goal: 1.5 },
  ]),
  ...against("w4", "pawl-normal", "floor-normal", [
    { what: "disk per paused conversation", key: "diskKb", unit: "KB", judged: "ratio", must: 2.5, goal: 1.4 },
    { what: "paused, but not found by a query", key: "unlisted", unit: "unlisted", judged: "value", must: 0, goal: 0 },
    { what: "heap per paused conversation", key: "heapKb", unit: "KB", judged: "value", must: 0.1, goal: 0.01 },
    { what: "resume from disk, p50", key: "resume", unit: "ms", judged: "ratio", must: 8, goal: 3 },
    { what: "first resume of a new process", key: "firstResume", unit: "ms", judged: "value", must: 15, goal: 5 },
  ]),
  ...against("w5", "pawl-normal", "floor-normal", [
    { what: "node start to first turn", key: "startMs", unit: "ms", judged: "ratio", must: 1.6, goal: 1.25 },
    { what: "idle memory", key: "rssMb", unit: "MB", judged: "ratio", must: 1.3, goal: 1.15 },
  ]),
  ...against("w5", "pawl-full", "floor-full", [
    { what: "node start to first turn, fsync", key: "startMs", unit: "ms", judged: "ratio", must: 1.6, goal: 1.25 },
    { what: "idle memory, fsync", key: "rssMb", unit: "MB", judged: "ratio", must: 1.3, goal: 1.15 },
  ]),
  ...against("w6", "pawl-normal", "floor-route", [
    { what: "a watched delta, CPU", key: "sseUs", unit: "µs", judged: "value", must: 3, goal: 0.5 },
    { what: "the same for each of ten", key: "sseOfTenUs", unit: "µs", judged: "value", must: 3, goal: 0.5 },
    { what: "one delta a turn of the event loop", key: "spreadSseUs", unit: "µs", judged: "ratio" },
    { what: "the same for each of ten watchers", key: "spreadSseOfTenUs", unit: "µs", judged: "ratio" },
    { what: "a delta over a socket, CPU", key: "socketUs", unit: "µs", judged: "value", must: 3, goal: 0.5 },
    { what: "the same for each of ten sockets", key: "socketOfTenUs", unit: "µs", judged: "value", must: 3, goal: 0.5 },
    { what: "one delta a turn over a socket", key: "spreadSocketUs", unit: "µs", judged: "ratio" },
    { what: "the same, each of ten sockets", key: "spreadSocketOfTenUs", unit: "µs", judged: "ratio" },
    { what: "device round trip, floor: ws echo", key: "tripUs", unit: "µs", judged: "ratio", must: 2, goal: 1.3 },
    { what: "the same, CPU of the server", key: "tripCpuUs", unit: "µs", judged: "ratio" },
    { what: "HTTP turn, p50", key: "httpTurn", unit: "ms", judged: "ratio", must: 2, goal: 1.3 },
    { what: "HTTP turn, CPU of the server", key: "httpTurnCpu", unit: "ms", judged: "ratio", must: 2, goal: 1.3 },
    { what: "idle watcher, heap and buffers", key: "watcherKb", unit: "KB", judged: "value", must: 20, goal: 8 },
    { what: "idle watcher, all of the process", key: "watcherRssKb", unit: "KB", judged: "value", must: 20, goal: 8 },
    { what: "idle socket, heap and buffers", key: "socketKb", unit: "KB", judged: "value", must: 20, goal: 8 },
  ]),
  ...against("w7", "pawl-normal", "floor-normal", [
    {
      what: "killed in 1,000: ready to first step",
      key: "firstMs",
      unit: "ms",
      judged: "value",
      must: 1000,
      goal: 300,
    },
    { what: "ready to all moving", key: "allMs", unit: "ms", judged: "value", must: 10_000, goal: 3000 },
    { what: "process start to all moving", key: "sinceStartMs", unit: "ms", judged: "ratio" },
  ]),
  ...against("w7", "pawl-full", "floor-full", [
    { what: "the same with fsync: first step", key: "firstMs", unit: "ms", judged: "value", must: 1000, goal: 300 },
    { what: "ready to all moving, fsync", key: "allMs", unit: "ms", judged: "value", must: 10_000, goal: 3000 },
  ]),
  ...against("w8", "pawl-normal", "floor-normal", [
    { what: "nearest of 100,000 × 384, p50", key: "p50", unit: "ms", judged: "ratio", must: 0.5, goal: 0.2 },
    { what: "the same, p95", key: "p95", unit: "ms", judged: "value", must: 50, goal: 15 },
    { what: "of the ten nearest, missed", key: "missed", unit: "%", judged: "value", must: 5, goal: 2 },
    { what: "memory of the index", key: "mb", unit: "MB", judged: "ratio", must: 0.5 },
    { what: "nearest of 100,000 × 1536, p50", key: "largeP50", unit: "ms", judged: "ratio", must: 0.5, goal: 0.2 },
    { what: "the same, p95", key: "largeP95", unit: "ms", judged: "value", must: 50, goal: 15 },
    { what: "of the ten nearest, missed", key: "largeMissed", unit: "%", judged: "value", must: 5, goal: 2 },
    {
      what: "hybrid search (100,000, or --passages), p95",
      key: "hybridP95",
      unit: "ms",
      judged: "value",
      must: 50,
      goal: 15,
    },
    { what: "the same, CPU", key: "hybridCpu", unit: "ms", judged: "value", must: 50, goal: 15 },
    {
      what: "first search after a start, CPU",
      key: "firstFileCpu",
      unit: "ms",
      judged: "value",
      must: 1000,
      goal: 300,
    },
    { what: "ingest of a passage, no embedder", key: "ingestUs", unit: "µs", judged: "value", must: 500, goal: 100 },
    { what: "the same, CPU", key: "ingestCpuUs", unit: "µs", judged: "value", must: 500, goal: 100 },
  ]),
  ...against("w9", "pawl-normal", "floor-normal", [
    { what: "pawl chat to prompt, floor: node -e 0", key: "promptMs", unit: "ms", judged: "ratio", must: 5, goal: 3 },
  ]),
  ...against("w10", "pawl-normal", "floor-normal", [
    { what: "input paid for in 30 turns", key: "paidTokens", unit: "tokens", judged: "ratio", must: 1.05, goal: 1 },
    { what: "changes of the tool list in them", key: "lists", unit: "changes", judged: "value", must: 1, goal: 0 },
  ]),
  ...against("w11", "pawl-postgres", "floor-postgres", [
    { what: "delta to watchers of its own node, CPU", key: "localUs", unit: "µs", judged: "value" },
    {
      what: "elsewhere: beyond it, writer's node",
      key: "beyondAtWriterUs",
      unit: "µs",
      judged: "value",
      must: 3,
      goal: 2,
    },
    { what: "the same, watchers' node", key: "beyondAtWatcherUs", unit: "µs", judged: "value", must: 3, goal: 2 },
  ]),
  ...against("w12", "pawl-postgres", "floor-postgres", seenElsewhere("Nats", 100)),
  ...against("w12", "pawl-postgres", "floor-postgres", seenElsewhere("Alone", 2000)),
  ...against("w13", "pawl-normal", "floor-normal", [
    { what: "embedding 800 characters, CPU", key: "passageMs", unit: "ms", judged: "value", must: 70, goal: 30 },
    { what: "first question of a process, CPU", key: "firstMs", unit: "ms", judged: "value" },
  ]),
  ...against("w14", "pawl-normal", "floor-normal", [
    {
      what: "search in 3,000 files, CPU; floor: grep -rn",
      key: "searchMs",
      unit: "ms",
      judged: "ratio",
      must: 5,
      goal: 2,
    },
  ]),
]

type Line = Omit<Measure, "workload" | "ours" | "floor">

function against(workload: Workload, ours: OursName, floor: FloorName, lines: readonly Line[]): Measure[] {
  return lines.map((line) => ({ workload, ours, floor, ...line }))
}

/** The time until an event of one server is visible at the other: with NATS, and with PostgreSQL alone. */
function seenElsewhere(link: "Nats" | "Alone", must: number): Line[] {
  const by = link === "Nats" ? "NATS" : "no NATS"
  return Object.entries(happenings).flatMap(([key, what]) => [
    { what: `${what}, ${by}, p50`, key: `${key}${link}P50`, unit: "ms", judged: "value", must } as const,
    { what: "the same, longest", key: `${key}${link}Max`, unit: "ms", judged: "value", must } as const,
  ])
}
