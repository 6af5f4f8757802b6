import { join } from "node:path"
import type { Config } from "../settings/config.ts"

/**
 * The operator's settings, but for all that leads to somebody's data or to others: their database and files, their cluster
 * and traces, MCP servers, whose tools would really be called, at each boundary anew and unnoted. Models are those of the
 * scenario, and nobody is asked for a title beside it.
 */
export function lifeSettings(config: Config, dataFolder: string): Config {
  return {
    ...config,
    ...{ dataFolder, databaseUrl: `file:${join(dataFolder, "pawl.db")}`, models: {} },
    ...{ filesFolder: undefined, nats: undefined, webhook: undefined, telemetry: undefined, mcp: [] },
    titleModel: undefined,
  }
}
