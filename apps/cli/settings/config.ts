import { MiniLmEmbedder } from "../../../labs/minilm/embedder.ts"
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { isAbsolute, join, resolve } from "node:path"
import { DEFAULT_LIMITS } from "../../../core/compose/open-engine.ts"
import type { ServerSettings } from "../../../core/compose/settings.ts"
import type { PrivateHosts } from "../../../core/models/network/outbound-policy.ts"
import type { ProxySettings } from "../../../core/models/network/proxied-fetch.ts"
import type { NamedEndpoint } from "../../../core/models/providers/endpoints/named-endpoint.ts"
import { EndpointFault, readEndpoints } from "../../../core/models/providers/endpoints/read-endpoints.ts"
import { type ModelSettings, allProviderSettings, settingVariables } from "../../../core/models/providers/settings.ts"
import { defaultScopes } from "../../../core/protocol/account/sign-in.ts"
import type { JwtSettings } from "../../../core/server/auth/jwt.ts"
import type { OidcSettings } from "../../../core/server/routes/account/ports.ts"
import type { WebhookSettings } from "../../../core/server/webhook.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import type { Ceilings } from "../../../core/store/journal/budget.ts"
import { commandEnvironment } from "../../../packs/files/sandbox/environment.ts"
import { settingsText } from "../../strings/settings.ts"
import type { Reflow } from "../../terminal/terminal-server.ts"
import { CommandError } from "../process/command.ts"
import type { LogSettings } from "../process/log.ts"
import { mcpFile, readMcpFile } from "./mcp-file.ts"
import { localModelServers } from "./model-choices.ts"
import { oidcSettings } from "./people-settings.ts"
import { type Environment, passwordsIn, readSettings, secretsOf, warnOfUnknownSettings } from "./setting.ts"
import { type Values, settingTable } from "./table.ts"
import { toTelemetrySettings } from "./telemetry.ts"

/** The settings of a server, and those of the process that reads them. */
export interface Config extends ServerSettings {
  readonly port: number
  /** How long it keeps serving after a stop was requested, while it reports that it is going down. */
  readonly drainSeconds: number
  readonly log: LogSettings
  /** The token of this machine as a client of a server. */
  readonly token: string | undefined
  /** The file with the operator's MCP servers. It may not exist. */
  readonly mcpFile: string
  /** True if no setting names the data folder. Commands that write then report where it is. */
  readonly usesUsualDataFolder: boolean
  /** True if no setting limits the work of a run: it is longer in the terminal than on a server. */
  readonly usesUsualRunSeconds: boolean
  /** Warnings about the settings. */
  readonly warnings: readonly string[]
  /** Whether the agent `files` follows AGENTS.md and CLAUDE.md. */
  readonly projectRules: boolean
}

