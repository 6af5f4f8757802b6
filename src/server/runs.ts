import { Hono } from "hono"
import { PageQuery } from "../protocol/requests.ts"
import { type Env, needs } from "./caller.ts"
import { findConversation, findRun } from "./find.ts"
import { readQuery } from "./input.ts"
import type { ServerPorts } from "./ports.ts"

/** Looking at runs. */
export function runRoutes(ports: ServerPorts): Hono<Env> {
  const app = new Hono<Env>()

  app.get("/conversations/:id/runs", needs("read"), async (c) => {
    const { id } = await findConversation(c, ports)
    return c.json(await ports.conversations.runs(id, readQuery(c, PageQuery)))
  })

  app.get("/runs/:id", needs("read"), async (c) => c.json(await findRun(c, ports)))

  return app
}
