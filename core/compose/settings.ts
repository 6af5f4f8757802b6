import type { CreateLocalEmbedder } from "../models/embedders/create.ts"
import { join } from "node:path"
import type { WebSearchSetting } from "../../packs/research/search-provider.ts"
import type { Model } from "../engine/model.ts"
import type { Limits } from "../engine/next-step.ts"
import type { Policy } from "../engine/gate/policy.ts"
import type { PrivateHosts } from "../models/network/outbound-policy.ts"
import type { ProxySettings } from "../models/network/proxied-fetch.ts"
import type { ModelSettings } from "../models/providers/settings.ts"
import { USUAL_PERSON_BYTES } from "../protocol/account/storage.ts"
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import { isThisMachine } from "../protocol/databases/connections.ts"
import type { JwtSettings } from "../server/auth/jwt.ts"
import type { OidcSettings } from "../server/routes/account/ports.ts"
import type { WebhookSettings } from "../server/webhook.ts"
import { type Ceilings, SqlBudget } from "../store/journal/budget.ts"
import type { MasterKey } from "../store/people/master-keys.ts"
import type { Store } from "../store/store.ts"
import type { TelemetrySettings } from "../telemetry/settings.ts"
import type { McpServer } from "../tools/mcp/definition/server.ts"
import { DEFAULT_LIMITS, DEFAULT_POLICY } from "./open-engine.ts"

/** The default addresses of Ollama and LM Studio. */
export const DEFAULT_LOCAL_SERVERS: readonly string[] = ["http://127.0.0.1:11434", "http://127.0.0.1:1234"]

/** The default limit of the files in one person's messages. */
export const BYTES_OF_FILES = 1000 * 1024 * 1024

/** The settings of a server, wherever they were read. */
export interface ServerSettings {
  /** The address that it listens on. */
  readonly host: string
  /** The folder for the database, keys and files. */
  readonly dataFolder: string
  /** The folder for large files in messages, shared by all nodes. Default: in the database. */
  readonly filesFolder: string | undefined
  /** `postgres://…`, or the SQLite file in `dataFolder`. */
  readonly databaseUrl: string
  /** Most connections to PostgreSQL. */
  readonly databaseConnections: number
  readonly durability: "full" | "normal"
  /** Connects the nodes of one PostgreSQL. Without it they poll the database. */
  readonly nats: NatsServerSettings | undefined
  readonly publicUrl: string | undefined
  readonly allowedOrigins: readonly string[]
  readonly trustedProxies: readonly string[]
  /** Most requests of one person in a minute; 0 for no limit. */
  readonly requestsPerMinute: number
  readonly jwt: JwtSettings | undefined
  /** An OpenID Connect issuer, in addition to sign-in links. */
  readonly oidc: OidcSettings | undefined
  readonly policy: Policy
  readonly limits: Pick<Limits, "runSeconds" | "replyCharacters">
  /** The model that writes summaries. Default: the conversation's own; `none`: no summaries. */
  readonly summaryModel: string | undefined
  readonly models: ModelSettings
  /** Opens the model that answers if no provider is configured. It is passed the tools with their example requests. */
  readonly offlineModel?:
    | ((tools: readonly { readonly name: string; readonly examples: readonly string[] }[]) => Promise<Model>)
    | undefined
  /** Creates the embedder that is used without a key for OpenAI's. Without either, search uses words only. */
  readonly localEmbedder?: CreateLocalEmbedder | undefined
  /** Addresses of this machine that are probed for model servers while no provider is configured. */
  readonly localModelServers: readonly string[]
  /** Fallback models, in this order. */
  readonly fallback: readonly string[]
  /** Reply settings, if neither agent, conversation nor message sets them. */
  readonly reply: ReplySettings
  /** The model that writes titles. */
  readonly titleModel: string | undefined
  /** Proxies for requests to providers. */
  readonly proxy: ProxySettings | undefined
  /** The keys that encrypt secrets, current and previous. Default: a file in `dataFolder`. */
  readonly masterKey: MasterKey | undefined
  readonly previousMasterKey: MasterKey | undefined
  /** Whether everyone may use the keys of `models`, or people must add their own. */
  readonly sharedKeys: boolean
  /** The private addresses that people may make this server connect to. */
  readonly privateHosts: PrivateHosts
  /** The folder of people's SQLite files, and whether PostgreSQL connections may use a superuser. */
  readonly sqliteRoot: string
  readonly superuserConnections: boolean
  /** Whether the thread API also answers without `/api`. */
  readonly threadPaths: boolean
  readonly ceilings: Ceilings
  /** Most stored bytes of each person. */
  readonly personBytes: number
  /** Most bytes of the files in one person's messages. */
  readonly bytesOfFiles: number
  /** The web search for agents. */
  readonly webSearch: WebSearchSetting
  /** Packs to load besides the built-in ones: package names or paths. */
  readonly packs: readonly string[]
  /** MCP servers whose tools agents may use. */
  readonly mcp: readonly McpServer[]
  /** The address for reports of pending proposals. */
  readonly webhook: WebhookSettings | undefined
  /** The environment of commands that models run: an allow-list, because a list of exclusions would miss some. */
  readonly commandEnvironment: Readonly<Record<string, string>>
  /** The receiver of the spans of runs. Default: none, and nothing is loaded. */
  readonly telemetry: TelemetrySettings | undefined
  /** Texts that must never be shown or logged. */
  readonly secrets: readonly string[]
}

