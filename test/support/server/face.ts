import { randomUUID } from "node:crypto"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type AgentDefinition, defineAgent } from "../../../src/agent/agent.ts"
import { type Clock, systemClock } from "../../../src/agent/clock.ts"
import type { Model } from "../../../src/agent/model.ts"
import type { Log, Models, Policy } from "../../../src/agent/ports.ts"
import type { Tool } from "../../../src/agent/tool.ts"
import { openPawl, type Pawl } from "../../../src/main.ts"
import { OwnProviders } from "../../../src/models/own-providers.ts"
import { PersonalModels } from "../../../src/models/personal-models.ts"
import { OutboundPolicy } from "../../../src/models/network/reach.ts"
import { analystAgent } from "../../../src/packs/analyst/agent.ts"
import { askAnalyst } from "../../../src/packs/analyst/ask-analyst.ts"
import { askDatabase } from "../../../src/packs/analyst/ask-database.ts"
import { ChartCheck } from "../../../src/packs/analyst/charts/check.ts"
import { changeDatabase } from "../../../src/packs/analyst/change-database.ts"
import { openDatabases } from "../../../src/packs/analyst/open-databases.ts"
import type { UserDatabases } from "../../../src/packs/analyst/user-databases.ts"
import { workspaceAgent } from "../../../src/packs/workspace/agent.ts"
import { atSite } from "../../../src/packs/workspace/device/workspace.ts"
import { findableNotes } from "../../../src/packs/workspace/findable-notes.ts"
import { searchNotes } from "../../../src/packs/workspace/search-notes.ts"
import { Librarian } from "../../../src/packs/research/librarian.ts"
import type { Embedder } from "../../../src/protocol/ports/workspace.ts"
import { SqlLibrary } from "../../../src/store/library/library.ts"
import { PassageIndexer } from "../../../src/store/library/passage-indexer.ts"
import { indexNotes, type NoteIndexer } from "../../../src/store/workspace/note-indexer.ts"
import { WordEmbedder } from "../word-embedder.ts"
import { Devices } from "../../../src/server/socket/devices.ts"
import { failure } from "../../../src/protocol/errors.ts"
import type { Route } from "../../../src/protocol/routes/route.ts"
import { routes } from "../../../src/protocol/routes/index.ts"
import type { Scope } from "../../../src/protocol/scopes.ts"
import { InProcessBus } from "../../../src/bus/in-process.ts"
import { observed } from "../../../src/bus/observed.ts"
import { createApp } from "../../../src/server/app.ts"
import { observedModels } from "../../../src/server/metrics/observed-models.ts"
import { RunMeter } from "../../../src/server/metrics/run-meter.ts"
import { createServerMetrics } from "../../../src/server/metrics/server-metrics.ts"
import type { PackRoutes } from "../../../src/server/routes/packs/packs.ts"
import type { ServerPorts } from "../../../src/server/ports.ts"
import type { ModelCatalogue } from "../../../src/server/conversation/ports.ts"
import type { ServerAddress } from "../../../src/server/door/ports.ts"
import { type Ceilings, SqlBudget } from "../../../src/store/journal/budget.ts"
import { asMasterKey, givenKeys } from "../../../src/store/people/master-keys.ts"
import { Revocation } from "../../../src/server/door/revocation.ts"
import { openStore, type Store } from "../../../src/store/store.ts"

export interface FaceOptions {
  readonly url: string
  readonly model: Model
  /** In place of the one model: a registry over what people have stored. */
  readonly personal?: (store: Store) => PersonalModels
  readonly reach?: OutboundPolicy
  /** Keeps notes findable by meaning; without one, nothing is embedded unless a route is asked to. */
  readonly embedder?: Embedder
  /** Where SQLite files of people lie; without it they have none. */
  readonly sqliteRoot?: string
  readonly superuserConnections?: boolean
  readonly ceilings?: Ceilings
  /** Tools of a second agent, `test`. */
  readonly tools?: readonly Tool[]
  /** More about that agent. */
  readonly agent?: Partial<AgentDefinition>
  readonly clock?: Clock
  readonly policy?: Partial<Policy>
  readonly address?: Partial<ServerAddress>
  /** Looks every two seconds, as a server does, for what other processes have revoked. */
  readonly watching?: boolean
  /** How many streams may be open. */
  readonly mostStreams?: { readonly ofOne: number; readonly ofAll: number }
  /** Stands in for parts of what the server is given: where faults are put in. */
  readonly instead?: Partial<ServerPorts & PackRoutes>
}

