import { existsSync, readFileSync } from "node:fs"
import { homedir, userInfo } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../agent/clock.ts"
import type { Log } from "../../agent/ports.ts"
import { InProcessBus } from "../../bus/in-process.ts"
import { observed } from "../../bus/observed.ts"
import { openPawl, type Pawl } from "../../main.ts"
import { createEmbedder } from "../../models/embedders/create.ts"
import { LocalEmbedder } from "../../models/embedders/local.ts"
import { OwnProviders } from "../../models/own-providers.ts"
import { proxiedFetch } from "../../models/network/proxied-fetch.ts"
import { PersonalModels } from "../../models/personal-models.ts"
import { WebClient } from "../../models/network/web-client.ts"
import { OutboundPolicy } from "../../models/network/reach.ts"
import type { RecentSecrets } from "../../models/providers/recent-secrets.ts"
import type { Embedder } from "../../protocol/ports/workspace.ts"
import type { Librarian } from "../../packs/research/librarian.ts"
import { analystPack } from "../../packs/analyst/pack.ts"
import { housePacks } from "../../packs/list.ts"
import { loadPacks } from "../../packs/outside/load.ts"
import { openPacks, type OpenedPacks } from "../../packs/open-packs.ts"
import { researchPack } from "../../packs/research/pack.ts"
import type { UserDatabases } from "../../packs/analyst/user-databases.ts"
import type { FilesOptions } from "../../packs/files/agent.ts"
import type { Folder } from "../../packs/files/folder/folder.ts"
import { KeptInFolder } from "../../packs/files/folder/kept-bytes.ts"
import { findSandbox, hiddenPlaces } from "../../packs/files/sandbox/sandbox.ts"
import { Devices } from "../../server/socket/devices.ts"
import { SqlBudget } from "../../store/journal/budget.ts"
import { givenKeys, type MasterKeys } from "../../store/people/master-keys.ts"
import { KeyFile } from "../../store/people/key-file.ts"
import { observedModels } from "../../server/metrics/observed-models.ts"
import { RunMeter } from "../../server/metrics/run-meter.ts"
import type { ServerMetrics } from "../../server/metrics/server-metrics.ts"
import { SqlLibrary } from "../../store/library/library.ts"
import { indexNotes } from "../../store/workspace/note-indexer.ts"
import { PassageIndexer } from "../../store/library/passage-indexer.ts"
import { openStore, type Store } from "../../store/store.ts"
import { CommandError } from "../process/command.ts"
import type { Config } from "../settings/config.ts"
import { makeDataFolder, reasonOf } from "../settings/data-folder.ts"

export interface Opened extends Pawl {
  readonly models: PersonalModels
  readonly devices: Devices
  readonly providers: OwnProviders
  readonly embedder: Embedder
  readonly databases: UserDatabases
  readonly library: Librarian
  readonly packs: Pick<OpenedPacks, "names" | "routes">
}

export interface Watching {
  /** Gets every key that people bring, so that none is logged. */
  readonly recent?: RecentSecrets
  readonly metrics?: ServerMetrics
  /** Hears all that happens, of whichever conversation. */
  readonly hear?: Parameters<typeof observed>[1]
  /** A folder of this machine to work in: with it there is the agent `files`. */
  readonly folder?: Folder
}