export interface NatsServerSettings {
  readonly url: string
  readonly credentialsFile: string | undefined
  /** The name by which the nodes of one database find each other. */
  readonly cluster: string
  /** Whether messages contain people's and models' text, or only that there is something to read. */
  readonly carriesText: boolean
}

/** The default settings, with this data folder. */
export function settingsIn(dataFolder: string): ServerSettings {
  return {
    host: "127.0.0.1",
    dataFolder,
    filesFolder: undefined,
    databaseUrl: `file:${join(dataFolder, "pawl.db")}`,
    databaseConnections: 10,
    durability: "full",
    nats: undefined,
    publicUrl: undefined,
    allowedOrigins: [],
    trustedProxies: [],
    requestsPerMinute: 60_000,
    jwt: undefined,
    oidc: undefined,
    policy: DEFAULT_POLICY,
    limits: { runSeconds: DEFAULT_LIMITS.runSeconds, replyCharacters: DEFAULT_LIMITS.replyCharacters },
    summaryModel: undefined,
    models: {},
    localModelServers: DEFAULT_LOCAL_SERVERS,
    fallback: [],
    reply: {},
    titleModel: undefined,
    proxy: undefined,
    masterKey: undefined,
    previousMasterKey: undefined,
    sharedKeys: true,
    privateHosts: false,
    sqliteRoot: join(dataFolder, "databases"),
    superuserConnections: false,
    threadPaths: false,
    ceilings: {},
    personBytes: USUAL_PERSON_BYTES,
    bytesOfFiles: BYTES_OF_FILES,
    webSearch: { provider: "duckduckgo" },
    packs: [],
    mcp: [],
    webhook: undefined,
    commandEnvironment: { PATH: "/usr/local/bin:/usr/bin:/bin", TERM: "dumb", CI: "1" },
    telemetry: undefined,
    secrets: [],
  }
}

/** A fault in the settings that the operator can fix: reported as a sentence, without a stack. */
export class SettingsError extends Error {
  override readonly name = "SettingsError"
}

/** The secret is in the fragment, which browsers do not send: no server, proxy or log sees it. */
export const toLink = (base: string, secret: string): string => `${base.replace(/(?<!\/)\/+$/, "")}/sign-in#${secret}`

interface Reached {
  readonly publicUrl?: string | undefined
  readonly host: string
  readonly port: number
}

/** The URL of the server; `listening` is the address it listens on, if known. */
export function baseUrl({ publicUrl, host, port }: Reached, listening?: string): string {
  if (publicUrl) return publicUrl
  if (!listening && port === 0)
    throw new SettingsError("The server uses a random free port. Pass its address with --server.")
  const url = new URL(listening ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`)
  // A browser cannot open "every address".
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"
  if (url.hostname === "[::]") url.hostname = "[::1]"
  return url.origin
}

/** Whether only programs on this machine can reach the server: it listens on loopback, and there is no proxy. */
export function isOnlyLocal({
  host,
  publicUrl,
  trustedProxies,
}: Pick<ServerSettings, "host" | "publicUrl" | "trustedProxies">): boolean {
  const isPublished = publicUrl !== undefined && !isThisMachine(new URL(publicUrl).hostname)
  return isThisMachine(host) && !isPublished && trustedProxies.length === 0
}

/** No call outlives its run: a longer reservation belongs to a process that failed. */
const HOLD_MARGIN_SECONDS = 60
/** A run may take hours, a single call does not. */
const MAX_CALL_SECONDS = 30 * 60

interface Spending extends Ceilings {
  readonly runSeconds: number
  now(): number
}

/** Only with a limit: without one no call waits for the database. */
export function budgetOf({ engine }: Store, { runSeconds, now, ...ceilings }: Spending): { budget?: SqlBudget } {
  if (ceilings.dailyUsd === undefined && ceilings.runUsd === undefined) return {}
  return {
    budget: new SqlBudget(engine, {
      ...ceilings,
      now,
      holdSeconds: Math.min(runSeconds, MAX_CALL_SECONDS) + HOLD_MARGIN_SECONDS,
    }),
  }
}
