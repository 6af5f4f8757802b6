import type { Hono } from "hono"
import { failure } from "../../../protocol/errors.ts"
import { routes } from "../../../protocol/routes/index.ts"
import type { UserId } from "../../../protocol/ids.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import type { DataPorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Texts of one person embedded at a time: a long one takes seconds, and other people wait too. */
const MAX_AT_ONCE = 4

export function vectorRoutes(app: Hono<Env>, { embedder }: DataPorts): void {
  const underWay = new Map<UserId, number>()
  serveRoute(app, routes.embedText, async (c, { body: { text } }) => {
    const user = userOf(c)
    const count = underWay.get(user) ?? 0
    if (count >= MAX_AT_ONCE) throw failure("too_many_requests", { seconds: 1 })
    underWay.set(user, count + 1)
    try {
      const [vector] = await embedder.embed([text], c.req.raw.signal)
      return { vector: [...vector!], embedder: embedder.name }
    } finally {
      const left = (underWay.get(user) ?? 1) - 1
      if (left > 0) underWay.set(user, left)
      else underWay.delete(user)
    }
  })
}
