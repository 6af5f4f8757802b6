import { z } from "zod"
import { defineRoutes } from "./route.ts"

/** For operators. */
export const healthRoutes = defineRoutes({
  healthz: {
    method: "GET",
    path: "/healthz",
    needs: "nobody",
    says: "Reports whether the process works; 503 if it must be restarted. An unreachable store is no reason, because the server reconnects automatically.",
    answers: { 200: z.object({ status: z.literal("alive") }) },
  },
  readyz: {
    method: "GET",
    path: "/readyz",
    needs: "nobody",
    says: "Reports whether the store accepts writes; 503 with the reason if it does not (unreachable, disk full), and during shutdown. `warnings` lists settings that work but break a promise. `bus` reports the connection to other nodes: `ok`, `partial` (some live nodes are unreachable), `down` (nodes poll the database until it is back), or `none` (no NATS).",
    answers: {
      200: z.object({
        status: z.literal("ready"),
        bus: z.enum(["ok", "partial", "down", "none"]),
        warnings: z.array(z.string()).optional(),
      }),
    },
  },
  openapi: {
    method: "GET",
    path: "/openapi.json",
    needs: "nobody",
    says: "Returns this reference as OpenAPI 3.1.",
    answers: { 200: z.looseObject({ openapi: z.literal("3.1.0") }) },
  },
  home: {
    method: "GET",
    path: "/",
    needs: "nobody",
    says: "Returns the web page. Every other address that a browser opens and that has no route returns it too.",
    answers: { 200: z.string() },
    media: "text/html",
  },
  docs: {
    method: "GET",
    path: "/docs",
    needs: "nobody",
    says: "Redirects to the first page of the documentation.",
    answers: { 302: null },
  },
  apiReference: {
    method: "GET",
    path: "/docs/api",
    needs: "nobody",
    says: "Returns the API reference as a web page.",
    answers: { 200: z.string() },
    media: "text/html",
  },
})

/** For operators. */
export const operatingRoutes = defineRoutes({
  metrics: {
    method: "GET",
    path: "/metrics",
    needs: "nobody",
    says: "Returns metrics for Prometheus. Requests from another machine or through a proxy need the scope admin.",
    answers: { 200: z.string() },
    media: "text/plain",
  },
})
