import type { Hono } from "hono"
import { firstRequests } from "../../../agent/definition/phrases.ts"
import { routes } from "../../../protocol/routes/index.ts"
import type { Env } from "../../door/request-env.ts"
import type { ModelRoutePorts } from "./ports.ts"
import { serveRoute } from "../../request/serve-route.ts"

const MAX_EXAMPLES = 6

/** Which agents there are, and what they can do. */
export function agentRoutes(app: Hono<Env>, { agents }: ModelRoutePorts): void {
  serveRoute(app, routes.listAgents, () => {
    const items = agents.all.map(({ name, description, tools, maxIterations }) => {
      const examples = firstRequests(tools.visibleIn("auto"), MAX_EXAMPLES)
      return { name, description, tools: tools.names, maxIterations, examples }
    })
    return { items }
  })

  serveRoute(app, routes.listTools, () => {
    const items = agents.all.flatMap(({ name: agent, tools }) => {
      return tools.visibleIn("auto").map(({ effect, declaration, phrases = [], ...tool }) => {
        const undoable = "inverse" in tool && tool.inverse !== false
        const examples = phrases.filter(({ after }) => after === undefined).map(({ example }) => example)
        return { agent, ...declaration, effect, examples, ...(effect === "write" ? { undoable } : {}) }
      })
    })
    return { items }
  })
}
