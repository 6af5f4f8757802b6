import { catalogueRoutes } from "./catalogue.ts"
import { conversationRoutes } from "./conversations.ts"
import { healthRoutes } from "./health.ts"
import { proposalRoutes } from "./proposals.ts"
import { runRoutes } from "./runs.ts"
import { signInRoutes } from "./sign-in.ts"
import { tokenRoutes } from "./tokens.ts"

/** Every address of the server, by the name the typed client calls it. */
export const routes = {
  ...healthRoutes,
  ...conversationRoutes,
  ...runRoutes,
  ...proposalRoutes,
  ...catalogueRoutes,
  ...signInRoutes,
  ...tokenRoutes,
} as const
export type RouteName = keyof typeof routes
