import { join } from "node:path"
import type { Plugin } from "rolldown"
import { isOwnSource } from "./entries.ts"

/** Lets our sources import `lazy-zod.ts` as `zod`. */
export function lazySchemas(): Plugin {
  return {
    name: "lazy-schemas",
    resolveId: (id, importer) =>
      id === "zod" && importer !== undefined && isOwnSource(importer)
        ? { id: "\0zod", moduleSideEffects: false }
        : null,
    load: (id) =>
      id === "\0zod" ? `export * as z from ${JSON.stringify(join(import.meta.dirname, "lazy-zod.ts"))}` : null,
  }
}
