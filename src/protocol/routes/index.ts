import { catalogueRoutes } from "./catalogue.ts"
import { conversationRoutes } from "./conversations.ts"
import { healthRoutes } from "./health.ts"
import { operatingRoutes } from "./operating.ts"
import { proposalRoutes } from "./proposals.ts"
import { retentionRoutes } from "./retention.ts"
import { runRoutes } from "./runs.ts"
import { streamRoutes } from "./streams.ts"

/** Every address of the server, by the name the typed client calls it. */
export const routes = {
  ...healthRoutes,
  ...conversationRoutes,
  ...runRoutes,
  ...streamRoutes,
  ...proposalRoutes,
  ...catalogueRoutes,
  ...retentionRoutes,
  ...operatingRoutes,
} as const
export type RouteName = keyof typeof routes
