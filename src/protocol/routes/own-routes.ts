import { auditRoutes } from "./audit.ts"
import { catalogueRoutes } from "./catalogue.ts"
import { collectionRoutes } from "./collections.ts"
import { connectionRoutes } from "./connections.ts"
import { conversationRoutes } from "./conversations.ts"
import { deviceRoutes } from "./devices.ts"
import { fileRoutes } from "./files.ts"
import { grantRoutes } from "./grants.ts"
import { healthRoutes } from "./health.ts"
import { mcpServerRoutes } from "./mcp-servers.ts"
import { operatingRoutes } from "./operating.ts"
import { proposalRoutes } from "./proposals.ts"
import { questionRoutes } from "./questions.ts"
import { resultRoutes } from "./results.ts"
import { retentionRoutes } from "./retention.ts"
import { queueRoutes } from "./queue.ts"
import { streamRoutes } from "./streams.ts"
import { providerRoutes } from "./providers.ts"
import { runRoutes } from "./runs.ts"
import { usageRoutes } from "./usage.ts"
import { signInRoutes } from "./sign-in.ts"
import { threadRoutes } from "./threads.ts"
import { tokenRoutes } from "./tokens.ts"
import { workspaceRoutes } from "./workspace.ts"
import { vectorRoutes } from "./vectors.ts"

/** Every address of our own API, by the name the typed client calls it. A page carries these and no dialect. */
export const ownRoutes = {
  ...healthRoutes,
  ...conversationRoutes,
  ...runRoutes,
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
