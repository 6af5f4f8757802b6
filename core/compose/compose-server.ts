import { join } from "node:path"
import manifest from "../package.json" with { type: "json" }
import { systemClock } from "../shared/time/clock.ts"
import type { Agent } from "../engine/definition/agent.ts"
import { observed } from "../bus/in-process.ts"
import { createEmbedder, noEmbedder } from "../models/embedders/create.ts"
import { proxiedFetch } from "../models/network/proxied-fetch.ts"
import { OutboundPolicy } from "../models/network/outbound-policy.ts"
import { WebClient } from "../models/network/web-client.ts"
import { PersonalProviders } from "../models/personal-providers.ts"
import { PersonalModels } from "../models/personal-models.ts"
import { analystPack } from "../../packs/analyst/pack.ts"
import { housePacks, type HouseServices } from "../../packs/list.ts"
import { openPacks } from "../packs/open-packs.ts"
import { loadPacks } from "../packs/outside/load.ts"
import { researchPack } from "../../packs/research/pack.ts"
import { failure } from "../protocol/errors.ts"
import { createApp } from "../server/app.ts"
import { openJwt } from "../server/auth/jwt.ts"
import { Revocation } from "../server/auth/revocation.ts"
import { SharedLimits } from "../server/auth/rate-limits.ts"
import { observedModels, RunMeter } from "../server/metrics/run-meter.ts"
import { createServerMetrics } from "../server/metrics/server-metrics.ts"
import { Devices } from "../server/socket/devices.ts"
import { settleDoubt } from "../engine/gate/doubtful-calls.ts"
import { sharedFilesOf } from "../store/files/shared-files.ts"
import { DevicesElsewhere } from "../server/socket/remote/remote-devices.ts"
import { ApprovalSigner } from "../store/people/approval-signer.ts"
import { SqlLibrary } from "../store/library/library.ts"
import { PassageIndexer } from "../store/library/passage-indexer.ts"
import { indexNotes } from "../store/workspace/note-indexer.ts"
import { openLinks } from "./open-bus.ts"
import { budgetOf, isOnlyLocal, type ServerSettings } from "./settings.ts"
import { fileContents } from "./file-contents.ts"
import { filesOptions, secretsOfServer } from "./files-options.ts"
import { oneModel } from "./one-model.ts"
import { openEngine } from "./open-engine.ts"
import { Mcp } from "./open-mcp.ts"
import { openConfiguredStore } from "./open-store.ts"
import type { Replaced } from "./replaced.ts"
import { silentLog } from "../shared/log.ts"

export type ComposedServer = Awaited<ReturnType<typeof composeServer>>

/**
 * A whole server in this process, as a function of a request: it has no port yet. The only place that puts one together,
 * for the commands, for programs that embed it and for tests; each says only what it replaces. What was opened is closed
 * in the opposite order, also where something in the middle cannot be opened.
 */
