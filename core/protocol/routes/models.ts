import { z } from "zod"
import { AgentList, DefaultModel, ModelList, ToolList } from "../answers.ts"
import { ChangedEndpoint, NewAccess, ProviderView } from "../models/providers.ts"
import { UsageAnswer, UsageQuery } from "../models/usage.ts"
import { DefaultModelChoice, ModelsQuery } from "../requests.ts"
import { defineRoutes } from "./route.ts"

/** The agents and tools of this server. */
export const catalogueRoutes = defineRoutes({
  listModels: {
    method: "GET",
    path: "/api/models",
    needs: "read",
    says: "Lists the models of this server, the source of each fact, and what is missing for those that are unavailable. Endpoints that list their models are asked in the background; `wait` waits for them.",
    query: ModelsQuery,
    answers: { 200: ModelList },
  },
  chooseDefaultModel: {
    method: "PUT",
    path: "/api/models/default",
    needs: "chat",
    says: "Chooses, by name or alias, the model that your new conversations in this client start with; a model chosen in a conversation does the same. Clients are the page, the terminal and programs. With `everywhere` it is the default of all clients. Unknown or unavailable is a 400.",
    body: DefaultModelChoice,
    answers: { 200: DefaultModel },
  },
  listAgents: {
    method: "GET",
    path: "/api/agents",
    needs: "read",
    says: "Lists the agents for new conversations.",
    answers: { 200: AgentList },
  },
  listTools: {
    method: "GET",
    path: "/api/tools",
    needs: "read",
    says: "Lists the tools of every agent, with their input schemas and effects.",
    answers: { 200: ToolList },
  },
})

/** API keys and endpoints of users. */
export const providerRoutes = defineRoutes({
  listProviders: {
    method: "GET",
    path: "/api/providers",
    needs: "read",
    says: "Lists the model providers, and whether you use your own key, the operator's, or none.",
    answers: { 200: z.object({ items: z.array(ProviderView) }) },
  },
  readProvider: {
    method: "GET",
    path: "/api/providers/{name}",
    needs: "read",
    says: "Returns one provider.",
    answers: { 200: ProviderView },
  },
  saveProvider: {
    method: "PUT",
    path: "/api/providers/{name}",
    needs: "manage",
    says: "Stores your own key or address for a provider, encrypted, and replaces what you had stored. It is never returned. With `kind`, adds an endpoint of your own under a new name.",
    body: NewAccess,
    answers: { 200: ProviderView },
  },
  changeProvider: {
    method: "PATCH",
    path: "/api/providers/{name}",
    needs: "manage",
    says: "Changes an endpoint of your own. A new address removes the stored key and headers.",
    body: ChangedEndpoint,
    answers: { 200: ProviderView },
  },
  removeProvider: {
    method: "DELETE",
    path: "/api/providers/{name}",
    needs: "manage",
    says: "Deletes your settings for a provider, or an endpoint of your own.",
    answers: { 204: null },
  },
})

/** The cost of model calls. */
export const usageRoutes = defineRoutes({
  readUsage: {
    method: "GET",
    path: "/api/usage",
    needs: "read",
    says: "Returns the usage and cost of your model calls: in total, by model, by day and by conversation.",
    query: UsageQuery,
    answers: { 200: UsageAnswer },
  },
})
