import { InProcessBus, observed } from "../bus/in-process.ts"
import { fileContents, openPdfReader } from "../compose/file-contents.ts"
import { openEngine, DEFAULT_LIMITS } from "../compose/open-engine.ts"
import { budgetOf } from "../compose/settings.ts"
import manifest from "../package.json" with { type: "json" }
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import { observedModels, RunMeter } from "../server/metrics/run-meter.ts"
import { createServerMetrics, type ServerMetrics } from "../server/metrics/server-metrics.ts"
import { NO_SUMMARIES } from "../engine/ask/shorten-history.ts"
import type { UserId } from "../protocol/ids.ts"
import { check } from "../server/request/read-input.ts"
import { Devices } from "../server/socket/devices.ts"
import { type Log, silentLog } from "../shared/log.ts"
import type { Clock } from "../shared/time/clock.ts"
import { ApprovalSigner } from "../store/people/approval-signer.ts"
import type { Store } from "../store/store.ts"
import type { Telemetry } from "../telemetry/open-telemetry.ts"
import type { MortalStore } from "../testing/crashing-store.ts"
import { openLibraryPacks } from "./packs.ts"
import { type Agent, type Pack, toInternalAgents } from "./agent.ts"
import { OptionsSchema } from "./option-schemas.ts"
import { type Models, openModels } from "./models.ts"
import { createAsk } from "./ask-user.ts"
import { SUB_AGENTS, openSubAgents } from "./sub-agents.ts"
import type { CallContext, ExtendContext } from "./tool.ts"
import { type McpServerOptions, type McpServers, openMcp, openMcpServers } from "./mcp.ts"
import { handoffsAmong, subAgentsIn } from "./agent-tool.ts"
import { openLibraryStore, type StoreSettings } from "./store-settings.ts"
import { type Parts, refuseClosed } from "./parts.ts"
import { findUser, openPeople, openTokens, type People, type Tokens } from "./people.ts"
import { openPerson, type Person } from "./person.ts"
import type { HttpOptions, ListeningServer, ListenOptions, openFetch } from "./serve.ts"

/** Options of `openPawl`: the models, the agents, the store and the limits. */
export interface PawlOptions {
  /** The models: provider settings, one language model of the AI SDK, or several models by name. */
  readonly models: Models
  /** The agents. The first is the default. Without agents, the model answers without tools. */
  readonly agents?: readonly Agent[]
  /** The location of the data: a file or `postgres://…`. Default: `pawl.db` in the working folder. */
  readonly store?: string | StoreSettings
  readonly limits?: Limits
  /** Default reply settings. Settings of the agent, the conversation or the message take precedence. */
  readonly settings?: ReplySettings
  /** The time zone for users whose zone is unknown. Default: the zone of this machine. */
  readonly timeZone?: string
  readonly log?: Log
  /** The source of time. Tests pass `testClock()`. Default: the clock of the database or of this machine. */
  readonly clock?: Clock
  /** Exports runs as OpenTelemetry traces. Default: off. */
  readonly traces?: Traces
  /** How `fetch` and `listen` serve this instance. */
  readonly http?: HttpOptions
  /** Packs, which add agents, tables and routes. Their agents follow those of `agents`. */
  readonly packs?: readonly Pack[]
  /** A model that writes titles of conversations. Default: conversations keep the title that they start with. */
  readonly titleModel?: string
  /**
   * A model that summarizes long conversations. Default: the conversation's own. `none`: no summaries; the oldest messages
   * are left out.
   */
  readonly summaryModel?: string
  /** MCP servers whose tools agents can use. */
  readonly mcp?: readonly McpServerOptions[]
}

/** Limits on the time, length and cost of runs, and on how long a change waits for approval. */
export interface Limits {
  /** How many seconds a run may work, without the time it waits for people. Default: 1800. */
  readonly runSeconds?: number
  /** The most characters in one reply. */
  readonly replyCharacters?: number
  /** How many minutes a proposal waits for a decision. Default: 10,080 (one week). */
  readonly proposalMinutes?: number
  /** The most that model calls may cost per day and per run with its sub-agents, in US dollars. A call that could exceed it is not sent. */
  readonly dailyUsd?: number
  readonly runUsd?: number
}

/** An open instance of Pawl. Its methods act as the owner; use `as` to act as another user. */
export interface Pawl extends Person, AsyncDisposable {
  /**
   * Returns the same methods for one user, who has access to their own data only. Accepts a user name, or the id that
   * tools receive as `context.user`. The first call throws `person_unknown` if there is no such user; `people.create`
   * creates one.
   */
  as(nameOrId: string): Person
  /** The users: create, find, list and erase them. */
  readonly people: People
  /** Tokens for programs that send requests to `fetch` or `listen`. */
  readonly tokens: Tokens
  /** The MCP servers of the options. */
  readonly mcp: McpServers
  /**
   * Answers an HTTP request, so that a web framework can serve Pawl's routes: the API, `/ai-sdk`, `/ag-ui`, `/v1` and
   * `/mcp`. See `http` in the options. The page and WebSocket need `listen`.
   */
  fetch(request: Request): Promise<Response>
  /** Starts an HTTP server with the page over this instance. It stops when the instance closes. */
  listen(options: ListenOptions): Promise<ListeningServer>
  /** Stops active runs at a safe point. The next process that opens the store continues them. */
  close(): Promise<void>
}

