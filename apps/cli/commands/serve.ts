import type { Log } from "../../../core/shared/log.ts"
import { serveText } from "../../strings/serve.ts"
import { usageText } from "../../strings/usage.ts"
import { openServer, serveUntilStopped } from "./serve-until-stopped.ts"
import { onStop, readOnlyFlags } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { reportData, warn } from "../settings/warn.ts"

export const help = serveText.help

export async function run(words: readonly string[]): Promise<number> {
  const values = readOnlyFlags(words, { port: { type: "string" }, host: { type: "string" } })
  const config = readConfig(undefined, { PAWL_PORT: values.port, PAWL_HOST: values.host })
  warn(config)
  reportData(config)
  const stopping = onStop()
  await using server = await openServer(config)
  logLostErrors(server.log)
  warn({ warnings: await server.store.engine.weaknesses() })
  const broken = await serveUntilStopped(server, { config, stopping })
  if (!broken) return 0
  process.stderr.write(usageText.error(serveText.storeBroken(broken.message)))
  // Exit at once: an orderly shutdown would write to a database whose disk has failed.
  process.exit(1)
}

/**
 * Handles uncaught errors of a server. A rejected promise is a bug of the work that it belongs to: it is logged, and
 * all others are served. After an uncaught exception some code was left incomplete: the process ends, as Node does by
 * default, and runs continue after the restart. That is logged too.
 */
function logLostErrors(log: Log): void {
  process.on("unhandledRejection", (error) => log.error("unhandled_rejection", { error }))
  process.on("uncaughtExceptionMonitor", (error) => log.error("uncaught_exception", { error }))
}
