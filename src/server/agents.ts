import { Hono } from "hono"
import { type Env, needs } from "./caller.ts"
import type { ServerPorts } from "./ports.ts"

/** Which agents there are, and what they can do. */
export function agentRoutes({ runtime }: ServerPorts): Hono<Env> {
  const app = new Hono<Env>()
  const { agents } = runtime.ports

  app.get("/agents", needs("read"), (c) => {
    const items = agents.all.map(({ name, description, tools, maxIterations }) => {
      return { name, description, tools: tools.names, maxIterations }
    })
    return c.json({ items })
  })

  app.get("/tools", needs("read"), (c) => {
    const items = agents.all.flatMap(({ name: agent, tools }) => {
      return tools.visibleIn("auto").map(({ effect, declaration, ...tool }) => {
        const undoable = "inverse" in tool && tool.inverse !== false
        return { agent, ...declaration, effect, ...(effect === "write" ? { undoable } : {}) }
      })
    })
    return c.json({ items })
  })

  return app
}
