import { mcpRoutes } from "./mcp.ts"
import { openAiRoutes } from "./openai.ts"
import { ownRoutes } from "./own-routes.ts"

/** Every address of the server: our own, and those of a dialect. */
export const routes = { ...ownRoutes, ...openAiRoutes, ...mcpRoutes } as const
export type RouteName = keyof typeof routes
