import { join } from "node:path"
import manifest from "../package.json" with { type: "json" }
import { systemClock } from "../shared/time/clock.ts"
import type { Agent } from "../engine/definition/agent.ts"
import type { Model } from "../engine/model.ts"
import type { ModelSource } from "../engine/ports.ts"
import { observed } from "../bus/in-process.ts"
import { createEmbedder, noEmbedder } from "../models/embedders/create.ts"
import { proxiedFetch } from "../models/network/proxied-fetch.ts"
import { OutboundPolicy } from "../models/network/outbound-policy.ts"
import { WebClient } from "../models/network/web-client.ts"
import { PersonalProviders } from "../models/personal-providers.ts"
import { PersonalModels } from "../models/personal-models.ts"
import { analystPack } from "../../packs/analyst/pack.ts"
import { standardPacks, type StandardServices } from "../../packs/list.ts"
import { openPacks } from "../packs/open-packs.ts"
import { loadPacks } from "../packs/load-packs.ts"
import { researchPack } from "../../packs/research/pack.ts"
import { failure } from "../protocol/errors.ts"
import { toAbilities } from "../protocol/models/providers.ts"
import { createApp } from "../server/app.ts"
import type { ModelCatalogue } from "../server/conversation/ports.ts"
import { openJwt } from "../server/auth/jwt.ts"
import { Revocation } from "../server/auth/revocation.ts"
import { SharedLimits } from "../server/auth/rate-limits.ts"
import { observedModels, RunMeter } from "../server/metrics/run-meter.ts"
import { createServerMetrics } from "../server/metrics/server-metrics.ts"
import { Devices } from "../server/socket/devices.ts"
import { settleDoubt } from "../engine/gate/doubtful-calls.ts"
import { createSharedFiles } from "../store/files/shared-files.ts"
import { ClusterDevices } from "../server/socket/remote/cluster-devices.ts"
import { ApprovalSigner } from "../store/people/approval-signer.ts"
import { SqlLibrary } from "../store/library/library.ts"
import { PassageIndexer } from "../store/library/passage-indexer.ts"
import { indexNotes } from "../store/workspace/note-indexer.ts"
import { openLinks } from "./open-bus.ts"
import { budgetOf, isOnlyLocal, type ServerSettings } from "./settings.ts"
import { fileContents } from "./file-contents.ts"
import { filesOptions, secretsOfServer } from "./files-options.ts"
import { openEngine } from "./open-engine.ts"
import { Mcp } from "./open-mcp.ts"
import { openConfiguredStore } from "./open-store.ts"
import type { Replacements } from "./replacements.ts"
import { silentLog } from "../shared/log.ts"

export type ComposedServer = Awaited<ReturnType<typeof composeServer>>

/**
 * Builds a whole server in this process as a function of a request, without a port. Commands, programs that embed a server,
 * and tests all use it; each passes only what it replaces. What was opened is closed in reverse order, also if a later part
 * cannot be opened.
 */