/** Reads the environment, as the only place in the code. A bad value is refused with what would be allowed. */
export function readConfig(environment: Environment = process.env, flags: Environment = {}): Config {
  const said = Object.entries(flags).filter(([, value]) => value !== undefined)
  const given = { ...environment, ...Object.fromEntries(said) }
  const values = readSettings(settingTable, given)
  const endpoints = values.PAWL_PROVIDERS ? readProvidersFile(values.PAWL_PROVIDERS, given) : []
  const dataFolder = resolve(values.PAWL_DATA ?? usualDataFolder(given))
  const mcp = readMcpFile(values.PAWL_MCP, dataFolder, given)
  const config = {
    host: values.PAWL_HOST,
    port: values.PAWL_PORT,
    drainSeconds: values.PAWL_DRAIN_SECONDS,
    dataFolder,
    usesUsualDataFolder: values.PAWL_DATA === undefined,
    filesFolder: values.PAWL_FILES_FOLDER === undefined ? undefined : resolve(values.PAWL_FILES_FOLDER),
    databaseUrl: databaseUrl(values) ?? `file:${join(dataFolder, "pawl.db")}`,
    databaseConnections: values.PAWL_DATABASE_CONNECTIONS,
    durability: values.PAWL_DURABILITY,
    nats: natsSettings(values),
    publicUrl: values.PAWL_PUBLIC_URL,
    allowedOrigins: values.PAWL_ALLOWED_ORIGINS,
    trustedProxies: values.PAWL_TRUSTED_PROXY,
    requestsPerMinute: values.PAWL_RATE_LIMIT,
    jwt: toJwtSettings(values),
    oidc: toOidcSettings(values),
    policy: { proposalMinutes: values.PAWL_PROPOSAL_MINUTES, forbidAuto: values.PAWL_FORBID_AUTO },
    usesUsualRunSeconds: values.PAWL_RUN_SECONDS === undefined,
    limits: {
      runSeconds: values.PAWL_RUN_SECONDS ?? DEFAULT_LIMITS.runSeconds,
      replyCharacters: values.PAWL_REPLY_CHARACTERS,
    },
    summaryModel: values.PAWL_SUMMARY_MODEL,
    offlineModel: openOfflineModel,
    localEmbedder: openLocalEmbedder,
    models: { ...modelSettings(values), ...(endpoints.length > 0 ? { endpoints } : {}) },
    localModelServers: localModelServers(values.PAWL_LOCAL_MODEL_SERVERS),
    reply: values.PAWL_REPLY_SETTINGS,
    proxy: proxySettings(values),
    masterKey: values.MASTER_ENCRYPTION_KEY,
    previousMasterKey: values.MASTER_ENCRYPTION_KEY_PREVIOUS,
    sharedKeys: values.PAWL_SHARED_KEYS,
    privateHosts: privateHosts(values),
    sqliteRoot: resolve(values.PAWL_SQLITE_ROOT ?? join(dataFolder, "databases")),
    superuserConnections: values.PAWL_ALLOW_SUPERUSER_CONNECTIONS,
    threadPaths: values.PAWL_THREAD_PATHS,
    ceilings: ceilings(values),
    fallback: values.PAWL_FALLBACK_MODELS,
    personBytes: values.PAWL_PERSON_MEGABYTES * 1024 * 1024,
    bytesOfFiles: values.PAWL_FILES_MB * 1024 * 1024,
    titleModel: values.PAWL_TITLE_MODEL,
    packs: values.PAWL_PACKS,
    mcp,
    mcpFile: mcpFile(values.PAWL_MCP, dataFolder),
    webSearch: values.PAWL_WEB_SEARCH,
    projectRules: values.PAWL_PROJECT_RULES,
    webhook: webhook(values),
    telemetry: toTelemetrySettings(values),
    token: values.PAWL_TOKEN,
    log: { format: values.PAWL_LOG ?? (process.stderr.isTTY ? "plain" : "json"), level: values.PAWL_LOG_LEVEL },
  } as const
  const warnings = [
    ...warnOfUnknownSettings(settingTable, given, "PAWL_"),
    ...aboutKeys(config),
    ...aboutNats(config),
    ...(config.usesUsualDataFolder ? aboutProjectData(resolve(".pawl"), dataFolder) : []),
  ]
  const named = [...endpoints, ...mcp].flatMap((each) => each.secrets)
  const secrets = [...secretsOf(settingTable, given), ...named]
  return { ...config, commandEnvironment: commandEnvironment(environment), secrets, warnings }
}

const openLocalEmbedder: ServerSettings["localEmbedder"] = (options) => new MiniLmEmbedder(options)

/** Loaded on first use, because most servers have a provider. */
const openOfflineModel: ServerSettings["offlineModel"] = async (tools) =>
  (await import("../../../labs/offline-model/model.ts")).offlineModel(tools)

/** The terminal's handling of lines that have become too long for it, as far as the terminal can be identified. */
export function readReflow({ TMUX, TERM = "", TERM_PROGRAM, XTERM_VERSION }: Environment = process.env): Reflow {
  if (TMUX) return "breaks"
  if (TERM_PROGRAM === "vscode" || TERM_PROGRAM === "Hyper") return "breaks-and-shifts"
  return XTERM_VERSION || TERM === "linux" || TERM.startsWith("screen") ? "cuts" : "breaks"
}

