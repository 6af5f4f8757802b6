import { agUiRoutes } from "./ag-ui.ts"
import { aiSdkRoutes } from "./ai-sdk.ts"
import { mcpRoutes } from "./mcp.ts"
import { oauthRoutes } from "./oauth.ts"
import { openAiRoutes } from "./openai.ts"
import { ownRoutes } from "./own-routes.ts"

const dialects = { ...openAiRoutes, ...agUiRoutes, ...mcpRoutes, ...aiSdkRoutes } as const

/** Every address of the server: our own, those of the dialects, and those where their programs sign in. */
export const routes = { ...ownRoutes, ...dialects, ...oauthRoutes } as const
export type RouteName = keyof typeof routes
