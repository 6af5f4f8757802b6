import { sleep } from "../shared/time/clock.ts"
import { DoubtfulCalls } from "../engine/gate/doubtful-calls.ts"
import { SHUTDOWN_GRACE_MS } from "../engine/gate/run-write.ts"
import { type Listening, listen, type RequestPatience } from "../server/listen.ts"
import { sweepErased } from "../server/routes/account/retention.ts"
import { Webhook } from "../server/webhook.ts"
import { codeOf } from "../protocol/errors.ts"
import type { Store } from "../store/store.ts"
import type { ComposedServer } from "./compose-server.ts"
import { SettingsError } from "./settings.ts"

/** How often the server searches for runs of failed processes. */
const SWEEP_MS = 2000
/** How often unfinished erasures are continued. */
const ERASE_MS = 60_000
/** How often files that were unreferenced for a day are deleted. */
const FILES_MS = 10 * 60_000
/** How often unused query results are deleted. */
const RESULTS_MS = 60 * 60_000
/** How often due webhook deliveries are sent. */
const WEBHOOK_MS = 2000
/** How often the next partition of events is prepared: one lasts for millions of conversations. */
const PARTITION_MS = 60 * 60_000

/** Listens on a port. Rejects if the port is not available. */
export function listenOn(
  { app, draining, store, settings: { host, trustedProxies } }: ComposedServer,
  port: number,
  patience?: RequestPatience,
): Promise<Listening> {
  const oneOfSeveral = store.engine.manyMachines
  return listen(app.fetch, { host, port, trustedProxies, patience, draining, oneOfSeveral })
}

/**
 * Starts the work of a listening server: continues runs of failed processes, and starts the periodic jobs. If it fails, the
 * port is closed: without a store the server would look alive. Closing leaves work where the next start finds it; the server
 * itself must be closed separately.
 */
export async function startServer(server: ComposedServer, listening: Listening): Promise<Listening> {
  const { store, runtime, revocation, devices, clock } = server
  revocation.start()
  try {
    await requireSharedKey(store)
    await warnMissingFolder(server)
    await runtime.recover()
  } catch (error) {
    await listening.close(0)
    throw error
  }
  const stopping = new AbortController()
  const until = AbortSignal.any([stopping.signal, store.engine.broken])
  const sweeping = sweepUntil(server, until)
  return {
    url: listening.url,
    async close(graceMs) {
      server.drain()
      stopping.abort()
      store.engine.hurry() // an unresponsive database must not delay the shutdown
      // No new request is accepted; then the work stops where the next start finds it, which also ends waiting requests.
      const stopped = runtime.close()
      // Devices finish their current calls, also those of other nodes, and answer over their sockets.
      const timeIsUp = new AbortController()
      const patience = sleep(clock, Math.min(graceMs, SHUTDOWN_GRACE_MS), timeIsUp.signal)
      const answered = Promise.race([stopped.then(() => devices.answered()), patience])
      const closed = listening.close(graceMs, answered)
      await Promise.all([stopped, answered])
      timeIsUp.abort()
      revocation.closeAll() // open streams would delay the shutdown
      await Promise.all([closed, sweeping])
    },
  }
}

export const WRONG_KEY =
  "This server's master key differs from the one of the database (DATABASE_URL), so it cannot decrypt stored secrets. " +
  "Set MASTER_ENCRYPTION_KEY to the key of the other nodes of this database. If they do not set it, it is the line in `master.key` " +
  "of the data folder (PAWL_DATA) of the first one. While keys are rotated, set MASTER_ENCRYPTION_KEY_PREVIOUS too."

/** A SQLite file has its key next to it; nodes of a PostgreSQL may be configured with different keys. */
async function requireSharedKey({ engine, secrets }: Store): Promise<void> {
  if (engine.name !== "postgres") return
  try {
    await secrets.claim()
  } catch (error) {
    if (codeOf(error) !== "no_master_key") throw error
    throw new SettingsError(WRONG_KEY, { cause: error })
  }
}

/** Everything else works: requests for these files get the same error. */
async function warnMissingFolder({ store: { folderFiles }, log }: ComposedServer): Promise<void> {
  if (folderFiles.isNamed || !(await folderFiles.areAny())) return
  const problem =
    "attached files are in a folder that is not configured, so they cannot be read: set PAWL_FILES_FOLDER to it"
  log.warn("files_folder_not_named", { problem })
}

async function sweepUntil(server: ComposedServer, stopping: AbortSignal): Promise<void> {
  const { settings, store, runtime, databases, clock, log } = server
  const doubts = new DoubtfulCalls(server.pawl.ports)
  const repeat = async (ms: number, failed: string, work: () => Promise<unknown>) => {
    while (!stopping.aborted) {
      await work().catch((error: unknown) => log.warn(failed, { error }))
      await sleep(clock, ms, stopping)
    }
  }
  const fetch = server.fetch ? { fetch: server.fetch } : {}
  const { deliveries, retention } = store
  const webhook = settings.webhook && new Webhook({ ...settings.webhook, ...fetch }, { deliveries, clock, log })
  await Promise.all([
    repeat(SWEEP_MS, "sweep_failed", () => runtime.recover()),
    repeat(SWEEP_MS, "doubts_not_asked", () => doubts.askTargets(stopping)),
    ...(webhook ? [repeat(WEBHOOK_MS, "webhook_sweep_failed", () => webhook.sweep())] : []),
    repeat(PARTITION_MS, "partitions_not_added", () => store.addPartitions()),
    repeat(FILES_MS, "files_not_swept", () => store.messageFiles.sweep()),
    repeat(RESULTS_MS, "results_not_swept", () => store.results.sweep()),
    repeat(ERASE_MS, "erasure_failed", () => sweepErased({ retention, databases })),
  ])
}