export interface Reply {
  readonly status: number
  readonly type: string | null
  readonly text: string
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the server said; tests look into it freely
  readonly body: any
}

/** The same for every store, so that a second one on the same database opens what the first has sealed. */
const masterKeys = givenKeys(asMasterKey(Buffer.alloc(32, "face")))

type App = ReturnType<typeof createApp>

/** One for all of a file: to start it takes seconds, and it keeps nothing. */
const checker = new ChartCheck()
type Logged = Record<string, unknown>[]

interface FaceParts {
  readonly app: App
  readonly logged: Logged
  readonly informed: Logged
  readonly revocation: Revocation
  readonly devices: Devices
  readonly notes: NoteIndexer | undefined
  readonly passages: PassageIndexer | undefined
  readonly databases: UserDatabases
  /** A place of its own, gone with it. */
  readonly own: string
}

/** The whole server without a port: requests go in as objects, answers come out. */
export class Face implements AsyncDisposable {
  readonly pawl: Pawl
  readonly store: Store
  /** What the server has told its operator. */
  readonly logged: Logged
  /** What happened without anything being wrong. */
  readonly informed: Logged
  /** What has an answer open; a test registers and looks. */
  readonly revocation: Revocation
  readonly devices: Devices
  readonly #app: App
  readonly #notes: NoteIndexer | undefined
  readonly #passages: PassageIndexer | undefined
  readonly #own: string
  readonly databases: UserDatabases

  private constructor(pawl: Pawl, store: Store, parts: FaceParts) {
    const { app, logged, informed, revocation, devices, notes, passages, databases, own } = parts
    this.#own = own
    this.pawl = pawl
    this.store = store
    this.logged = logged
    this.informed = informed
    this.revocation = revocation
    this.devices = devices
    this.#app = app
    this.#notes = notes
    this.#passages = passages
    this.databases = databases
  }

