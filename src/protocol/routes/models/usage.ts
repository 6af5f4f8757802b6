import { defineRoutes } from "../route.ts"
import { UsageAnswer, UsageQuery } from "../../models/usage.ts"

/** What models have cost. */
export const usageRoutes = defineRoutes({
  readUsage: {
    method: "GET",
    path: "/api/usage",
    needs: "read",
    says: "What your model calls have used and cost: in all, by model, by day, by conversation.",
    query: UsageQuery,
    answers: { 200: UsageAnswer },
  },
})
