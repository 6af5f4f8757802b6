import type { Hono } from "hono"
import { failure } from "../../../protocol/errors.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import type { ModelRoutePorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

const DAY_MS = 86_400_000
const USUAL_DAYS = 30
const MAX_DAYS = 366

/** What models have cost. */
export function usageRoutes(app: Hono<Env>, { usage, clock }: ModelRoutePorts): void {
  serveRoute(app, routes.readUsage, (c, { query }) => {
    const to = query.to ?? toDay(clock.now())
    const from = query.from ?? toDay(Date.parse(to) - (USUAL_DAYS - 1) * DAY_MS)
    const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
    if (days < 1) throw failure("bad_request", { problem: `from: ${from} is after ${to}.` })
    if (days > MAX_DAYS) throw failure("bad_request", { problem: `from: at most ${MAX_DAYS} days at a time.` })
    return usage.read(userOf(c), { from, to })
  })
}

const toDay = (at: number): string => new Date(at).toISOString().slice(0, 10)