/** Everything the settings ask for, in this process: store, agents, models and the runtime. */
export async function openFromConfig(
  config: Config,
  log: Log,
  { recent, metrics, hear, folder }: Watching = {},
): Promise<Opened> {
  const taken = housePacks.map(({ name }) => name)
  const outside = await loadPacks(config.packs, { folder: process.cwd(), clock: systemClock, taken })
  // In reverse at the end, and also where something cannot be opened half-way: a store that is left open keeps the process.
  await using opening = new AsyncDisposableStack()
  const store = opening.use(await openConfiguredStore(config, log))
  const secrets = secretsOfServer(config)
  const devices = new Devices(systemClock)
  const outward = config.proxy ? { fetch: proxiedFetch(config.proxy) } : {}
  const embedder = createEmbedder(config.models, { sharedKeys: config.sharedKeys, log, ...outward })
  opening.defer(async () => embedder.close?.())
  const notes = indexNotes({ workspaces: store.workspaces, embedder, clock: systemClock, log })
  opening.defer(() => notes.close())
  const records = new SqlLibrary(store.engine, { clock: systemClock, embedder: embedder.name })
  const passages = new PassageIndexer({ library: records, embedder, clock: systemClock, log })
  opening.defer(() => passages.close())
  // What people say is sent nowhere only to choose tools: for that there is a local one, whatever notes are found by.
  const localEmbedder = embedder instanceof LocalEmbedder ? embedder : new LocalEmbedder({ log })
  opening.defer(() => localEmbedder.close())
  const reach = new OutboundPolicy(config.privateHosts)
  const { connections, results, attempts } = store
  const { sqliteRoot, superuserConnections, webSearch } = config
  const services = {
    ...{ clock: systemClock, log, devices, embedder, localEmbedder, workspaceOf: store.workspaceOf },
    ...{ connections, results, attempts, hosts: reach, sqliteRoot, superuserConnections },
    ...{ libraryRecords: records, web: new WebClient(reach), webSearch, openTables: store.openPackTables },
    files: folder && filesOptions(config, folder, secrets),
  }
  const packs = opening.use(await openPacks([...housePacks, ...outside], services))
  const { agents, phrases, interpreters, toolNames } = packs
  const { policy, limits, sharedKeys } = config
  const keys = store.providerKeys
  const common = { phrasesOf: () => phrases, interpretersOf: () => interpreters, keys, sharedKeys, reach, ...outward }
  const models = new PersonalModels(config.models, { ...common, ...(recent ? { recent } : {}) })
  const meter = metrics && new RunMeter({ metrics, log, isTool: (name) => toolNames.has(name) })
  const watched = meter && {
    bus: observed(new InProcessBus(), meter.hear),
    models: observedModels(models, metrics),
  }
  const heard = hear && { bus: observed(watched?.bus ?? new InProcessBus(), hear) }
  const ports = { policy, limits, log, secrets, ...budgetOf(store, config), ...watched, ...heard }
  const pawl = opening.use(await openPawl({ store, agents, models, recovers: false, ...ports }))
  const closing = opening.move()
  return {
    ...pawl,
    models,
    databases: packs.of(analystPack).databases,
    library: packs.of(researchPack).library,
    packs,
    devices,
    embedder,
    providers: new OwnProviders({ models, keys, reach }),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/**
 * What no tool tells: the operator's settings, and the key that was made for the data folder, which comes with the first
 * secret that needs it. Not what people bring: whoever brought common words as a key would take them out of what others are told.
 */
function secretsOfServer({ secrets, dataFolder }: Config): Iterable<string> {
  const file = join(dataFolder, "master.key")
  let keys: readonly string[] | undefined
  return {
    *[Symbol.iterator]() {
      yield* secrets
      keys ??= existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : undefined
      yield* keys ?? []
    },
  }
}

/** What the tools of a folder get on this machine. */
export function filesOptions(config: Config, folder: Folder, secrets: Iterable<string> = config.secrets): FilesOptions {
  const { commandEnvironment: environment, dataFolder } = config
  const home = environment.HOME || homedir()
  const sandbox = findSandbox({
    searchPath: environment.PATH ?? "",
    root: folder.root,
    id: folder.id,
    home,
    hidden: hiddenPlaces(home, dataFolder),
    homes: join(dataFolder, "sandboxes"),
  })
  return { folder, sandbox, environment, secrets, kept: new KeptInFolder(join(dataFolder, "kept")) }
}

/** Only where a ceiling is set: without one no call waits for the database to agree. */
function budgetOf({ engine }: Store, { ceilings, limits }: Config): { budget?: SqlBudget } {
  if (ceilings.dailyUsd === undefined && ceilings.runUsd === undefined) return {}
  // No call outlives its run, so what is set aside longer than that was left by a process that died.
  const holdSeconds = limits.runSeconds + HOLD_MARGIN_SECONDS
  return { budget: new SqlBudget(engine, { ...ceilings, now: () => systemClock.now(), holdSeconds }) }
}

const HOLD_MARGIN_SECONDS = 60

/** The store alone, for commands that run no conversation. */
export async function openConfiguredStore(config: Config, log?: Log): Promise<Store> {
  const { databaseUrl, dataFolder, durability } = config
  // What people say is nobody else's business, also not that of other users of this machine.
  if (databaseUrl.startsWith("file:")) makeDataFolder(dataFolder)
  try {
    const masterKeys = masterKeysOf(config)
    return await openStore({ url: databaseUrl, durability, masterKeys, ...(log ? { log } : {}) })
  } catch (error) {
    const where = databaseUrl.startsWith("file:") ? databaseUrl.slice("file:".length) : "DATABASE_URL"
    throw new CommandError(`The database (${where}) cannot be opened: ${reasonOf(error)}.`, { cause: error })
  }
}

/** The environment's keys, or the one in the data folder. */
export function masterKeysOf({ masterKey, previousMasterKey, dataFolder }: Config): MasterKeys | KeyFile {
  if (!masterKey) return new KeyFile(join(dataFolder, "master.key"))
  return givenKeys(masterKey, ...(previousMasterKey ? [previousMasterKey] : []))
}

/** Who sits at this machine. A container may run as a user that has no name. */
export function userName(): string {
  try {
    return userInfo().username || "owner"
  } catch {
    return "owner"
  }
}
