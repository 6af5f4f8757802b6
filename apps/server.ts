import "../core/require-node.ts"
import { readConfig } from "./cli/settings/config.ts"
import { openServer, serveUntilStopped } from "./cli/commands/serve-until-stopped.ts"
import { reportData, warn } from "./cli/settings/warn.ts"

/** Options of `runServer`: the settings, and a signal that stops it. */
export interface ServerOptions {
  /** Settings by the names of their environment variables, such as `PAWL_PORT`. Default: the environment. */
  readonly settings?: Readonly<Record<string, string | undefined>>
  /** Stops the server when it aborts. The next start continues active runs. */
  readonly stopping: AbortSignal
}

/**
 * Runs the server like `pawl serve`. Resolves when the server has stopped; throws if it fails.
 *
 * @example
 * const stopping = new AbortController()
 * const running = runServer({ settings: { PAWL_DATA: "data", PAWL_PORT: "0", PAWL_LOG: "off" }, stopping: stopping.signal })
 * stopping.abort() // such as on a signal of the process
 * await running
 * console.log("stopped") // stopped
 */
export async function runServer({ settings, stopping }: ServerOptions): Promise<void> {
  const config = readConfig(settings)
  warn(config)
  reportData(config)
  await using closing = new AsyncDisposableStack()
  const server = closing.use(await openServer(config))
  warn({ warnings: await server.store.engine.weaknesses() })
  const broken = await serveUntilStopped(server, { config, stopping })
  if (!broken) return
  closing.move() // what closing in good order would write could do harm to a database whose disk has failed
  throw broken
}
