import { auditRoutes, grantRoutes, proposalRoutes } from "./proposals.ts"
import { catalogueRoutes, providerRoutes, usageRoutes } from "./models.ts"
import { collectionRoutes, fileRoutes, vectorRoutes } from "./library.ts"
import { connectionRoutes, resultRoutes } from "./connections.ts"
import {
  conversationRoutes,
  questionRoutes,
  queueRoutes,
  runRoutes,
  sharedRunRoutes,
  streamRoutes,
} from "./conversations.ts"
import { deviceRoutes, retentionRoutes, signInRoutes, tokenRoutes } from "./account.ts"
import { healthRoutes, operatingRoutes } from "./health.ts"
import { mcpServerRoutes } from "./mcp-servers.ts"
import { threadRoutes } from "./dialects/threads.ts"
import { workspaceRoutes } from "./workspace.ts"

/** Every address of our own API, by the name the typed client calls it. A page carries these and no dialect but the threads of earlier clients. */
export const ownRoutes = {
  ...healthRoutes,
  ...conversationRoutes,
  ...runRoutes,
  ...sharedRunRoutes,
  ...queueRoutes,
  ...streamRoutes,
  ...deviceRoutes,
  ...proposalRoutes,
  ...auditRoutes,
  ...grantRoutes,
  ...questionRoutes,
  ...catalogueRoutes,
  ...providerRoutes,
  ...connectionRoutes,
  ...mcpServerRoutes,
  ...collectionRoutes,
  ...fileRoutes,
  ...resultRoutes,
  ...threadRoutes,
  ...usageRoutes,
  ...retentionRoutes,
  ...operatingRoutes,
  ...signInRoutes,
  ...tokenRoutes,
  ...workspaceRoutes,
  ...vectorRoutes,
} as const