  static async open({ url, model, tools = [], clock, policy, address, instead, ...more }: FaceOptions): Promise<Face> {
    const store = await openStore({ url, durability: "normal", masterKeys, ...(clock ? { clock } : {}) })
    const now = () => (clock ?? systemClock).now()
    const reach = more.reach ?? new OutboundPolicy()
    const personal = more.personal?.(store)
    const shown = personal ?? new PersonalModels({}, { keys: store.providerKeys, sharedKeys: true, reach })
    const logged: Logged = []
    const informed: Logged = []
    const metrics = createServerMetrics()
    const devices = new Devices(clock ?? systemClock)
    const log: Log = {
      info: (event, fields) => void informed.push({ event, ...fields }),
      warn: () => {},
      error: () => {},
    }
    const embedder = more.embedder ?? new WordEmbedder()
    const indexed = { workspaces: store.workspaces, embedder, clock: clock ?? systemClock, log }
    const notes = more.embedder ? indexNotes(indexed) : undefined
    const workspace = findableNotes(
      atSite(({ user }) => store.workspaceOf(user), devices),
      embedder,
    )
    const library = new SqlLibrary(store.engine, { clock: clock ?? systemClock, embedder: embedder.name })
    const passages = more.embedder
      ? new PassageIndexer({ library, embedder, clock: clock ?? systemClock, log })
      : undefined
    const meter = new RunMeter({ metrics, log, isTool: (name) => name !== "nonsense" })
    const note = (event: string, fields: Record<string, unknown>) => void logged.push({ event, ...fields })
    // Made when something is put there: a fixed place would be one that only root may make.
    const own = join(tmpdir(), `pawl-databases-${randomUUID()}`)
    const { sqliteRoot = own, superuserConnections = false } = more
    const settings = { sqliteRoot, superuserConnections }
    const common = { records: store.connections, clock: clock ?? systemClock, hosts: reach }
    const databases = openDatabases({ ...common, ...settings })
    const { results } = store
    const charts = askAnalyst({ results, checker, ask: askDatabase({ databases, results }) })
    const changes = changeDatabase({ databases, attempts: store.attempts })
    const pawl = await openPawl({
      recovers: false,
      store,
      agents: [
        workspaceAgent(workspace, { note: [searchNotes(workspace, embedder)] }),
        analystAgent({ databases, results, clock: clock ?? systemClock, extra: [charts, changes] }),
        defineAgent({ name: "test", description: "For tests.", instructions: "Be exact.", tools, ...more.agent }),
      ],
      models: observedModels(personal ?? only(model), metrics),
      log: { ...log, warn: note, error: note },
      bus: observed(new InProcessBus(), meter.hear),
      ...(more.ceilings ? { budget: new SqlBudget(store.engine, { ...more.ceilings, now }) } : {}),
      ...(clock ? { clock } : {}),
      ...(policy ? { policy } : {}),
    })
    const revocation = new Revocation({
      credentials: store.credentials,
      runtime: pawl.runtime,
      devices: { look: () => devices.look(store.deviceOwners) },
      ...(more.mostStreams ? { most: more.mostStreams } : {}),
    })
    if (more.watching) revocation.start()
    const app = createApp({
      ...store,
      metrics,
      devices,
      embedder,
      databases,
      library: new Librarian(library, embedder),
      streams: revocation,
      runtime: pawl.runtime,
      models: personal ?? listOf(model),
      providers: new OwnProviders({ models: shown, keys: store.providerKeys, reach }),
      address: { host: "127.0.0.1", ...address },
      version: "0.0.0",
      ready: () => store.readiness.check(),
      ...instead,
    })
    return new Face(pawl, store, { app, logged, informed, revocation, devices, notes, passages, databases, own })
  }

