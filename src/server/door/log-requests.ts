import { randomUUID } from "node:crypto"
import type { MiddlewareHandler } from "hono"
import type { Log } from "../../agent/ports.ts"
import type { Env } from "./request-env.ts"
import type { ServerMetrics } from "../metrics/server-metrics.ts"

const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
/** Asked every few seconds by whoever looks after the server: worth a line only when they fail. */
const PROBES = new Set(["/healthz", "/readyz", "/metrics"])

/** Gives every request an id, and counts and logs how it ended: by the template of its route, never by its address. */
export function watchRequests(metrics: ServerMetrics, log: Log): MiddlewareHandler<Env> {
  return async (c, next) => {
    const began = performance.now()
    const given = c.req.header("x-request-id") ?? ""
    const requestId = /^[\w.-]{8,64}$/.test(given) ? given : randomUUID()
    c.set("requestId", requestId)
    c.header("x-request-id", requestId)
    await next()
    const ms = performance.now() - began
    const { status } = c.res
    const route = c.get("route") ?? "unmatched"
    const method = METHODS.has(c.req.method) ? c.req.method : "other"
    metrics.requests.add(1, { method, route, status })
    metrics.requestSeconds.observe(ms / 1000, { method, route })
    if (PROBES.has(route) && status < 500) return
    const person = c.get("caller")?.person.id
    log.info("request", { method, route, status, ms: Math.round(ms), ...(person ? { person } : {}), requestId })
  }
}
