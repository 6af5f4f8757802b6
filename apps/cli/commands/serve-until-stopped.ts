import { once } from "node:events"
import { adapters } from "../../../adapters/list.ts"
import { openBuiltFiles } from "../../../core/compose/built-files.ts"
import { type ComposedServer, composeServer } from "../../../core/compose/compose-server.ts"
import { baseUrl, toLink } from "../../../core/compose/settings.ts"
import { listenOn, startServer } from "../../../core/compose/start-server.ts"
import { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import { defaultScopes } from "../../../core/protocol/account/sign-in.ts"
import type { Listening, RequestPatience } from "../../../core/server/listen.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import { sleep } from "../../../core/shared/time/clock.ts"
import { serveText } from "../../strings/serve.ts"
import { foldersIn } from "../open/folder-conversations.ts"
import { CommandError, userName } from "../process/command.ts"
import { createLog } from "../process/log.ts"
import type { Config } from "../settings/config.ts"

/** How long responses in flight may take after a stop was requested. */
const GRACE_MS = 5000

export interface Serving {
  readonly config: Pick<Config, "host" | "port" | "publicUrl" | "drainSeconds">
  readonly stopping: AbortSignal
  /** Timeouts for slow requests, if not the default. */
  readonly patience?: RequestPatience
}

/** Serves until a stop is requested, then shuts down in order. Returns the error if that is why it stopped. */
export async function serveUntilStopped(server: ComposedServer, serving: Serving): Promise<Error | undefined> {
  const { broken } = server.store.engine
  const stopping = AbortSignal.any([serving.stopping, broken])
  const running = await startServer(server, await listen(server, serving))
  try {
    process.stdout.write(`${await welcome(server, serving.config, running)}${serveText.listening(running.url)}`)
  } catch (error) {
    await running.close(0)
    throw error
  }
  if (!stopping.aborted) await once(stopping, "abort")
  // A load balancer polls. Until it has noticed the stop it sends requests here, which are served as before.
  const { drainSeconds } = serving.config
  server.drain()
  if (drainSeconds > 0) await sleep(server.clock, drainSeconds * 1000, broken)
  if (broken.aborted) server.log.error("store_broken", { error: broken.reason })
  await running.close(GRACE_MS)
  return broken.aborted ? (broken.reason as Error) : undefined
}

/**
 * Prints how to sign in. The person who starts an embedded server owns it and gets a new link each time. A server on a
 * shared database has no owner at its keyboard, and its output is often stored.
 */
async function welcome(
  { store }: ComposedServer,
  config: Serving["config"],
  { url }: Pick<Listening, "url">,
): Promise<string> {
  if (store.engine.name !== "sqlite") {
    return (await store.people.hasTokens()) ? "" : serveText.noTokens
  }
  const owner = await store.people.ensure(userName(), store.clock.now())
  const secret = await store.sessions.createLink(owner, [...defaultScopes, "admin"], store.clock.now())
  return serveText.signIn(toLink(baseUrl(config, url), secret))
}

async function listen(server: ComposedServer, { config, patience }: Serving): Promise<Listening> {
  const { host, port } = config
  try {
    return await listenOn(server, port, patience)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") throw new CommandError(serveText.portInUse(port))
    throw new CommandError(serveText.cannotListen(host, port, failureReason(error)))
  }
}

/** The server of this configuration, with its page and a log without secrets. */
export async function openServer(config: Config): Promise<ComposedServer> {
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  const isOfTerminal = (id: string) => foldersIn(config.dataFolder).has(id)
  return composeServer(config, { log, recent, isOfTerminal, adapters, ports: openBuiltFiles() })
}
