import { readConfig } from "./cli/settings/config.ts"
import { createLog } from "./cli/process/log.ts"
import { openFromConfig } from "./cli/open/from-config.ts"
import { serveUntilStopped } from "./cli/commands/serve-until-stopped.ts"
import { warn } from "./cli/settings/warn.ts"
import { RecentSecrets } from "./models/providers/recent-secrets.ts"
import { createServerMetrics } from "./server/metrics/server-metrics.ts"

export interface ServerOptions {
  /** By the names of the environment's variables, such as `PAWL_PORT`; without, they are read from there. */
  readonly settings?: Readonly<Record<string, string | undefined>>
  /** Stops the server in good order: what is at work goes on with the next start. */
  readonly stopping: AbortSignal
}

/** What `pawl serve` does, in a program of your own: resolves when the server has stopped, and throws where it broke. */
export async function runServer({ settings, stopping }: ServerOptions): Promise<void> {
  const config = readConfig(settings)
  warn(config)
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  const metrics = createServerMetrics()
  await using closing = new AsyncDisposableStack()
  const opened = closing.use(await openFromConfig(config, log, { recent, metrics }))
  const broken = await serveUntilStopped(opened, { config, log, stopping, metrics })
  if (!broken) return
  closing.move() // what closing in good order would write could do harm to a database whose disk has failed
  throw broken
}
