import { once } from "node:events"
import { sleep } from "../../agent/clock.ts"
import type { ComposedServer } from "../../compose/compose-server.ts"
import { listenOn, startServer } from "../../compose/start-server.ts"
import { usualScopes } from "../../protocol/account/scopes.ts"
import type { Listening, RequestPatience } from "../../server/listen.ts"
import { CommandError } from "../process/command.ts"
import { userName } from "../process/user-name.ts"
import type { Config } from "../settings/config.ts"
import { baseUrl, toLink } from "../../compose/server-url.ts"

/** How long answers under way may take once the server was told to stop. */
const GRACE_MS = 5000

export interface Serving {
  readonly config: Pick<Config, "host" | "port" | "publicUrl" | "drainSeconds">
  readonly stopping: AbortSignal
  /** For those who take long to say what they want, where not the usual. */
  readonly patience?: RequestPatience
}

/** Serves until it is told to stop, then puts everything down in good order. Returns what broke, if that is why it stopped. */
export async function serveUntilStopped(server: ComposedServer, serving: Serving): Promise<Error | undefined> {
  const { broken } = server.store.engine
  const stopping = AbortSignal.any([serving.stopping, broken])
  const running = await startServer(server, await listen(server, serving))
  try {
    process.stdout.write(`${await welcome(server, serving.config, running)}listening on ${running.url}\n`)
  } catch (error) {
    await running.close(0)
    throw error
  }
  if (!stopping.aborted) await once(stopping, "abort")
  // A balancer asks now and then. Until it has heard, it sends people here, and they are served as before.
  const { drainSeconds } = serving.config
  server.drain()
  if (drainSeconds > 0) await sleep(server.clock, drainSeconds * 1000, broken)
  if (broken.aborted) server.log.error("store_broken", { error: broken.reason })
  await running.close(GRACE_MS)
  return broken.aborted ? (broken.reason as Error) : undefined
}

/**
 * How to come in. Whoever starts an embedded server owns it, and gets a fresh link each time; a server that shares its
 * database with others has no owner at its keyboard, and its output is often kept.
 */
async function welcome(
  { store }: ComposedServer,
  config: Serving["config"],
  { url }: Pick<Listening, "url">,
): Promise<string> {
  if (store.engine.name !== "sqlite") {
    return (await store.people.hasTokens())
      ? ""
      : "Nobody has a token yet: npx pawl invite --user NAME lets somebody in.\n"
  }
  const owner = await store.people.ensure(userName(), store.clock.now())
  const secret = await store.sessions.createLink(owner, [...usualScopes, "admin"], store.clock.now())
  return `Sign in, once, within 15 minutes: ${toLink(baseUrl(config, url), secret)}\n`
}

async function listen(server: ComposedServer, { config, patience }: Serving): Promise<Listening> {
  const { host, port } = config
  try {
    return await listenOn(server, port, patience)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === "EADDRINUSE") {
      throw new CommandError(`Port ${port} is taken, perhaps by another Pawl. Choose one with --port, or 0 for any.`)
    }
    throw new CommandError(`Cannot listen on ${host}:${port}: ${message}.`)
  }
}