/** The user that is used if no user is named. */
const OWNER = "owner"

/**
 * Opens the store, resumes runs that a previous process left unfinished, and returns the instance.
 *
 * @example
 * await using pawl = await openPawl({ store: ":memory:", models: scripted(says("Hello.")) })
 * const answer = await pawl.ask("Hi.")
 * console.log(answer.status, answer.text) // answered Hello.
 */
export async function openPawl(options: PawlOptions): Promise<Pawl> {
  check(OptionsSchema, options)
  const { timeZone, limits = {}, settings, traces, http = {} } = options
  const { dailyUsd, runUsd, runSeconds = DEFAULT_LIMITS.runSeconds } = limits
  const all = [...(options.agents ?? []), ...subAgentsIn(options.agents ?? [])]
  const opened = Promise.withResolvers<Parts>()
  const extend: ExtendContext = async (context, tool) => {
    const parts = await opened.promise
    return Object.create(context, {
      person: { get: () => openPerson(parts, () => findUser(parts, context.user)) },
      ask: { value: createAsk(context, tool) },
      [SUB_AGENTS]: { get: () => openSubAgents(parts, context) },
    }) as CallContext
  }
  const isOfPacks = options.agents === undefined && options.packs !== undefined && options.packs.length > 0
  const own = isOfPacks ? [] : toInternalAgents(options.agents && all, extend, (agent) => handoffsAmong(all, agent))
  const { models, secrets } = openModels(options.models)
  await using opening = new AsyncDisposableStack()
  opening.defer(() => models.close?.())
  const { titleModel, summaryModel } = options
  const anyone = "user_" as UserId // a program's models are everyone's
  for (const name of [titleModel, summaryModel])
    if (name !== undefined && name !== NO_SUMMARIES) await models.get(name, anyone)
  const store = opening.use(await openLibraryStore(options.store, options.clock))
  const packs = options.packs?.length
    ? opening.use(
        await openLibraryPacks(options.packs, {
          ...{ store, agents: own, embedder: http.embedder },
          log: options.log ?? silentLog,
        }),
      )
    : undefined
  const agents = [...own, ...(packs?.agents ?? [])]
  // Counted from the start, so that a server that is opened later reports all requests.
  const metrics = createServerMetrics()
  const tools = new Set(agents.flatMap(({ tools: each }) => each.names))
  // Closed after the engine, to export its last spans, and before the store, from which they are read.
  const told = traces && (await openTraces(traces, { store, metrics, log: options.log ?? silentLog }))
  const telemetry = told && opening.use(told.telemetry)
  const log = told?.log ?? options.log
  const meter = new RunMeter({ metrics, log: log ?? silentLog, isTool: (name) => tools.has(name) })
  const mcp = options.mcp?.length
    ? opening.use(await openMcp(options.mcp, { agents, dataFolder: http.dataFolder, store, log: log ?? silentLog }))
    : undefined
  const crashing = crashingIn(options.store)
  const pdfs = opening.use(openPdfReader(log ?? silentLog))
  const metered = observed(new InProcessBus(), meter.onEvents)
  const engine = opening.use(
    await openEngine({
      store,
      agents,
      models: observedModels(models, metrics),
      bus: telemetry ? observed(metered, telemetry.onLive) : metered,
      observeJournal(stored) {
        const journal = crashing?.between(stored) ?? stored
        return telemetry?.observe(journal) ?? journal
      },
      secrets,
      joining: mcp,
      ...given({ titleModel, summaryModel }),
      // Files may be attached over a server. They must be readable without one, after a restart.
      files: fileContents(store.messageFiles, pdfs),
      limits: {
        ...given({ runSeconds: limits.runSeconds, replyCharacters: limits.replyCharacters }),
        runSetting: "limits.runSeconds",
      },
      policy: given({ proposalMinutes: limits.proposalMinutes }),
      ...budgetOf(store, { ...given({ dailyUsd, runUsd }), runSeconds, now: () => store.clock.now() }),
      ...(timeZone ? { timeZone } : {}),
      ...(settings ? { settings } : {}),
      ...(log ? { log } : {}),
    }),
  )
  opening.use(sweepFiles(store, log ?? silentLog))
  const closing = new AbortController()
  crashing?.death.addEventListener("abort", () => closing.abort()) // what waits for it would wait forever
  const parts: Parts = {
    store,
    runtime: engine.runtime,
    ports: engine.ports,
    models,
    devices: new Devices(store.clock, new ApprovalSigner(store.secrets)),
    metrics,
    storesTraces: telemetry !== undefined,
    hasSubAgents: all.some(({ tools = [] }) => tools.some((tool) => "agent" in tool && !("handsOffTo" in tool))),
    closing: closing.signal,
  }
  opened.resolve(parts)
  const owner = () => store.people.ensure(OWNER, store.clock.now())
  const open = opening.move()
  /** Servers that are still opening. Closing waits for them, because otherwise one of them would keep its port. */
  const listens = new Set<Promise<unknown>>()
  const closeAll = async () => {
    closing.abort()
    await Promise.allSettled(listens)
    await open.disposeAsync()
  }
  let closed: Promise<void> | undefined
  const close = () => (closed ??= closeAll())
  const served = { parts, engine, agents, http, mcp, packRoutes: packs?.routes }
  /** Opens a server over this instance. Its code is loaded now, so that a program that only asks does not pay for it. */
  const serve = <Opened extends { close(): Promise<void> }>(
    load: (serve: typeof import("./serve.ts")) => Promise<Opened>,
  ) => {
    const opened = (async () => {
      refuseClosed(parts)
      const server = await load(await import("./serve.ts"))
      open.defer(server.close)
      refuseClosed(parts) // it is closed with the rest
      return server
    })()
    listens.add(opened)
    return opened.finally(() => listens.delete(opened))
  }
  let fetching: ReturnType<typeof openFetch> | undefined
  return {
    ...openPerson(parts, owner),
    as: (nameOrId) => openPerson(parts, () => findUser(parts, nameOrId)),
    people: openPeople(parts),
    tokens: openTokens(parts),
    mcp: openMcpServers(parts, mcp, owner),
    async fetch(request) {
      fetching ??= serve((server) => server.openFetch(served))
      fetching.catch(() => (fetching = undefined)) // the next request tries again
      return (await fetching).fetch(request)
    },
    listen: async (options) => (await serve((server) => server.openListening(served, OWNER, options))).server,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** How often files that no message has used for a day are deleted. */
const SWEEP_MS = 10 * 60_000

function sweepFiles({ messageFiles }: Store, log: Log): AsyncDisposable {
  let sweeping: Promise<unknown> | undefined
  const sweep = () => {
    sweeping ??= messageFiles
      .sweep()
      .catch((error: unknown) => log.warn("files_not_swept", { error }))
      .finally(() => (sweeping = undefined))
  }
  const timer = setInterval(sweep, SWEEP_MS).unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await sweeping
    },
  }
}

