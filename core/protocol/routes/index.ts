import { agUiRoutes } from "./dialects/ag-ui.ts"
import { aiSdkRoutes } from "./dialects/ai-sdk.ts"
import { mcpRoutes } from "./dialects/mcp.ts"
import { oauthRoutes } from "./account.ts"
import { openAiRoutes } from "./dialects/openai.ts"
import { ownRoutes } from "./own-routes.ts"

const dialects = { ...openAiRoutes, ...agUiRoutes, ...mcpRoutes, ...aiSdkRoutes } as const

/** All HTTP routes of the server: its own, those of compatible APIs, and OAuth. */
export const routes = { ...ownRoutes, ...dialects, ...oauthRoutes } as const
/** The name of a route, which is also the name of the client's method. */
export type RouteName = keyof typeof routes
