import { ModelsQuery } from "../../requests.ts"
import { AgentList, ModelList, ToolList } from "../../answers.ts"
import { defineRoutes } from "../route.ts"

/** What this server has. */
export const catalogueRoutes = defineRoutes({
  listModels: {
    method: "GET",
    path: "/api/models",
    needs: "read",
    says: "The models of this server, what is known of each and from whom, and what is missing for those that cannot be used. Endpoints that list their models are asked in the background; with `wait` they are waited for.",
    query: ModelsQuery,
    answers: { 200: ModelList },
  },
  listAgents: {
    method: "GET",
    path: "/api/agents",
    needs: "read",
    says: "The agents a conversation can begin with.",
    answers: { 200: AgentList },
  },
  listTools: {
    method: "GET",
    path: "/api/tools",
    needs: "read",
    says: "The tools of every agent, with their input schemas and effects.",
    answers: { 200: ToolList },
  },
})