export async function composeServer(settings: ServerSettings, replaced: Replaced = {}) {
  const { metrics = createServerMetrics() } = replaced
  const tracing = settings.telemetry ? await import("../telemetry/open-telemetry.ts") : undefined
  const log = tracing ? tracing.tracedLog(replaced.log ?? silentLog) : (replaced.log ?? silentLog)
  const taken = housePacks.map(({ name }) => name)
  const loading = { folder: process.cwd(), clock: replaced.clock ?? systemClock, taken }
  const outside = await loadPacks(settings.packs, loading)
  await using opening = new AsyncDisposableStack()
  const clocks = { clock: replaced.clock, machineClock: replaced.machineClock }
  const { filesFolder, personBytes } = settings
  const own = { ...clocks, log, filesFolder, personBytes }
  const store = replaced.store ?? opening.use(await openConfiguredStore(settings, own))
  const clock = replaced.clock ?? store.clock
  const devices = replaced.devices ?? new Devices(clock, new ApprovalSigner(store.secrets))
  const links = opening.use(openLinks(settings, store, { clock, log }))
  // Where no other process can have the database open no device is anywhere but here. Of two servers over the same devices
  // one speaks for both: the other would say of each socket that it is not there.
  if (!store.engine.exclusive && !devices.isJoined) {
    const messages = replaced.messages?.(links.messages) ?? links.messages
    opening.use(new DevicesElsewhere({ devices, presence: store.devicePresence, messages, clock, log }))
  }
  const reach = replaced.reach ?? new OutboundPolicy(settings.privateHosts)
  const local = isOnlyLocal(settings)
  const secrets = secretsOfServer(settings)
  // How the operator's own addresses are reached: through the operator's proxies.
  const outward = settings.proxy ? { fetch: proxiedFetch(settings.proxy) } : {}

  const { sharedKeys } = settings
  const created = replaced.embedder
    ? undefined
    : createEmbedder(settings.models, { sharedKeys, log, local: settings.localEmbedder, ...outward })
  if (created) opening.defer(async () => created.close?.())
  const embedder = replaced.embedder ?? created ?? noEmbedder
  const libraryRecords = new SqlLibrary(store.engine, { clock, embedder: embedder.name })
  if (replaced.indexing !== "none" && embedder !== noEmbedder) {
    opening.adopt(indexNotes({ workspaces: store.workspaces, embedder, clock, log }), (each) => each.close())
    opening.adopt(new PassageIndexer({ library: libraryRecords, embedder, clock, log }), (each) => each.close())
  }

  const { connections, results, attempts, workspaceOf, taintedRows, providerKeys: keys } = store
  const { sqliteRoot, superuserConnections, webSearch } = settings
  const packs = opening.use(
    await openPacks<HouseServices>([...housePacks, ...outside], {
      ...{ clock, log, devices, embedder, workspaceOf, taintedRows },
      ...{ connections, results, attempts, hosts: reach, sqliteRoot, superuserConnections },
      queryLimits: replaced.queryLimits,
      sharedFiles: sharedFilesOf(store, { folder: join(settings.dataFolder, "file-cache"), clock }),
      ...{ libraryRecords, web: new WebClient(reach), webSearch, openTables: store.openPackTables },
      files: replaced.folder && { ...filesOptions(settings, replaced.folder, secrets), buffers: replaced.buffers },
    }),
  )
  const { routes: packRoutes } = packs
  const { offlineModel } = settings
  const agents = replaced.agents?.(packs.agents) ?? packs.agents
  const toolNames = new Set(agents.flatMap(({ tools }) => tools.names))

  const mcp = opening.use(
    new Mcp(settings, {
      ...{ pins: store.mcpPins, records: store.ownMcpServers, agents: agents.map(({ name }) => name) },
      signIns: store.mcpSignIns,
      ...{ reach, clock, log, messageFiles: store.messageFiles },
    }),
  )

  const personal = opening.use(
    new PersonalModels(settings.models, {
      ...{ keys, sharedKeys, reach, isOnlyLocal: local },
      offline: offlineModel && (() => offlineModel(examplesOf(agents))),
      localServers: settings.localModelServers,
      needsPrices: settings.ceilings.dailyUsd !== undefined || settings.ceilings.runUsd !== undefined,
      ...outward,
      ...replaced.providerCalls,
      ...(replaced.recent ? { recent: replaced.recent } : {}),
    }),
  )
  const registry = typeof replaced.models === "function" ? replaced.models(personal) : replaced.models
  const models = registry ?? (replaced.model ? oneModel(replaced.model) : personal)
  const meter = new RunMeter({ metrics, log, isTool: (name) => toolNames.has(name) })
  // An engine that is at work already is heard, and its models are observed, by whoever opened it.
  const heard = replaced.pawl?.ports.bus ?? replaced.bus ?? links.bus
  const metered = replaced.pawl ? heard : observed(heard, meter.hear)
  // Closed after the engine, so that its last words are told, and before the store, which they are read from.
  const telemetry =
    tracing && settings.telemetry && !replaced.pawl
      ? opening.use(
          await tracing.openTelemetry(settings.telemetry, {
            ...{ journal: store.journal, clock, log, version: manifest.version },
            count: (outcome, spans) => metrics.spans.add(spans, { outcome }),
          }),
        )
      : undefined
  const traced = telemetry ? observed(metered, telemetry.onLive) : metered
  const bus = replaced.hear ? observed(traced, replaced.hear) : traced
  const { policy, limits, fallback, titleModel } = settings
  const pawl =
    replaced.pawl ??
    opening.use(
      await openEngine({
        ...{
          store,
          agents,
          models: observedModels(models, metrics),
          bus,
          clock,
          log,
          secrets,
          policy,
          limits,
          fallback,
        },
        joining: mcp,
        isOfTerminal: replaced.isOfTerminal,
        library: libraryRecords,
        observeJournal: telemetry && ((journal) => telemetry.observe(journal)),
        summaryModel: settings.summaryModel,
        settings: settings.reply,
        ...(titleModel ? { titleModel } : {}),
        ...budgetOf(store, { ...settings.ceilings, runSeconds: limits.runSeconds, now: () => clock.now() }),
        files: fileContents(store.messageFiles, packs.of(researchPack).library),
        recovers: false, // `startServer` sees to that, or whoever knows which conversations are theirs
      }),
    )

  const { runtime, ports } = pawl
  const { databases } = packs.of(analystPack)
  const { library } = packs.of(researchPack)
  const { mostStreams: most } = replaced
  devices.onLateAnswer = (id, callId) =>
    void settleDoubt(ports, id, callId).catch((error: unknown) =>
      log.warn("target_query_failed", { conversation: id, call: callId, error }),
    )
  const lookAtDevices = { look: () => devices.look(store.deviceOwners) }
  const revocation = opening.adopt(
    new Revocation({
      credentials: store.credentials,
      runtime,
      clock,
      log,
      devices: lookAtDevices,
      others: { revoked: () => ports.bus.spreadRevoked() },
      ...(most ? { most } : {}),
    }),
    (each) => {
      each.endAll()
      each[Symbol.dispose]()
    },
  )
  opening.defer(ports.bus.onRevoked(() => void revocation.lookNow()))
  const draining = new AbortController()
  const isDraining: AbortSignal = draining.signal // its type written out, or no declaration can be made of it
  const { host, publicUrl, allowedOrigins, trustedProxies, requestsPerMinute, threadPaths } = settings
  const buckets = store.buckets.shared && requestsPerMinute > 0 ? store.buckets : undefined
  const sharedLimits = buckets && opening.use(new SharedLimits({ requestsPerMinute, buckets, clock, log }))
  const app = createApp({
    ...store,
    ...{
      runtime,
      clock,
      log,
      bus: ports.bus,
      answerSchema: ports.answerSchema,
      agents: ports.agents,
      policy: ports.policy,
      cache: ports.cache,
    },
    ingests: libraryRecords.ingests,
    ...{ models, fallback, devices, embedder, databases, library, metrics, packRoutes, streams: revocation },
    providers: new PersonalProviders({ models: personal, keys, reach, isOnlyLocal: local }),
    mcpServers: mcp.servers,
    keepsTraces: telemetry !== undefined || replaced.keepsTraces === true,
    address: { host, ...(publicUrl ? { publicUrl } : {}), allowedOrigins, trustedProxies },
    ...{
      adapters: replaced.adapters ?? [],
      requestsPerMinute,
      threadPaths,
      version: manifest.version,
      bytesOfFiles: settings.bytesOfFiles,
    },
    ...(sharedLimits ? { limits: sharedLimits.limits } : {}),
    ...(settings.jwt ? { jwt: await openJwt(settings.jwt, clock, outward.fetch) } : {}),
    ...(settings.oidc ? { issuer: (await issuers()).openIssuer(settings.oidc, { clock, log, ...outward }) } : {}),
    broken: store.engine.broken,
    nodeWork: () => ({
      leases: store.journal.held,
      takeovers: runtime.takeovers,
      lookAgeMs: pawl.elsewhere?.ageMs,
      busLag: links.lag(),
    }),
    async ready() {
      store.engine.broken.throwIfAborted()
      if (draining.signal.aborted) throw failure("draining")
      return { ...(await store.readiness.check()), bus: links.state() }
    },
    ...(typeof replaced.ports === "function" ? replaced.ports(store) : replaced.ports),
  })
  const closing = opening.move()
  let closed: Promise<void> | undefined
  const close = () => (closed ??= closing.disposeAsync())
  return {
    ...{
      settings,
      clock,
      log,
      bus,
      store,
      pawl,
      runtime,
      app,
      devices,
      revocation,
      databases,
      library,
      models,
      personal,
      metrics,
      packs,
      sharedLimits,
      links,
    },
    /** Where the operator has proxies, through them. */
    fetch: outward.fetch,
    /** From now on other servers are the better choice, and whoever asks whether this one is ready learns it. */
    drain: () => draining.abort(),
    draining: isDraining,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The tools that the model may call, with their example requests. */
const examplesOf = (agents: readonly Agent[]) =>
  agents.flatMap(({ tools }) => tools.visibleIn("auto").map(({ name, examples = [] }) => ({ name, examples })))

/** Loaded where there is one: hardly anybody has. */
const issuers = () => import("../server/routes/account/oidc/issuer.ts")
