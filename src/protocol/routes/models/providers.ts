import { z } from "zod"
import { ChangedEndpoint, NewAccess, ProviderView } from "../../models/providers.ts"
import { defineRoutes } from "../route.ts"
import { lazily } from "../../lazily.ts"

/** Keys and addresses that people bring for themselves. */
export const providerRoutes = defineRoutes({
  listProviders: {
    method: "GET",
    path: "/api/providers",
    needs: "read",
    says: "The providers of models, and whether you use a key of your own, the operator's, or none.",
    answers: { 200: lazily(() => z.object({ items: z.array(ProviderView) })) },
  },
  readProvider: {
    method: "GET",
    path: "/api/providers/{name}",
    needs: "read",
    says: "One provider.",
    answers: { 200: ProviderView },
  },
  saveProvider: {
    method: "PUT",
    path: "/api/providers/{name}",
    needs: "manage",
    says: "Stores your own key or address for a provider, encrypted, in place of what you had stored. It is never shown again. With `kind`, an endpoint of your own under a name of yours.",
    body: NewAccess,
    answers: { 200: ProviderView },
  },
  changeProvider: {
    method: "PATCH",
    path: "/api/providers/{name}",
    needs: "manage",
    says: "Changes what you say of an endpoint of your own. At another address it has neither the key nor the headers of before.",
    body: ChangedEndpoint,
    answers: { 200: ProviderView },
  },
  removeProvider: {
    method: "DELETE",
    path: "/api/providers/{name}",
    needs: "manage",
    says: "Forgets what you have stored for a provider, or an endpoint of your own.",
    answers: { 204: null },
  },
})
