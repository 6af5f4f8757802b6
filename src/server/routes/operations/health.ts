import type { Hono } from "hono"
import { AppError, failure } from "../../../protocol/errors.ts"
import { routes } from "../../../protocol/routes/index.ts"
import type { Env } from "../../door/request-env.ts"
import type { Log } from "../../../agent/ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

export interface HealthPorts {
  readonly log: Log
  /** Rejects while the store cannot be reached, or when it is better to ask another server: with the reason, where known. */
  ready(): Promise<{ readonly warnings: readonly string[] }>
}

/** For whoever looks after the server. */
export function healthRoutes(app: Hono<Env>, { ready, log }: HealthPorts): void {
  serveRoute(app, routes.healthz, () => ({ status: "alive" as const }))

  serveRoute(app, routes.readyz, async () => {
    try {
      const { warnings } = await ready()
      return { status: "ready" as const, ...(warnings.length > 0 ? { warnings: [...warnings] } : {}) }
    } catch (error) {
      if (error instanceof AppError) throw error
      log.warn("not_ready", { error })
      throw failure("store_unavailable", { problem: "it cannot be reached" })
    }
  })
}
