import type { RefusalReason } from "../../../core/bus/message-cipher.ts"
import type { NodeLinks } from "../../../core/compose/open-bus.ts"
import { WRONG_KEY } from "../../../core/compose/start-server.ts"
import { type Clock, machineTimeOf, monotonicOf, sleep } from "../../../core/shared/time/clock.ts"
import type { ListedNode } from "../../../core/store/journal/node-list.ts"
import type { Store } from "../../../core/store/store.ts"
import type { TelemetrySettings } from "../../../core/telemetry/settings.ts"
import { doctorText } from "../../strings/doctor.ts"
import type { Finding } from "./machine.ts"

/** A larger difference is reported: rows use the database's clock, but logs and files the machine's. */
const DIFFERENCE_MS = 2000
const WRITTEN = Date.UTC(2026, 0, 1)
/** A node sends a heartbeat every two or three seconds; after eight the others take over its work. */
const SILENCE_MS = 5000

/** Lists the nodes on one database, and checks the settings that they must share. */
export async function* examineNodes(
  { nodes, secrets, node: self }: Pick<Store, "nodes" | "secrets" | "node">,
  clock: Clock,
): AsyncGenerator<Finding> {
  yield (await secrets.isOurs()) ? ["ok", doctorText.masterKey] : ["wrong", WRONG_KEY]
  const ahead = await nodes.aheadMs(() => machineTimeOf(clock))
  if (ahead === undefined) return yield examineOwnClock(clock)
  yield Math.abs(ahead) > DIFFERENCE_MS
    ? ["note", doctorText.clocksDiffer(doctorText.difference(ahead))]
    : ["ok", doctorText.clocks(doctorText.difference(ahead))]
  const others = (await nodes.read()).filter(({ id }) => id !== self.id) // this command is also a node while it runs
  if (others.length === 0) yield ["note", doctorText.noNodes]
  for (const each of others) yield* examineNode(each)
}

/** SQLite has no clock of its own, so only an impossible time of this machine can be noticed. */
function examineOwnClock(clock: Clock): Finding {
  const now = machineTimeOf(clock)
  const time = new Date(now).toISOString()
  return now < WRITTEN ? ["wrong", doctorText.clockWrong(time)] : ["ok", doctorText.clock(time)]
}

function* examineNode({ id, since, silentMs, aheadMs, leases }: ListedNode): Generator<Finding> {
  const line = doctorText.nodeLine(id, new Date(since).toISOString(), silentMs, leases)
  yield silentMs > SILENCE_MS ? ["note", `${line}; ${doctorText.nodeLate}`] : ["ok", line]
  if (Math.abs(aheadMs) > DIFFERENCE_MS) yield ["note", doctorText.nodeClock(id, doctorText.difference(aheadMs))]
}

/** The average limit: with an index no statement of a run takes longer. */
const SLOW_MS = 50
const MAX_TOLD = 3

type Asking = Pick<Store, "engine" | "journal">

/** Slow statements: from the counters of PostgreSQL, or measured now with a few statements of a run. */
export async function* examineStatements(
  store: Asking,
  now: () => number = () => performance.now(),
): AsyncGenerator<Finding> {
  const counted = store.engine.name === "postgres" ? await readCounted(store) : undefined
  const statements = counted ?? (await measure(store, now))
  const slow = statements.filter(({ ms }) => ms > SLOW_MS)
  const by = counted ? doctorText.averaged : doctorText.measured
  if (slow.length === 0) yield ["ok", doctorText.statementsFast(SLOW_MS, by)]
  const advice = store.engine.name === "sqlite" ? doctorText.fasterDisk : doctorText.analyze
  for (const { what, ms, times } of slow.slice(0, MAX_TOLD))
    yield [
      "note",
      doctorText.statementSlow(what, ms, times === undefined ? by : doctorText.averagedOver(times), advice),
    ]
}

interface TimedStatement {
  readonly what: string
  readonly ms: number
  readonly times?: number
}

/** Undefined if the extension is missing or not readable. */
async function readCounted({ engine }: Asking): Promise<TimedStatement[] | undefined> {
  const sql = `SELECT query, calls, mean_exec_time AS ms FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
    WHERE d.datname = current_database() AND calls >= 10 ORDER BY mean_exec_time DESC LIMIT 20`
  try {
    const rows = await engine.query<{ query: string; calls: number; ms: number }>(sql, [])
    return rows.map(({ query, calls, ms }) => ({ what: oneLine(query), ms: Number(ms), times: Number(calls) }))
  } catch {
    return undefined
  }
}

const oneLine = (sql: string): string => sql.replaceAll(/\s+/g, " ").slice(0, 120)