/** Removes options that are undefined, because they would override the defaults. */
const given = <Options extends object>(
  options: Options,
): Partial<{ [Key in keyof Options]: NonNullable<Options[Key]> }> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never

/** The store is one of `pawl/testing` that crashes at a write. */
const crashingIn = (store: PawlOptions["store"]): MortalStore | undefined =>
  typeof store === "object" && "between" in store ? (store as MortalStore) : undefined

/** Exports runs as OpenTelemetry traces over OTLP/HTTP. Environment variables are ignored. */
export interface Traces {
  /** The collector, such as `http://127.0.0.1:4318`. `/v1/traces` is appended. */
  readonly endpoint: string
  /** Default: `http/protobuf`. */
  readonly protocol?: "http/protobuf" | "http/json"
  readonly headers?: Readonly<Record<string, string>>
  /** The `service.name` of this program. Default: `pawl`. */
  readonly serviceName?: string
  /** More resource attributes, such as `deployment.environment.name`. */
  readonly resource?: Readonly<Record<string, string>>
  /** The share of runs that is exported, from 0 to 1. Default: 1. */
  readonly share?: number
  /**
   * Exports the text of messages, replies and results as well. Everyone who can read the traces can then read the
   * conversations. Default: false.
   */
  readonly content?: boolean
}

const TIMEOUT_MS = 10_000

interface OpenedTraces {
  readonly telemetry: Telemetry
  /** The log, with the trace id in lines about a run. */
  readonly log: Log
}

/** Loads the exporter at the first use, so that programs without traces do not load it. */
async function openTraces(
  traces: Traces,
  { store, metrics, log }: { readonly store: Store; readonly metrics: ServerMetrics; readonly log: Log },
): Promise<OpenedTraces> {
  const { openTelemetry, tracedLog } = await import("../telemetry/open-telemetry.ts")
  const { endpoint, protocol = "http/protobuf", headers = {}, serviceName = "pawl", resource = {} } = traces
  const url = new URL(endpoint)
  url.pathname += url.pathname.endsWith("/") ? "v1/traces" : "/v1/traces"
  const telemetry = await openTelemetry(
    {
      ...{ url: url.href, protocol, headers, serviceName, resource, timeoutMs: TIMEOUT_MS },
      ...{ share: traces.share ?? 1, content: traces.content ?? false },
    },
    {
      ...{ journal: store.journal, clock: store.clock, log, version: manifest.version },
      count: (outcome, spans) => metrics.spans.add(spans, { outcome }),
    },
  )
  return { telemetry, log: tracedLog(log) }
}
