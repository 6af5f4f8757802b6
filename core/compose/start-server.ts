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

/** How often conversations are looked for that a dead process has left behind. */
const SWEEP_MS = 2000
/** How often what is left of people who were erased is looked for. */
const ERASE_MS = 60_000
/** How often files are looked for that no message names: they have a day. */
const FILES_MS = 10 * 60_000
/** How often results of queries expire that were not used. */
const RESULTS_MS = 60 * 60_000
/** How often it is looked whether somebody has to be told that a proposal waits. */
const TELL_MS = 2000
/** How often it is looked whether the next range of events needs a part: one lasts for millions of conversations. */
const PARTITION_MS = 60 * 60_000

/** Gives a server its port. Rejects when that cannot be had. */
export function listenOn(
  { app, draining, store, settings: { host, trustedProxies } }: ComposedServer,
  port: number,
  patience?: RequestPatience,
): Promise<Listening> {
  const oneOfSeveral = store.engine.manyMachines
  return listen(app.fetch, { host, port, trustedProxies, patience, draining, oneOfSeveral })
}

/**
 * Sets a server to work that has its port: takes up what dead processes have left, and looks again and again for what
 * has to be done without anybody asking. Where it cannot begin the port is given back: listening on, without a store, it
 * would pass for a server that is alive. Closing puts the work down where the next start finds it; the server itself
 * stays to be closed.
 */
export async function startServer(server: ComposedServer, listening: Listening): Promise<Listening> {
  const { store, runtime, revocation, devices, clock } = server
  revocation.start()
  try {
    await demandOneKey(store)
    await missFolder(server)
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
      store.engine.hurry() // a database that has fallen silent must not keep a process that was told to end
      // No new request is accepted; then the work is left where the next start finds it, which also ends the waiting answers.
      const stopped = runtime.close()
      // Devices finish the calls that they carry out, also calls of other nodes, and answer over their sockets.
      const timeIsUp = new AbortController()
      const patience = sleep(clock, Math.min(graceMs, SHUTDOWN_GRACE_MS), timeIsUp.signal)
      const answered = Promise.race([stopped.then(() => devices.answered()), patience])
      const closed = listening.close(graceMs, answered)
      await Promise.all([stopped, answered])
      timeIsUp.abort()
      revocation.endAll() // a watcher would hold up the end for as long as it is allowed to
      await Promise.all([closed, sweeping])
    },
  }
}

export const WRONG_KEY =
  "This server's master key differs from the one of the database (DATABASE_URL), so it cannot decrypt stored secrets. " +
  "Set MASTER_ENCRYPTION_KEY to the key of the other nodes of this database. If they do not set it, it is the line in `master.key` " +
  "of the data folder (PAWL_DATA) of the first one. While keys are rotated, set MASTER_ENCRYPTION_KEY_PREVIOUS too."

/** A file and its key lie side by side; a PostgreSQL is shared by nodes that each may have been given another key. */
async function demandOneKey({ engine, secrets }: Store): Promise<void> {
  if (engine.name !== "postgres") return
  try {
    await secrets.claim()
  } catch (error) {
    if (codeOf(error) !== "no_master_key") throw error
    throw new SettingsError(WRONG_KEY, { cause: error })
  }
}

/** The rest works without it: whoever asks for one of these files is told the same. */
async function missFolder({ store: { folderFiles }, log }: ComposedServer): Promise<void> {
  if (folderFiles.isNamed || !(await folderFiles.areAny())) return
  const problem =
    "attached files are in a folder that is not configured, so they cannot be read: set PAWL_FILES_FOLDER to it"
  log.warn("files_folder_not_named", { problem })
}

async function sweepUntil(server: ComposedServer, stopping: AbortSignal): Promise<void> {
  const { settings, store, runtime, databases, clock, log } = server
  const doubts = new DoubtfulCalls(server.pawl.ports)
  const again = async (ms: number, failed: string, work: () => Promise<unknown>) => {
    while (!stopping.aborted) {
      await work().catch((error: unknown) => log.warn(failed, { error }))
      await sleep(clock, ms, stopping)
    }
  }
  const fetch = server.fetch ? { fetch: server.fetch } : {}
  const { deliveries, retention } = store
  const webhook = settings.webhook && new Webhook({ ...settings.webhook, ...fetch }, { deliveries, clock, log })
  await Promise.all([
    again(SWEEP_MS, "sweep_failed", () => runtime.recover()),
    again(SWEEP_MS, "doubts_not_asked", () => doubts.askTargets(stopping)),
    ...(webhook ? [again(TELL_MS, "webhook_sweep_failed", () => webhook.sweep())] : []),
    again(PARTITION_MS, "partitions_not_added", () => store.addPartitions()),
    again(FILES_MS, "files_not_swept", () => store.messageFiles.sweep()),
    again(RESULTS_MS, "results_not_swept", () => store.results.sweep()),
    again(ERASE_MS, "erasure_failed", () => sweepErased({ retention, databases })),
  ])
}
