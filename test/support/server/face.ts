import { randomUUID } from "node:crypto"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Agent, type AgentDefinition, defineAgent } from "../../../core/engine/definition/agent.ts"
import type { Model } from "../../../core/engine/model.ts"
import type { ModelSource } from "../../../core/engine/ports.ts"
import type { Policy } from "../../../core/engine/gate/policy.ts"
import type { Tool } from "../../../core/engine/definition/tool.ts"
import { adapters } from "../../../adapters/list.ts"
import { type ComposedServer, composeServer } from "../../../core/compose/compose-server.ts"
import type { Replacements, ReplacementPorts } from "../../../core/compose/replacements.ts"
import { MiniLmEmbedder } from "../../../labs/minilm/embedder.ts"
import { offlineModel } from "../../../labs/offline-model/model.ts"
import { type ServerSettings, settingsIn } from "../../../core/compose/settings.ts"
import type { ModelSettings } from "../../../core/models/providers/settings.ts"
import { failure } from "../../../core/protocol/errors.ts"
import { OpenAiError } from "../../../core/protocol/dialects/openai.ts"
import { routes } from "../../../core/protocol/routes/index.ts"
import type { Route } from "../../../core/protocol/routes/route.ts"
import type { Scope } from "../../../core/protocol/account/sign-in.ts"
import type { ModelCatalogue } from "../../../core/server/conversation/ports.ts"
import type { ServerAddress } from "../../../core/server/auth/credentials.ts"
import { asMasterKey, type MasterKey } from "../../../core/store/people/master-keys.ts"
import { WordEmbedder } from "../word-embedder.ts"

/** Differences from the server that `pawl serve` starts: settings, and parts by their names in the composition. */
export interface FaceOptions
  extends
    Partial<Omit<ServerSettings, "databaseUrl" | "policy" | "models">>,
    Pick<
      Replacements,
      | "clock"
      | "machineClock"
      | "store"
      | "reach"
      | "embedder"
      | "devices"
      | "messages"
      | "mostStreams"
      | "providerCalls"
      | "queryLimits"
    > {
  readonly url: string
  readonly model: Model
  /** More models, by their names. */
  readonly others?: readonly Model[]
  /** Replaces the one model: those of these settings, and those that users have stored. */
  readonly personal?: ModelSettings
  /** Tools of one more agent, `test`. */
  readonly tools?: readonly Tool[]
  /** More about that agent. */
  /** Agents that take the place of those of the packs with the same names, or come with them. */
  readonly moreAgents?: (ofPacks: readonly Agent[]) => readonly Agent[]
  readonly agent?: Partial<AgentDefinition>
  readonly policy?: Partial<Policy>
  readonly address?: Partial<ServerAddress>
  /** Checks every two seconds, as a server on a port does, what other processes have revoked. */
  readonly watching?: boolean
  /** Replaces parts of what the routes get, to inject faults. */
  readonly instead?: ReplacementPorts
}

export interface Reply {
  readonly status: number
  readonly type: string | null
  readonly text: string
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the server said; tests look into it freely
  readonly body: any
}

/** The same for every store, so that a second one on the same database can decrypt the rows of the first. */
export const testMasterKey: MasterKey = asMasterKey(Buffer.alloc(32, "face"))

type Logged = Record<string, unknown>[]

/** The server that `pawl serve` starts, without a port: requests and answers are objects. */
export class Face implements AsyncDisposable {
  readonly server: ComposedServer
  readonly pawl: ComposedServer["pawl"]
  readonly store: ComposedServer["store"]
  readonly databases: ComposedServer["databases"]
  readonly devices: ComposedServer["devices"]
  /** The open answers; a test can register one and inspect them. */
  readonly revocation: ComposedServer["revocation"]
  /** Warnings and errors that the server has logged for its operator. */
  readonly logged: Logged
  /** Informational entries of the log. */
  readonly informed: Logged

  private constructor(server: ComposedServer, { logged, informed }: { logged: Logged; informed: Logged }) {
    this.server = server
    this.pawl = server.pawl
    this.store = server.store
    this.databases = server.databases
    this.devices = server.devices
    this.revocation = server.revocation
    this.logged = logged
    this.informed = informed
  }

  static async open(options: FaceOptions): Promise<Face> {
    const {
      url,
      model,
      others: more = [],
      personal,
      tools = [],
      agent,
      moreAgents = () => [],
      policy,
      address,
      watching,
      instead,
      ...given
    } = options
    const { clock, machineClock, store, reach, embedder = new WordEmbedder(), ...others } = given
    const { devices, messages, mostStreams, providerCalls, queryLimits, ...settings } = others
    const [logged, informed]: Logged[] = [[], []]
    const note = (event: string, fields: object) => void logged!.push({ event, ...fields })
    const log = {
      info: (event: string, fields: object) => void informed!.push({ event, ...fields }),
      warn: note,
      error: note,
    }
    const test = defineAgent({ name: "test", description: "For tests.", instructions: "Be exact.", tools, ...agent })
    // A temporary folder, deleted at the end.
    const usual = settingsIn(join(tmpdir(), `pawl-face-${randomUUID()}`))
    const server = await composeServer(
      {
        ...{ ...usual, databaseUrl: url, durability: "normal", masterKey: testMasterKey, models: personal ?? {} },
        requestsPerMinute: 0, // all requests of a test come from one address, unlike those of users
        offlineModel: async (offered) => offlineModel(offered),
        localEmbedder: (options) => new MiniLmEmbedder(options),
        ...{ ...address, ...settings },
        // Shorter than usual: tests turn the clock until a proposal expires.
        policy: { ...usual.policy, proposalMinutes: 15, ...policy },
      },
      {
        ...{
          clock,
          machineClock,
          log,
          store,
          reach,
          devices,
          messages,
          mostStreams,
          providerCalls,
          queryLimits,
          embedder,
          adapters,
        },
        ...(personal ? {} : { models: { ...only(model, more), ...listOf(model, more) } }),
        agents: (ofPacks) => [...ofPacks, test, ...moreAgents(ofPacks)],
        ...(instead ? { ports: instead } : {}),
      },
    )
    if (watching) server.revocation.start()
    return new Face(server, { logged: logged!, informed: informed! })
  }

