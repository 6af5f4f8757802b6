import { once } from "node:events"
import { findPackageJSON } from "node:module"
import { dirname, join } from "node:path"
import { DoubtfulCalls } from "../../agent/gate/doubtful-calls.ts"
import { sleep, systemClock } from "../../agent/clock.ts"
import type { Log } from "../../agent/ports.ts"
import { proxiedFetch } from "../../models/network/proxied-fetch.ts"
import { usualScopes } from "../../protocol/scopes.ts"
import { openJwt } from "../../server/door/jwt.ts"
import { type Listening, listen } from "../../server/listen.ts"
import { readPageFiles } from "../../server/routes/pages/page-files.ts"
import { sweepErased } from "../../server/routes/account/retention.ts"
import { Revocation } from "../../server/door/revocation.ts"
import type { ServerMetrics } from "../../server/metrics/server-metrics.ts"
import { Webhook } from "../../server/webhook.ts"
import type { Due } from "../../store/journal/deliveries.ts"
import type { Store } from "../../store/store.ts"
import { appOf } from "../open/app.ts"
import { CommandError } from "../process/command.ts"
import type { Config } from "../settings/config.ts"
import { baseUrl, toLink } from "../settings/server-url.ts"
import { type Opened, userName } from "../open/from-config.ts"

/** Where the built page is: in the same place of a checkout and of what is published, whichever file this code is in. */
const PAGE = join(dirname(findPackageJSON(import.meta.url) ?? import.meta.dirname), "dist", "web")
/** How often conversations are looked for that a dead process has left behind. */
const SWEEP_MS = 2000
/** How often what is left of people who were erased is looked for. */
const ERASE_MS = 60_000
/** How often it is looked whether somebody has to be told that a proposal waits. */
const TELL_MS = 2000
/** How long answers under way may take once the server was told to stop. */
const GRACE_MS = 5000

export interface Serving {
  readonly config: Config
  readonly log: Log
  readonly stopping: AbortSignal
  readonly metrics: ServerMetrics
}

/** Serves until it is told to stop, then puts everything down in good order. Returns what broke, if that is why it stopped. */
export async function serveUntilStopped(opened: Opened, serving: Serving): Promise<Error | undefined> {
  const { log } = serving
  const { broken } = opened.store.engine
  const stopping = AbortSignal.any([serving.stopping, broken])
  using revocation = new Revocation({
    credentials: opened.store.credentials,
    runtime: opened.runtime,
    devices: { look: () => opened.devices.look(opened.store.deviceOwners) },
  }).start()
  const listening = await listenOn(opened, { ...serving, stopping }, revocation)
  const hint = await begin(serving.config, opened, listening)
  const told = (event: string) => (error: unknown) => log.warn(event, { error })
  const erase = () => sweepErased({ retention: opened.store.retention, databases: opened.databases })
  const doubts = new DoubtfulCalls(opened.runtime.ports)
  const sweeping = Promise.all([
    repeat(SWEEP_MS, stopping, () => opened.runtime.recover().catch(told("sweep_failed"))),
    repeat(SWEEP_MS, stopping, () => doubts.askTargets(stopping).catch(told("doubts_not_asked"))),
    ...toldOf(opened.store, serving).map((webhook) => {
      return repeat(TELL_MS, stopping, () => webhook.sweep().catch(told("webhook_sweep_failed")))
    }),
    repeat(ERASE_MS, stopping, () => erase().catch(told("erasure_failed"))),
  ])
  process.stdout.write(`${hint}listening on ${listening.url}\n`)
  if (!stopping.aborted) await once(stopping, "abort")
  if (broken.aborted) log.error("store_broken", { error: broken.reason })
  // Nobody new comes in; then the work is put down where the next start finds it, which also ends the waiting answers.
  const closed = listening.close(GRACE_MS)
  await opened.runtime.close()
  revocation.endAll() // a watcher would hold up the end for as long as it is allowed to
  await Promise.all([closed, sweeping])
  return broken.aborted ? (broken.reason as Error) : undefined
}

/** A server that cannot begin gives its port back: listening on, without a store, it would pass for one that is alive. */
async function begin(config: Config, opened: Opened, listening: Listening): Promise<string> {
  try {
    const hint = await welcome(config, opened, listening)
    await opened.runtime.recover()
    return hint
  } catch (error) {
    await listening.close(0)
    throw error
  }
}

function toldOf({ deliveries }: Store, { config: { webhook, proxy }, log }: Serving): Webhook<Due>[] {
  return webhook ? [new Webhook({ ...webhook, ...outward(proxy) }, { deliveries, clock: systemClock, log })] : []
}

/** How the operator's own addresses are reached: through the operator's proxies, as the providers of models are. */
const outward = (proxy: Config["proxy"]): { fetch?: typeof globalThis.fetch } =>
  proxy ? { fetch: proxiedFetch(proxy) } : {}

/**
 * How to come in. Whoever starts an embedded server owns it, and gets a fresh link each time; a server that shares its
 * database with others has no owner at its keyboard, and its output is often kept.
 */
async function welcome(config: Config, { store }: Opened, { url }: Listening): Promise<string> {
  if (store.engine.name !== "sqlite") {
    return (await store.people.hasTokens())
      ? ""
      : "Nobody has a token yet: npx pawl invite --user NAME lets somebody in.\n"
  }
  const owner = await store.people.ensure(userName(), Date.now())
  const secret = await store.sessions.createLink(owner, [...usualScopes, "admin"], Date.now())
  return `Sign in, once, within 15 minutes: ${toLink(baseUrl(config, url), secret)}\n`
}

async function listenOn(
  opened: Opened,
  { config, stopping, metrics }: Serving,
  streams: Revocation,
): Promise<Listening> {
  const { host, port, trustedProxies } = config
  const jwt = config.jwt && (await openJwt(config.jwt, systemClock, outward(config.proxy).fetch))
  const page = await readPageFiles(PAGE)
  const app = appOf(opened, { config, stopping, metrics, streams, page, ...(jwt ? { jwt } : {}) })
  try {
    return await listen(app.fetch, { host, port, trustedProxies })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === "EADDRINUSE") {
      throw new CommandError(`Port ${port} is taken, perhaps by another Pawl. Choose one with --port, or 0 for any.`)
    }
    throw new CommandError(`Cannot listen on ${host}:${port}: ${message}.`)
  }
}

/** Does something at once and then again and again, for as long as the server runs. */
async function repeat(ms: number, stopping: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  while (!stopping.aborted) {
    await work()
    await sleep(systemClock, ms, stopping)
  }
}
