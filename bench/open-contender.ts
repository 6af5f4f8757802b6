import { type Contender, type OpenOptions, type Place, type Variant, type VariantName, variants } from "./contender.ts"
import type { Served } from "./contenders/pawl-server.ts"

/** Loads only the code of this contender, because W5 measures the loading time. */
export async function openContender(name: VariantName, options: OpenOptions): Promise<Contender> {
  const variant: Variant = variants[name]
  if (name.startsWith("pawl-")) return (await import("./contenders/pawl.ts")).openPawlContender(variant, options)
  if (variant.postgres) return (await import("./contenders/floor-postgres.ts")).openFloorPostgres(options)
  return (await import("./contenders/floor-sqlite.ts")).openFloorSqlite(variant, options)
}

/** The same as a server with a port. */
export async function openServer(name: VariantName, place: Place): Promise<Served> {
  if (name === "floor-route") return (await import("./contenders/floor-route.ts")).openFloorRoute(variants[name], place)
  return (await import("./contenders/pawl-server.ts")).openPawlServer(variants[name], place)
}