export async function composeServer(settings: ServerSettings, replaced: Replacements = {}) {
  const thirdParty = await loadThirdPartyPacks(settings, replaced)
  await using opening = new AsyncDisposableStack()
  const base = await openBase({ settings, replaced, opening })
  const search = openSearch(base)
  const agents = await openAgents({ ...base, ...search }, thirdParty)
  const models = openModels({ ...base, ...agents })
  const engine = await openRuns({ ...base, ...search, ...agents, ...models })
  const server = await openApp({ ...base, ...search, ...agents, ...models, ...engine })

  const closing = opening.move()
  let closed: Promise<void> | undefined
  const close = () => (closed ??= closing.disposeAsync())
  const { log, clock, store, devices, links, metrics } = base
  const { bus, pawl } = engine
  const isDraining: AbortSignal = server.draining.signal // annotated, because the declaration of the inferred type cannot be emitted
  return {
    ...{ settings, clock, log, bus, store, pawl, runtime: pawl.runtime, devices, metrics, links },
    ...{ app: server.app, revocation: server.revocation, sharedLimits: server.sharedLimits },
    ...{ databases: agents.databases, library: agents.library, packs: agents.packs },
    ...{ models: models.models, personal: models.personal },
    /** Through the operator's proxies, if any. */
    fetch: base.outward.fetch,
    /** From now on load balancers should prefer other servers: `/readyz` reports it. */
    drain: () => server.draining.abort(),
    draining: isDraining,
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function loadThirdPartyPacks({ packs }: ServerSettings, { clock = systemClock }: Replacements) {
  return loadPacks(packs, { folder: process.cwd(), clock, usedNames: standardPacks.map(({ name }) => name) })
}

interface Opening {
  readonly settings: ServerSettings
  readonly replaced: Replacements
  readonly opening: AsyncDisposableStack
}

type Base = Awaited<ReturnType<typeof openBase>>

/** The parts that everything else needs: metrics, log, store, clock, devices, and the connections to other nodes. */
async function openBase({ settings, replaced, opening }: Opening) {
  const { metrics = createServerMetrics() } = replaced
  const tracing = settings.telemetry ? await import("../telemetry/open-telemetry.ts") : undefined
  const log = tracing ? tracing.tracedLog(replaced.log ?? silentLog) : (replaced.log ?? silentLog)
  const clocks = { clock: replaced.clock, machineClock: replaced.machineClock }
  const { filesFolder, personBytes } = settings
  const own = { ...clocks, log, filesFolder, personBytes }
  const store = replaced.store ?? opening.use(await openConfiguredStore(settings, own))
  const clock = replaced.clock ?? store.clock
  const devices = replaced.devices ?? new Devices(clock, new ApprovalSigner(store.secrets))
  const links = opening.use(openLinks(settings, store, { clock, log }))
  // If no other process can have the database open, all devices are here. If two servers share the devices, only one represents
  // them to other nodes.
  if (!store.engine.exclusive && !devices.isJoined) {
    const messages = replaced.messages?.(links.messages) ?? links.messages
    opening.use(new ClusterDevices({ devices, presence: store.devicePresence, messages, clock, log }))
  }
  const reach = replaced.reach ?? new OutboundPolicy(settings.privateHosts)
  // Requests to the operator's own addresses go through the operator's proxies.
  const outward = settings.proxy ? { fetch: proxiedFetch(settings.proxy) } : {}
  const secrets = secretsOfServer(settings)
  return { settings, replaced, opening, metrics, tracing, log, store, clock, devices, links, reach, outward, secrets }
}

/** Embeddings of notes and documents, and the indexers that keep them up to date. */
function openSearch({ settings, replaced, opening, store, clock, log, outward }: Base) {
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
  return { embedder, libraryRecords }
}

type Agents = Awaited<ReturnType<typeof openAgents>>
type Search = ReturnType<typeof openSearch>

/** The packs with their agents, and the tools of MCP servers. */
async function openAgents(
  { settings, replaced, opening, store, clock, log, devices, reach, secrets, embedder, libraryRecords }: Base & Search,
  thirdParty: Awaited<ReturnType<typeof loadThirdPartyPacks>>,
) {
  const { connections, results, attempts, workspaceOf, taintedRows } = store
  const { sqliteRoot, superuserConnections, webSearch } = settings
  const packs = opening.use(
    await openPacks<StandardServices>([...standardPacks, ...thirdParty], {
      ...{ clock, log, devices, embedder, workspaceOf, taintedRows },
      ...{ connections, results, attempts, hosts: reach, sqliteRoot, superuserConnections },
      queryLimits: replaced.queryLimits,
      sharedFiles: createSharedFiles(store, { folder: join(settings.dataFolder, "file-cache"), clock }),
      ...{ libraryRecords, web: new WebClient(reach), webSearch, openTables: store.openPackTables },
      files: replaced.folder && { ...filesOptions(settings, replaced.folder, secrets), buffers: replaced.buffers },
    }),
  )
  const agents = replaced.agents?.(packs.agents) ?? packs.agents
  const mcp =
    replaced.mcp ??
    opening.use(
      new Mcp(settings, {
        ...{ pins: store.mcpPins, records: store.ownMcpServers, agents: agents.map(({ name }) => name) },
        signIns: store.mcpSignIns,
        ...{ reach, clock, log, messageFiles: store.messageFiles },
      }),
    )
  const { databases } = packs.of(analystPack)
  const { library } = packs.of(researchPack)
  return { packs, agents, mcp, databases, library }
}

/** The models of the settings and of people's own keys. */
function openModels({ settings, replaced, opening, store, reach, outward, agents }: Base & Agents) {
  const { offlineModel, sharedKeys } = settings
  const isLocal = isOnlyLocal(settings)
  const personal = opening.use(
    new PersonalModels(settings.models, {
      ...{ keys: store.providerKeys, sharedKeys, reach, isOnlyLocal: isLocal },
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
  const providers = new PersonalProviders({ models: personal, keys: store.providerKeys, reach, isOnlyLocal: isLocal })
  return { models, personal, providers }
}

type Models = ReturnType<typeof openModels>

/** The engine, with everything that observes its events: metrics, telemetry, and the caller. */
async function openRuns(parts: Base & Search & Agents & Models) {
  const { settings, replaced, opening, store, clock, log, metrics, tracing, links, devices, agents, mcp } = parts
  const toolNames = new Set(agents.flatMap(({ tools }) => tools.names))
  const meter = new RunMeter({ metrics, log, isTool: (name) => toolNames.has(name) })
  // An engine that was passed in is metered by its owner.
  const ownBus = replaced.pawl?.ports.bus ?? replaced.bus ?? links.bus
  const metered = replaced.pawl ? ownBus : observed(ownBus, meter.onEvents)
  // Closed after the engine, so that its last events are exported, and before the store, which they are read from.
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
  const bus = replaced.onLive ? observed(traced, replaced.onLive) : traced
  const { policy, limits, fallback, titleModel } = settings
  const pawl =
    replaced.pawl ??
    opening.use(
      await openEngine({
        ...{ store, agents, models: observedModels(parts.models, metrics), bus, clock, log, secrets: parts.secrets },
        ...{ policy, limits, fallback, joining: mcp, isOfTerminal: replaced.isOfTerminal },
        library: parts.libraryRecords,
        observeJournal: telemetry && ((journal) => telemetry.observe(journal)),
        summaryModel: settings.summaryModel,
        settings: settings.reply,
        ...(titleModel ? { titleModel } : {}),
        ...budgetOf(store, { ...settings.ceilings, runSeconds: limits.runSeconds, now: () => clock.now() }),
        files: fileContents(store.messageFiles, parts.library),
        recovers: false, // `startServer` recovers runs, or the caller that knows which conversations are its own
      }),
    )
  devices.onLateResult = (id, callId) =>
    void settleDoubt(pawl.ports, id, callId).catch((error: unknown) =>
      log.warn("target_query_failed", { conversation: id, call: callId, error }),
    )
  return { bus, pawl, telemetry }
}

type Runs = Awaited<ReturnType<typeof openRuns>>

/** Authentication, revocation, limits, and the routes. */
async function openApp(parts: Base & Search & Agents & Models & Runs) {
  const { settings, replaced, opening, store, clock, log, metrics, devices, links, outward, packs, pawl } = parts
  const { runtime, ports } = pawl
  const { mostStreams } = replaced
  const revocation = opening.adopt(
    new Revocation({
      ...{ credentials: store.credentials, runtime, clock, log },
      devices: { check: () => devices.applyReassignments(store.deviceOwners) },
      others: { revoked: () => ports.bus.spreadRevoked() },
      ...(mostStreams ? { most: mostStreams } : {}),
    }),
    (each) => {
      each.closeAll()
      each[Symbol.dispose]()
    },
  )
  opening.defer(ports.bus.onRevoked(() => void revocation.checkNow()))
  const draining = new AbortController()
  const { host, publicUrl, allowedOrigins, trustedProxies, requestsPerMinute, threadPaths, bytesOfFiles } = settings
  const buckets = store.buckets.shared && requestsPerMinute > 0 ? store.buckets : undefined
  const sharedLimits = buckets && opening.use(new SharedLimits({ requestsPerMinute, buckets, clock, log }))
  const { models, providers, embedder, databases, library, libraryRecords } = parts
  const app = createApp({
    ...store,
    ...{ runtime, clock, log, bus: ports.bus, agents: ports.agents, policy: ports.policy, cache: ports.cache },
    ...{ answerSchema: ports.answerSchema, fallback: settings.fallback, ingests: libraryRecords.ingests },
    ...{ models, providers, devices, embedder, databases, library, metrics, streams: revocation },
    ...{ packRoutes: packs.routes, mcpServers: parts.mcp.servers, adapters: replaced.adapters ?? [] },
    ...{ requestsPerMinute, threadPaths, bytesOfFiles, version: manifest.version },
    storesTraces: parts.telemetry !== undefined || replaced.storesTraces === true,
    address: { host, ...(publicUrl ? { publicUrl } : {}), allowedOrigins, trustedProxies },
    ...(sharedLimits ? { limits: sharedLimits.limits } : {}),
    ...(settings.jwt ? { jwt: await openJwt(settings.jwt, clock, outward.fetch) } : {}),
    ...(settings.oidc ? { issuer: (await issuers()).openIssuer(settings.oidc, { clock, log, ...outward }) } : {}),
    broken: store.engine.broken,
    nodeWork: () => ({
      leases: store.journal.held,
      takeovers: runtime.takeovers,
      pollAgeMs: pawl.otherNodes?.ageMs,
      busLag: links.lag(),
    }),
    async ready() {
      store.engine.broken.throwIfAborted()
      if (draining.signal.aborted) throw failure("draining")
      return { ...(await store.readiness.check()), bus: links.state() }
    },
    ...(typeof replaced.ports === "function" ? replaced.ports(store) : replaced.ports),
  })
  return { app, revocation, draining, sharedLimits }
}

/** A registry with one model. */
function oneModel(model: Model): ModelSource & ModelCatalogue {
  const { name, provider, contextTokens } = model
  return {
    async get(wanted) {
      if (wanted === null || wanted === name) return model
      throw failure("unknown_model", { name: wanted.slice(0, 100), choices: name })
    },
    list: async () => [
      {
        ...{ name, provider, contextTokens, aliases: [], available: true, need: null },
        ...{ features: ["tools"], can: toAbilities(["tools"]) },
      },
    ],
    defaultName: async () => name,
  }
}

/** The tools that a model may call, with their example requests. */
const examplesOf = (agents: readonly Agent[]) =>
  agents.flatMap(({ tools }) => tools.visibleIn("auto").map(({ name, examples = [] }) => ({ name, examples })))

/** Loaded only if configured: few servers have an issuer. */
const issuers = () => import("../server/routes/account/oidc/issuer.ts")
