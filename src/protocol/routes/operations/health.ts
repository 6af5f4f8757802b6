import { z } from "zod"
import { defineRoutes } from "../route.ts"
import { lazily } from "../../lazily.ts"

/** For whoever looks after the server. */
export const healthRoutes = defineRoutes({
  healthz: {
    method: "GET",
    path: "/healthz",
    needs: "nobody",
    says: "The process is alive; 503 where only a new start of it can help. A store that is away is no reason: it comes back by itself.",
    answers: { 200: lazily(() => z.object({ status: z.literal("alive") })) },
  },
  readyz: {
    method: "GET",
    path: "/readyz",
    needs: "nobody",
    says: "The store takes what it is given, found out by writing; 503 with the reason while it does not (it cannot be reached, the disk is full), and while the server is going down. `warnings` say what works and is set in a way that breaks a promise; `bus` whether other nodes are heard at once (`ok`), some of those that are alive are not (`partial`), all are looked for in the database until they are (`down`), or there is no NATS (`none`).",
    answers: {
      200: lazily(() =>
        z.object({
          status: z.literal("ready"),
          bus: z.enum(["ok", "partial", "down", "none"]),
          warnings: z.array(z.string()).optional(),
        }),
      ),
    },
  },
  openapi: {
    method: "GET",
    path: "/openapi.json",
    needs: "nobody",
    says: "This reference, for programs: OpenAPI 3.1.",
    answers: { 200: lazily(() => z.looseObject({ openapi: z.literal("3.1.0") })) },
  },
  home: {
    method: "GET",
    path: "/",
    needs: "nobody",
    says: "The page for people. Every other address that a browser opens and that is none of ours leads there too.",
    answers: { 200: lazily(() => z.string()) },
    media: "text/html",
  },
  docs: {
    method: "GET",
    path: "/docs",
    needs: "nobody",
    says: "This reference, for people.",
    answers: { 200: lazily(() => z.string()) },
    media: "text/html",
  },
})
