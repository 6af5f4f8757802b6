import { agUiRoutes } from "./dialects/ag-ui.ts"
import { aiSdkRoutes } from "./dialects/ai-sdk.ts"
import { mcpRoutes } from "./dialects/mcp.ts"
import { oauthRoutes } from "./account/oauth.ts"
import { openAiRoutes } from "./dialects/openai.ts"
import { ownRoutes } from "./own-routes.ts"

const dialects = { ...openAiRoutes, ...agUiRoutes, ...mcpRoutes, ...aiSdkRoutes } as const

/** Every address of the server: our own, those of the dialects, and those where their programs sign in. */
export const routes = { ...ownRoutes, ...dialects, ...oauthRoutes } as const
export type RouteName = keyof typeof routes
