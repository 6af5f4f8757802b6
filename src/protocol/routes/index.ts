import { agUiRoutes } from "./ag-ui.ts"
import { aiSdkRoutes } from "./ai-sdk.ts"
import { mcpRoutes } from "./mcp.ts"
import { openAiRoutes } from "./openai.ts"
import { ownRoutes } from "./own-routes.ts"

/** Every address of the server: our own, and those of the dialects. */
export const routes = { ...ownRoutes, ...openAiRoutes, ...agUiRoutes, ...mcpRoutes, ...aiSdkRoutes } as const
export type RouteName = keyof typeof routes
