import type { Hono } from "hono"
import { AppError, failure } from "../../../protocol/errors.ts"
import { routes } from "../../../protocol/routes/index.ts"
import type { Env } from "../../door/request-env.ts"
import type { Log } from "../../../agent/ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

export interface HealthPorts {
  readonly log: Log
  /** Aborted, with the reason, when only a new start can make this process serve again. */
  readonly broken: AbortSignal
  /** Rejects while the store cannot be reached, or when it is better to ask another server: with the reason, where known. */
  ready(): Promise<{ readonly warnings: readonly string[]; readonly bus: "ok" | "partial" | "down" | "none" }>
}

/** For whoever looks after the server. */
export function healthRoutes(app: Hono<Env>, { ready, log, broken }: HealthPorts): void {
  serveRoute(app, routes.healthz, () => {
    // A store that is away comes back by itself: a process that was killed for it would only be away longer.
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
