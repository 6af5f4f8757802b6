import type { Hono, Context } from "hono"
import { AppError, failure } from "../../protocol/errors.ts"
import { routes } from "../../protocol/routes/index.ts"
import type { Env, AuthPorts } from "../auth/credentials.ts"
import type { Log } from "../../shared/log.ts"
import { serveRoute } from "../request/serve-route.ts"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { requireScope, identify } from "../auth/caller.ts"
import type { RateLimits } from "../auth/rate-limits.ts"
import type { ServerMetrics } from "../metrics/server-metrics.ts"

export interface HealthPorts {
  readonly log: Log
  /** Aborted, with the reason, if only a restart can make this process work again. */
  readonly broken: AbortSignal
  /** Rejects, with the reason if known, while the store is unreachable or the node drains. */
  ready(): Promise<{ readonly warnings: readonly string[]; readonly bus: "ok" | "partial" | "down" | "none" }>
}

export function healthRoutes(app: Hono<Env>, { ready, log, broken }: HealthPorts): void {
  serveRoute(app, routes.healthz, () => {
    // A store that is unreachable recovers by itself: killing the process would only prolong the outage.
    if (broken.aborted) throw failure("store_unavailable", { problem: "only a new start of the server can help" })
    return { status: "alive" as const }
  })

  serveRoute(app, routes.readyz, async () => {
    try {
      const { warnings, bus } = await ready()
      return { status: "ready" as const, bus, ...(warnings.length > 0 ? { warnings: [...warnings] } : {}) }
    } catch (error) {
      if (error instanceof AppError) throw error
      log.warn("not_ready", { error })
      throw failure("store_unavailable", { problem: "it cannot be reached" })
    }
  })
}

const FORWARDED = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"]
const RESOLUTION_MS = 20

/** The work of this process, of all that share its database. */
export interface NodeWork {
  readonly leases: number
  readonly takeovers: number
  /** Undefined if no other process can write to the database. */
  readonly pollAgeMs: number | undefined
  /** Undefined without a bus. */
  readonly busLag: BusLag | undefined
}

interface BusLag {
  readonly serverMs: number | undefined
  readonly nodesMs: ReadonlyMap<string, number>
  readonly unheard: number
  readonly refused: ReadonlyMap<string, number>
}

interface MetricsPorts extends AuthPorts {
  readonly metrics: ServerMetrics
  nodeWork(): NodeWork
  readonly devices: { readonly size: { readonly devices: number; readonly calls: number } }
}

/** Metrics for Prometheus: without authentication from this machine, otherwise with the scope `admin`. */
export function metricsRoute(app: Hono<Env>, ports: MetricsPorts, limits: RateLimits): void {
  const { metrics } = ports
  const ask = identify(ports, limits)
  const measure = processGauges(metrics)

  app.use(routes.metrics.path, async (c, next) => (isLocal(c) ? next() : ask(c, next)))
  serveRoute(app, routes.metrics, (c) => {
    if (!isLocal(c)) requireScope(c, "admin")
    measure()
    const { devices, calls } = ports.devices.size
    metrics.devices.set(devices)
    metrics.deviceCalls.set(calls)
    const { leases, takeovers, pollAgeMs, busLag } = ports.nodeWork()
    metrics.leases.set(leases)
    metrics.takeovers.set(takeovers)
    if (pollAgeMs !== undefined) metrics.pollAge.set(pollAgeMs / 1000)
    if (busLag) busGauges(metrics, busLag)
    return c.body(metrics.all.text(), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" })
  })
}

/**
 * Whether the peer is this machine. A proxy on this machine forwards requests from others, so any forwarding header removes
 * the privilege; no header can grant it.
 */
function isLocal(c: Context<Env>): boolean {
  if (FORWARDED.some((name) => c.req.header(name) !== undefined)) return false
  const { incoming } = (c.env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } }
  const peer = incoming?.socket?.remoteAddress ?? ""
  return peer === "::1" || /^(::ffff:)?127\./.test(peer)
}

/** Unknown values are cleared, not repeated: an old number would look like a current one. */
function busGauges(metrics: ServerMetrics, { serverMs, nodesMs, unheard, refused }: BusLag): void {
  const { busUp, busLag, busUnheard, busRefused } = metrics
  for (const [reason, count] of refused) busRefused.set(count, { reason })
  busUp.set(serverMs === undefined ? 0 : 1)
  busUnheard.set(unheard)
  busLag.clear()
  if (serverMs === undefined) return
  busLag.set(serverMs / 1000, { to: "nats" })
  if (nodesMs.size > 0) busLag.set(Math.max(...nodesMs.values()) / 1000, { to: "nodes" })
}

/** Measured when metrics are read. The first read starts the measurement of event-loop lag, so it has no value yet. */
function processGauges({ lag, memory, uptime }: ServerMetrics): () => void {
  let watched: ReturnType<typeof monitorEventLoopDelay> | undefined
  return () => {
    if (watched) {
      const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000) || 0
      lag.set(late(watched.percentile(50)), { quantile: "0.5" })
      lag.set(late(watched.percentile(99)), { quantile: "0.99" })
      lag.set(late(watched.max), { quantile: "1" })
      watched.reset()
    } else {
      watched = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      watched.enable()
    }
    const { rss, heapUsed, external } = process.memoryUsage()
    for (const [kind, bytes] of Object.entries({ rss, heap: heapUsed, external })) memory.set(bytes, { kind })
    uptime.set(Math.round(process.uptime()))
  }
}
