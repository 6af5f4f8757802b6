import { z } from "zod"
import { defineRoutes } from "../route.ts"
import { lazily } from "../../lazily.ts"

/** For whoever looks after the server. */
export const operatingRoutes = defineRoutes({
  metrics: {
    method: "GET",
    path: "/metrics",
    needs: "nobody",
    says: "Numbers for Prometheus. Asked from another machine, or through a proxy, it needs the scope admin.",
    answers: { 200: lazily(() => z.string()) },
    media: "text/plain",
  },
})
