import type { CreateLocalEmbedder } from "../models/embedders/create.ts"
import { join } from "node:path"
import type { WebSearchSetting } from "../../packs/research/search-provider.ts"
import type { Model } from "../engine/model.ts"
import type { Limits } from "../engine/next-step.ts"
import type { Policy } from "../engine/ports.ts"
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
import { USUAL_LIMITS, USUAL_POLICY } from "./open-engine.ts"

/** Where Ollama and LM Studio listen unless they are configured otherwise. */
export const USUAL_LOCAL_SERVERS: readonly string[] = ["http://127.0.0.1:11434", "http://127.0.0.1:1234"]

/** What a server is put together from: a plain value, wherever it was read. */
export interface ServerSettings {
  /** What it listens on. */
  readonly host: string
  /** Database, keys and files. */
  readonly dataFolder: string
  /** Where the bytes of large files in messages lie, for all nodes; without, in the database. */
  readonly filesFolder: string | undefined
  /** `postgres://…`, or the SQLite file in `dataFolder`. */
  readonly databaseUrl: string
  /** How many connections to PostgreSQL are opened at most. */
  readonly databaseConnections: number
  readonly durability: "full" | "normal"
  /** What the nodes of one PostgreSQL hear each other by; without it they look at what the others have written. */
  readonly nats: NatsServerSettings | undefined
  readonly publicUrl: string | undefined
  readonly allowedOrigins: readonly string[]
  readonly trustedProxies: readonly string[]
  /** What one person may ask in a minute; 0 for as much as they like. */
  readonly requestsPerMinute: number
  readonly jwt: JwtSettings | undefined
  /** Where people may sign in beside links. */
  readonly oidc: OidcSettings | undefined
  readonly policy: Policy
  readonly limits: Pick<Limits, "runSeconds" | "replyCharacters">
  /** Which model sums up what has grown too long; without, the conversation's own. `none`: nobody. */
  readonly summaryModel: string | undefined
  readonly models: ModelSettings
  /** Opens the model that answers if no provider is configured. It is passed the tools with their example requests. */
  readonly offlineModel?:
    | ((tools: readonly { readonly name: string; readonly examples: readonly string[] }[]) => Promise<Model>)
    | undefined
  /** Creates the embedder that is used without a key for OpenAI's. Without either, search uses words only. */
  readonly localEmbedder?: CreateLocalEmbedder | undefined
  /** Addresses of this machine at which model servers are looked for while no provider is set. */
  readonly localModelServers: readonly string[]
  /** Who answers where a conversation's model cannot, in this order. */
  readonly fallback: readonly string[]
  /** How models are to reply, where neither agent, conversation nor message says otherwise. */
  readonly reply: ReplySettings
  /** Which model is asked for titles. */
  readonly titleModel: string | undefined
  /** What providers are reached through. */
  readonly proxy: ProxySettings | undefined
  /** What secrets are under, and the key that is accepted beside it; without the first, a file in `dataFolder` has it. */
  readonly masterKey: MasterKey | undefined
  readonly previousMasterKey: MasterKey | undefined
  /** Whether the keys of `models` serve everybody, or people must bring their own. */
  readonly sharedKeys: boolean
  /** Which private addresses people may make this server connect to. */
  readonly privateHosts: PrivateHosts
  /** Where the SQLite files of people lie, and whether they may come to PostgreSQL as its superuser. */
  readonly sqliteRoot: string
  readonly superuserConnections: boolean
  /** Whether the thread dialect also answers without `/api`. */
  readonly threadPaths: boolean
  readonly ceilings: Ceilings
  /** How many bytes each person may store. */
  readonly personBytes: number
  /** What the files in one person's messages may take together. */
  readonly bytesOfFiles: number
  /** Who searches the web for agents. */
  readonly webSearch: WebSearchSetting
  /** Packs of others that are loaded besides ours: names of packages, or paths. */
  readonly packs: readonly string[]
  /** MCP servers whose tools agents may have. */
  readonly mcp: readonly McpServer[]
  /** Whom to tell that proposals wait. */
  readonly webhook: WebhookSettings | undefined
  /** What a command that the model runs gets to see of the environment: a list of what may be seen, not of what may not. */
  readonly commandEnvironment: Readonly<Record<string, string>>
  /** Whom spans of runs are told to; without, nobody, and nothing of it is loaded. */
  readonly telemetry: TelemetrySettings | undefined
  /** What must never be told. */
  readonly secrets: readonly string[]
}

export interface NatsServerSettings {
  readonly url: string
  readonly credentialsFile: string | undefined
  /** The name under which the nodes of one database find each other. */
  readonly cluster: string
  /** Whether what people and models say is carried, or only that there is something to read. */
  readonly carriesText: boolean
}

/** The settings of somebody who has set nothing but where data is kept. */
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
    policy: USUAL_POLICY,
    limits: { runSeconds: USUAL_LIMITS.runSeconds, replyCharacters: USUAL_LIMITS.replyCharacters },
    summaryModel: undefined,
    models: {},
    localModelServers: USUAL_LOCAL_SERVERS,
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
    bytesOfFiles: 1000 * 1024 * 1024,
    webSearch: { provider: "duckduckgo" },
    packs: [],
    mcp: [],
    webhook: undefined,
    commandEnvironment: { PATH: "/usr/local/bin:/usr/bin:/bin", TERM: "dumb", CI: "1" },
    telemetry: undefined,
    secrets: [],
  }
}

/** Something about the settings that whoever wrote them can put right: told as a sentence, without a stack. */
export class SettingsError extends Error {
  override readonly name = "SettingsError"
}

/** The secret stands behind the #, which a browser keeps to itself: no server, proxy or log on the way sees it. */
export const toLink = (base: string, secret: string): string => `${base.replace(/(?<!\/)\/+$/, "")}/sign-in#${secret}`

interface Reached {
  readonly publicUrl?: string | undefined
  readonly host: string
  readonly port: number
}

/** Where people reach the server; `listening` is where it listens, if somebody knows. */
export function baseUrl({ publicUrl, host, port }: Reached, listening?: string): string {
  if (publicUrl) return publicUrl
  if (!listening && port === 0)
    throw new SettingsError("The server uses a random free port. Pass its address with --server.")
  const url = new URL(listening ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`)
  // "Every address" is none that a browser can go to.
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"
  if (url.hostname === "[::]") url.hostname = "[::1]"
  return url.origin
}

/** Whether only programs of this machine reach the server: it listens on a loopback address, and no proxy leads to it. */
export function isOnlyLocal({
  host,
  publicUrl,
  trustedProxies,
}: Pick<ServerSettings, "host" | "publicUrl" | "trustedProxies">): boolean {
  const isPublished = publicUrl !== undefined && !isThisMachine(new URL(publicUrl).hostname)
  return isThisMachine(host) && !isPublished && trustedProxies.length === 0
}

/** No call outlives its run, so what is set aside for longer was left by a process that died. */
const HOLD_MARGIN_SECONDS = 60
/** A run may work for hours, one call of a model does not. */
const MAX_CALL_SECONDS = 30 * 60

interface Spending extends Ceilings {
  readonly runSeconds: number
  now(): number
}

/** Only where a ceiling is set: without one no call waits for the database to agree. */
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
