import { auditRoutes } from "./proposals/audit.ts"
import { catalogueRoutes } from "./models/catalogue.ts"
import { collectionRoutes } from "./data/collections.ts"
import { connectionRoutes } from "./data/connections.ts"
import { conversationRoutes } from "./conversations/conversations.ts"
import { deviceRoutes } from "./account/devices.ts"
import { fileRoutes } from "./data/files.ts"
import { grantRoutes } from "./proposals/grants.ts"
import { healthRoutes } from "./operations/health.ts"
import { mcpServerRoutes } from "./mcp-servers.ts"
import { operatingRoutes } from "./operations/operating.ts"
import { proposalRoutes } from "./proposals/proposals.ts"
import { questionRoutes } from "./conversations/questions.ts"
import { resultRoutes } from "./data/results.ts"
import { retentionRoutes } from "./account/retention.ts"
import { queueRoutes } from "./conversations/queue.ts"
import { streamRoutes } from "./conversations/streams.ts"
import { providerRoutes } from "./models/providers.ts"
import { runRoutes } from "./conversations/runs.ts"
import { sharedRunRoutes } from "./shared-runs.ts"
import { usageRoutes } from "./models/usage.ts"
import { signInRoutes } from "./account/sign-in.ts"
import { threadRoutes } from "./dialects/threads.ts"
import { tokenRoutes } from "./account/tokens.ts"
import { workspaceRoutes } from "./data/workspace.ts"
import { vectorRoutes } from "./data/vectors.ts"

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
