import { openBuiltPage } from "../../compose/built-page.ts"
import { type ComposedServer, composeServer } from "../../compose/compose-server.ts"
import { RecentSecrets } from "../../models/providers/errors/recent-secrets.ts"
import { createLog } from "../process/log.ts"
import type { Config } from "../settings/config.ts"

/** The server of this configuration, with its page and a log that tells no secret. */
export async function openServer(config: Config): Promise<ComposedServer> {
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  return composeServer(config, { log, recent, ports: { page: openBuiltPage() } })
}