  /** Every address that was answered, as `GET /api/models`. */
  get addresses(): string[] {
    const { routes } = this.server.app
    return routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`)
  }

  /** A client with a token of these scopes. */
  async as(name: string, ...granted: Scope[]): Promise<Visitor> {
    const person = await this.store.people.ensure(name, Date.now())
    const scopes: Scope[] = granted.length > 0 ? granted : ["read", "chat", "approve", "manage"]
    const { token } = await this.store.people.createToken(person, scopes, Date.now())
    return new Visitor((request) => this.fetch(request), token)
  }

  /** `from`: the address of the request, or all data of a socket. */
  async fetch(request: Request, from?: string | object): Promise<Response> {
    const env = typeof from === "string" ? { incoming: { socket: { remoteAddress: from } } } : from
    const response = await this.server.app.fetch(request, env as never)
    if (request.method !== "HEAD" && response.headers.get("content-type")?.startsWith("application/json")) {
      await keepsTheTreaty(request, response.clone())
    }
    return response
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close()
    await rm(this.server.settings.dataFolder, { recursive: true, force: true })
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

  /** Returns the answer itself, for one that is streamed. */
  send(
    method: string,
    path: string,
    { body, headers }: { body?: unknown; headers?: Record<string, string> | undefined } = {},
  ): Promise<Response> {
    const isBytes = body instanceof Uint8Array || body instanceof ReadableStream
    const bytes = body === undefined || typeof body === "string" || isBytes ? body : JSON.stringify(body)
    // As over a socket: only a stream has no length.
    const isStream = bytes === undefined || bytes instanceof ReadableStream
    const length = isStream ? {} : { "content-length": String(Buffer.byteLength(bytes as string | Uint8Array)) }
    const init = {
      method,
      headers: { ...this.#headers, ...length, ...headers },
      ...(bytes === undefined ? {} : { body: bytes as string, duplex: "half" as const }),
    }
    return this.#fetch(new Request(`${this.#base}${path}`, init))
  }

  /** The events of a conversation after a cursor. */
  watch = (id: string, after = "0") => this.send("GET", `/api/conversations/${id}/events?after=${after}`)

  /** The same for a client that reconnects after this event. */
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

/** A registry with one configured model, by name and alias, and one that is not configured. */
function only(model: Model, others: readonly Model[]): ModelSource {
  return {
    async get(name) {
      const other = others.find((each) => each.name === name)
      if (other) return other
      if (name === null || name === model.name || name === "alias") return model
      if (name === "locked") throw failure("not_configured", { model: name, need: "set LOCKED_KEY" })
      throw failure("unknown_model", { name, choices: `${model.name}, locked` })
    },
  }
}

function listOf({ name, provider, contextTokens, ...own }: Model, others: readonly Model[]): ModelCatalogue {
  const common = { aliases: [], features: ["tools"], contextTokens }
  // A test whose model cannot see images says so; in all others the page has no reason to warn.
  const seen = ({ images, files } = { images: true, files: true }) => [
    ...(images ? ["images"] : []),
    ...(files ? ["files"] : []),
  ]
  const toListed = (each: Pick<Model, "name" | "provider" | "sees">) => ({
    ...common,
    features: [...common.features, ...seen(each.sees)],
    available: true,
    need: null,
    ...named(each),
  })
  const named = (each: Pick<Model, "name" | "provider">) => ({ name: each.name, provider: each.provider })
  return {
    list: async () => [
      ...[{ name, provider, ...(own.sees ? { sees: own.sees } : {}) }, ...others].map(toListed),
      { ...common, name: "locked", provider: "locked", available: false, need: "set LOCKED_KEY" },
    ],
    defaultName: async () => name,
  }
}

/** Checks that every answer has the shape that its route declares. */
async function keepsTheTreaty({ method, url }: Request, response: Response): Promise<void> {
  const { pathname } = new URL(url)
  // The server itself checks the answers of packs, and the documentation is static files.
  if (/^\/(api\/packs|docs)\//.test(pathname)) return
  const route = Object.values<Route>(routes).find(
    (candidate) => candidate.method === method && fits(candidate, pathname),
  )
  // Requests below /v1 without a token are refused, and those with one get 404 for unknown paths.
  const isNowhere = !route && pathname.startsWith("/v1/") && [401, 404, 429].includes(response.status)
  if (isNowhere) return void OpenAiError.parse(await response.json())
  if (!route) throw new Error(`${method} ${pathname} answered ${response.status} and is in no table of routes`)
  const isError = response.status >= 400 && route.errors === "openai"
  const schema = isError ? OpenAiError : route.answers[response.status]
  if (!schema) throw new Error(`${method} ${route.path} may not answer ${response.status}`)
  const { error } = schema.safeParse(await response.json())
  if (error) throw new Error(`${method} ${route.path} broke its treaty: ${error.message}`)
}

const fits = ({ path, slashes }: Route, pathname: string) =>
  new RegExp(`^${path.replaceAll(/\{\w+\}/g, slashes ? ".+" : "[^/]+")}$`).test(pathname)