function aboutKeys(config: Pick<Config, "databaseUrl" | "masterKey" | "previousMasterKey">): string[] {
  if (config.masterKey) return []
  if (config.previousMasterKey) return [settingsText.previousKeyAlone]
  if (config.databaseUrl.startsWith("file:")) return []
  return [settingsText.keyInDataFolder]
}

function natsSettings(values: Values): ServerSettings["nats"] {
  const { NATS_URL: url, NATS_CREDS: credentialsFile, PAWL_CLUSTER: cluster, PAWL_NATS_WORDS: carriesText } = values
  return url === undefined ? undefined : { url, credentialsFile, cluster, carriesText }
}

/** Other processes cannot share a database file with this one. */
function aboutNats({ nats, databaseUrl }: Pick<Config, "nats" | "databaseUrl">): string[] {
  if (!nats || !databaseUrl.startsWith("file:")) return []
  return [settingsText.natsWithoutPostgres]
}

/** Adds `PGPASSWORD` if the URL has no password. */
function databaseUrl({ DATABASE_URL: text, PGPASSWORD: password }: Values): string | undefined {
  const url = text && password ? URL.parse(text) : undefined
  if (!url || !password || passwordsIn(url.href).length > 0) return text
  // Not with `url.password`, which does not escape a %.
  return url.href.replace(/^(\w+:\/\/[^@/?#]*)@/, (_, user: string) => `${user}:${encodeURIComponent(password)}@`)
}

function ceilings({ PAWL_DAILY_LIMIT_USD: dailyUsd, PAWL_RUN_LIMIT_USD: runUsd }: Values): Ceilings {
  return { ...(dailyUsd === undefined ? {} : { dailyUsd }), ...(runUsd === undefined ? {} : { runUsd }) }
}

/** Host names are case-insensitive. */
function privateHosts({ PAWL_ALLOW_PRIVATE_HOSTS: hosts }: Values): PrivateHosts {
  return typeof hosts === "boolean" ? hosts : hosts.map((host) => host.toLowerCase())
}

/** An address alone is not enough: the receiver must be able to verify the sender. */
function webhook({ PAWL_WEBHOOK_URL: url, PAWL_WEBHOOK_SECRET: secret }: Values): WebhookSettings | undefined {
  if (url && !secret) throw new CommandError(settingsText.webhookWithoutSecret)
  return url && secret ? { url, secret } : undefined
}

/** Ignores provider variables that other programs left in the environment, unless a setting allows them. */
function modelSettings(values: Values): ModelSettings {
  const notOurs = allProviderSettings.filter(({ onlyWith }) => onlyWith && !values[onlyWith]).map(({ field }) => field)
  const entries = Object.entries(settingVariables).filter(([field]) => !notOurs.some((each) => each === field))
  return Object.fromEntries(entries.map(([field, variable]) => [field, values[variable]]))
}

/** The proxies of this machine; undefined without any. */
function proxySettings({ HTTP_PROXY: http, HTTPS_PROXY: https, NO_PROXY: except }: Values): ProxySettings | undefined {
  if (!http && !https) return undefined
  return { ...(http ? { http } : {}), ...(https ? { https } : {}), ...(except ? { except } : {}) }
}

/**
 * The data folder of every command if `PAWL_DATA` is not set: the user's own data folder. Never the working folder: a
 * project comes from others and is committed, so neither secrets are written to it nor a database read from it.
 */
function usualDataFolder({ XDG_DATA_HOME, HOME }: Environment): string {
  const home = XDG_DATA_HOME && isAbsolute(XDG_DATA_HOME) ? XDG_DATA_HOME : join(HOME || homedir(), ".local", "share")
  return join(home, "pawl")
}

/** Files that earlier versions stored in `.pawl` of the working folder, by name. */
const PROJECT_DATA: readonly (readonly [name: string, what: string])[] = [
  ["pawl.db", settingsText.oldData.database],
  ["device.db", settingsText.oldData.workspace],
  ["mcp.json", settingsText.oldData.mcpServers],
  ["master.key", settingsText.oldData.masterKey],
]

/** A sentence about data that an earlier version stored in the working folder, if there is any. */
function aboutProjectData(folder: string, dataFolder: string): string[] {
  if (folder === dataFolder || !existsSync(folder)) return []
  const names = new Set(readdirSync(folder))
  const found = PROJECT_DATA.filter(([name]) => names.has(name)).map(([name, what]) =>
    settingsText.oldDataFile(what, name, sizeOf(join(folder, name))),
  )
  if (found.length === 0) return []
  return [settingsText.oldDataFolder(folder, found.join(", "), dataFolder)]
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** Which JWTs are accepted. Incomplete settings are refused, because the server would trust other tokens than its operator expects. */
function toJwtSettings(values: Values): JwtSettings | undefined {
  const { PAWL_JWT_SECRET: secret, PAWL_JWKS_URL: jwksUrl } = values
  const { PAWL_JWT_ISSUER: issuer, PAWL_JWT_AUDIENCE: audience } = values
  if (secret !== undefined && jwksUrl !== undefined) {
    throw new CommandError(settingsText.jwtTwoKeys)
  }
  const key = secret !== undefined ? { secret } : jwksUrl !== undefined ? { jwksUrl } : undefined
  if (!key) {
    const alone = issuer !== undefined ? "PAWL_JWT_ISSUER" : audience !== undefined ? "PAWL_JWT_AUDIENCE" : undefined
    if (alone) throw new CommandError(settingsText.jwtWithoutKey(alone))
    return undefined
  }
  if (issuer === undefined) {
    const name = "secret" in key ? "PAWL_JWT_SECRET" : "PAWL_JWKS_URL"
    throw new CommandError(settingsText.jwtWithoutIssuer(name))
  }
  return { ...key, issuer, ...(audience === undefined ? {} : { audience }) }
}

/**
 * An incomplete setting is refused, as with JWTs: the operator should not learn from users that they cannot sign in.
 */
function toOidcSettings(values: Values): OidcSettings | undefined {
  const { PAWL_OIDC_ISSUER: issuer, PAWL_OIDC_CLIENT_ID: clientId, PAWL_OIDC_GROUPS: groups } = values
  if (issuer === undefined) {
    const names = Object.keys(oidcSettings) as (keyof typeof oidcSettings)[]
    const alone = names.find((name) => values[name] !== undefined && values[name] !== oidcSettings[name].defaultValue)
    if (alone) throw new CommandError(settingsText.oidcWithoutIssuer(alone))
    return undefined
  }
  if (clientId === undefined) throw new CommandError(settingsText.oidcWithoutClient)
  if (groups === undefined) throw new CommandError(settingsText.oidcWithoutGroups(defaultScopes.join(" ")))
  const scope = values.PAWL_OIDC_SCOPE
  if (!scope.split(" ").includes("openid")) throw new CommandError(settingsText.oidcScope(scope))
  return {
    ...{ issuer, clientId, groups, scope, clientSecret: values.PAWL_OIDC_CLIENT_SECRET },
    label: values.PAWL_OIDC_LABEL ?? new URL(issuer).host,
    nameClaim: values.PAWL_OIDC_NAME_CLAIM,
    groupsClaim: values.PAWL_OIDC_GROUPS_CLAIM,
    personClaim: values.PAWL_OIDC_PERSON_CLAIM,
    mailDomains: values.PAWL_OIDC_MAIL_DOMAINS.map((domain) => domain.toLowerCase()),
  }
}

/** The endpoints in the file of `PAWL_PROVIDERS`. A fault in it keeps Pawl from starting; the error names the entry and the field. */
function readProvidersFile(path: string, environment: Environment): readonly NamedEndpoint[] {
  const file = resolve(path)
  let text: string
  try {
    text = readFileSync(file, "utf8")
  } catch (error) {
    throw new CommandError(settingsText.fileUnreadable("PAWL_PROVIDERS", file, failureReason(error)))
  }
  try {
    return readEndpoints(text, environment)
  } catch (error) {
    if (error instanceof EndpointFault)
      throw new CommandError(settingsText.fileProblem("PAWL_PROVIDERS", file, error.message))
    throw error
  }
}