async function measure({ engine, journal }: Asking, now: () => number): Promise<TimedStatement[]> {
  const longest = "SELECT conversation AS key FROM event GROUP BY conversation ORDER BY max(position) DESC LIMIT 1"
  const [row] = await engine.query<{ key: number }>(longest, [])
  const measured: (readonly [what: string, ask: () => Promise<unknown>])[] = [
    [doctorText.abandonedRuns, () => journal.abandoned(100)],
    [doctorText.doubtfulWrites, () => journal.doubtful(100)],
    ...(row ? ([[doctorText.longestConversation, () => engine.eventsToReplay(row.key)]] as const) : []),
  ]
  const statements: TimedStatement[] = []
  for (const [what, ask] of measured) {
    await ask() // the first execution prepares it and reads from the disk
    const began = now()
    await ask()
    statements.push({ what, ms: now() - began })
  }
  return statements.sort((one, other) => other.ms - one.ms)
}

const TIMEOUT_MS = 5000

/** Whether the receiver of traces accepts an empty batch, which is valid OTLP. */
export async function* examineTraces(telemetry: TelemetrySettings | undefined): AsyncGenerator<Finding> {
  if (!telemetry) return
  const { url, headers, protocol } = telemetry
  const { origin } = new URL(url)
  const [type, body] =
    protocol === "http/json" ? ["application/json", '{"resourceSpans":[]}'] : ["application/x-protobuf", ""]
  try {
    const response = await fetch(url, {
      ...{ method: "POST", headers: { ...headers, "content-type": type }, body, redirect: "manual" as const },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await response.body?.cancel()
    yield response.ok
      ? ["ok", doctorText.tracesSent(origin, protocol)]
      : ["wrong", doctorText.tracesRefused(origin, response.status, adviceFor(response.status))]
  } catch {
    yield ["wrong", doctorText.tracesUnreachable(origin)]
  }
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return doctorText.tracesKey
  if (status === 404 || status === 405) return doctorText.tracesPath
  if (status === 415) return doctorText.tracesProtocol
  return doctorText.tracesLog
}

/** How long to wait for NATS and for responses of other nodes. */
const BUS_TIMEOUT_MS = 3000
const POLL_MS = 50

interface Ports {
  readonly store: Pick<Store, "engine" | "nodes" | "node" | "secrets">
  readonly links: Pick<NodeLinks, "state" | "lag" | "refused">
  readonly clock: Clock
}

/**
 * Whether messages between nodes arrive, how fast, and which nodes do not respond. This command acts as a node
 * meanwhile.
 */
export async function* examineBus({ store, links, clock }: Ports): AsyncGenerator<Finding> {
  // A SQLite file has one server, so there is no other node.
  if (store.engine.exclusive || store.engine.name === "sqlite") return
  if (links.state() === "none") {
    yield ["ok", doctorText.noBus]
    return
  }
  if (!(await store.secrets.isOurs())) {
    yield ["note", doctorText.busKeyMissing]
    return
  }
  const until = monotonicOf(clock) + BUS_TIMEOUT_MS
  const isSoon = async (holds: () => boolean) => {
    while (!holds() && monotonicOf(clock) < until) await sleep(clock, POLL_MS)
    return holds()
  }
  if (!(await isSoon(() => links.state() === "ok"))) {
    yield ["note", doctorText.busDown]
    return
  }
  const others = (await store.nodes.read()).filter(({ id }) => id !== store.node.id)
  const responses = () => links.lag()?.nodesMs ?? new Map<string, number>()
  await isSoon(() => others.every(({ id }) => responses().has(id)))
  const [answered, toServer] = [responses(), links.lag()?.serverMs ?? 0]
  const slowest = Math.max(...answered.values())
  const { milliseconds } = doctorText
  yield ["ok", doctorText.busUp(milliseconds(toServer), answered.size, milliseconds(slowest))]
  const refused = links.refused?.senders ?? new Map<string, RefusalReason>()
  const missing = others.flatMap(({ id }): string[] => (answered.has(id) ? [] : [id]))
  for (const id of missing) yield ["note", doctorText.nodeSilent(id, whyNot(refused.get(id)))]
  for (const [id, reason] of refused)
    if (!missing.includes(id)) yield ["note", doctorText.messagesRefused(id, whyNot(reason))]
}

function whyNot(refused: RefusalReason | undefined): string {
  switch (refused) {
    case "not encrypted":
      return doctorText.notEncrypted
    case "another key":
      return doctorText.otherKey
    case "forged":
    case "replayed":
      return doctorText.refusedAs(refused)
    case undefined:
      return doctorText.otherNats
  }
}