  /** Every address that is answered, as `GET /api/models`. */
  get addresses(): string[] {
    const { routes } = this.#app
    return routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`)
  }

  /** Someone with a token of these scopes. */
  async as(name: string, ...granted: Scope[]): Promise<Visitor> {
    const person = await this.store.people.ensure(name, Date.now())
    const scopes: Scope[] = granted.length > 0 ? granted : ["read", "chat", "approve", "manage"]
    const { token } = await this.store.people.createToken(person, scopes, Date.now())
    return new Visitor((request) => this.fetch(request), token)
  }

  /** `from`: the address that the request comes from, or all that a socket brings along, where that matters. */
  async fetch(request: Request, from?: string | object): Promise<Response> {
    const env = typeof from === "string" ? { incoming: { socket: { remoteAddress: from } } } : from
    const response = await this.#app.fetch(request, env as never)
    if (request.method !== "HEAD" && response.headers.get("content-type")?.startsWith("application/json")) {
      await keepsTheTreaty(request, response.clone())
    }
    return response
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.revocation[Symbol.dispose]()
    await this.pawl[Symbol.asyncDispose]()
    await this.databases[Symbol.asyncDispose]()
    await this.#notes?.close()
    await this.#passages?.close()
    await this.store[Symbol.asyncDispose]()
    await rm(this.#own, { recursive: true, force: true })
  }
}

/** Speaks HTTP with a token. */
export class Visitor {
  readonly #fetch: (request: Request) => Promise<Response>
  readonly #headers: Record<string, string>
  readonly #base: string

  constructor(fetch: (request: Request) => Promise<Response>, token: string | undefined, base = "http://localhost") {
    this.#fetch = fetch
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#base = base
  }

  get = (path: string, headers?: Record<string, string>) => this.ask("GET", path, { headers })
  post = (path: string, body?: unknown, headers?: Record<string, string>) => this.ask("POST", path, { body, headers })
  patch = (path: string, body: unknown) => this.ask("PATCH", path, { body })
  put = (path: string, body: unknown) => this.ask("PUT", path, { body })
  delete = (path: string) => this.ask("DELETE", path)

  /** A text is sent as it is, anything else as JSON. */
  async ask(
    method: string,
    path: string,
    sent: { body?: unknown; headers?: Record<string, string> | undefined } = {},
  ): Promise<Reply> {
    const response = await this.send(method, path, sent)
    const text = await response.text()
    const type = response.headers.get("content-type")
    const body: unknown = text !== "" && /[/+]json/.test(type ?? "") ? JSON.parse(text) : undefined
    return { status: response.status, type, text, headers: response.headers, body }
  }

  /** The answer itself, for one that comes bit by bit. */
  send(
    method: string,
    path: string,
    { body, headers }: { body?: unknown; headers?: Record<string, string> | undefined } = {},
  ): Promise<Response> {
    const isBytes = body instanceof Uint8Array || body instanceof ReadableStream
    const bytes = body === undefined || typeof body === "string" || isBytes ? body : JSON.stringify(body)
    // As over a socket: only what comes as a stream does not say how long it is.
    const isStream = bytes === undefined || bytes instanceof ReadableStream
    const length = isStream ? {} : { "content-length": String(Buffer.byteLength(bytes as string | Uint8Array)) }
    const init = {
      method,
      headers: { ...this.#headers, ...length, ...headers },
      ...(bytes === undefined ? {} : { body: bytes as string, duplex: "half" as const }),
    }
    return this.#fetch(new Request(`${this.#base}${path}`, init))
  }

  /** What happens in a conversation after a cursor. */
  watch = (id: string, after = "0") => this.send("GET", `/api/conversations/${id}/events?after=${after}`)

  /** The same for whoever was cut off there. */
  rewatch = (id: string, last: string) =>
    this.send("GET", `/api/conversations/${id}/events`, { headers: { "last-event-id": last } })

  /** A new conversation's id. */
  async begin(body: Record<string, unknown> = {}): Promise<string> {
    const { status, text, body: conversation } = await this.post("/api/conversations", body)
    if (status !== 201) throw new Error(text)
    return conversation.id
  }

  say = (id: string, text: string, more: Record<string, unknown> = {}) =>
    this.post(`/api/conversations/${id}/messages`, { text, ...more })
}

/** A registry with one model, by name and alias, and one that nobody has configured. */
function only(model: Model): Models {
  return {
    async get(name) {
      if (name === null || name === model.name || name === "alias") return model
      if (name === "locked") throw failure("not_configured", { model: name, need: "set LOCKED_KEY" })
      throw failure("unknown_model", { name, choices: `${model.name}, locked` })
    },
  }
}

function listOf({ name, provider, contextTokens }: Model): ModelCatalogue {
  const common = { aliases: [], features: ["tools"], contextTokens }
  return {
    list: async () => [
      { ...common, name, provider, available: true, need: null },
      { ...common, name: "locked", provider: "locked", available: false, need: "set LOCKED_KEY" },
    ],
    defaultName: async () => name,
  }
}

/** Whatever a test asks for, the answer has the shape that the treaty promises for it. */
async function keepsTheTreaty({ method, url }: Request, response: Response): Promise<void> {
  const { pathname } = new URL(url)
  // What packs answer is checked by the server itself.
  if (pathname.startsWith("/api/packs/")) return
  const route = Object.values<Route>(routes).find(
    (candidate) => candidate.method === method && fits(candidate, pathname),
  )
  if (!route) throw new Error(`${method} ${pathname} answered ${response.status} and is in no table of routes`)
  const schema = route.answers[response.status]
  if (!schema) throw new Error(`${method} ${route.path} may not answer ${response.status}`)
  const { error } = schema.safeParse(await response.json())
  if (error) throw new Error(`${method} ${route.path} broke its treaty: ${error.message}`)
}

const fits = ({ path }: Route, pathname: string) =>
  new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname)
