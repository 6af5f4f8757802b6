import { readConfig } from "./cli/settings/config.ts"
import { openServer } from "./cli/open/server.ts"
import { serveUntilStopped } from "./cli/commands/serve-until-stopped.ts"
import { warn } from "./cli/settings/warn.ts"

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
  await using closing = new AsyncDisposableStack()
  const server = closing.use(await openServer(config))
  warn({ warnings: await server.store.engine.weaknesses() })
  const broken = await serveUntilStopped(server, { config, stopping })
  if (!broken) return
  closing.move() // what closing in good order would write could do harm to a database whose disk has failed
  throw broken
}
