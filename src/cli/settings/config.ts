import { homedir } from "node:os"
import { isAbsolute, join, resolve } from "node:path"
import type { ServerSettings } from "../../compose/settings.ts"
import type { ProxySettings } from "../../models/network/proxied-fetch.ts"
import type { PrivateHosts } from "../../models/network/outbound-policy.ts"
import { type ModelSettings, providerMeans, settingVariables } from "../../models/providers/settings.ts"
import type { Ceilings } from "../../store/journal/budget.ts"
import type { WebhookSettings } from "../../server/webhook.ts"
import { CommandError } from "../process/command.ts"
import type { LogSettings } from "../process/log.ts"
import type { Reflow } from "../../terminal/terminal-server.ts"
import { toJwtSettings } from "./jwt.ts"
import { readMcpFile } from "./mcp-file.ts"
import { toOidcSettings } from "./oidc.ts"
import { readProvidersFile } from "./providers-file.ts"
import { toTelemetrySettings } from "./telemetry.ts"
import { type Environment, idleSettings, itsPassword, readSettings, secretsOf } from "./setting.ts"
import { settingTable, type Values } from "./table.ts"

/** The settings of a server, and what concerns only the process that read them. */
export interface Config extends ServerSettings {
  readonly port: number
  /** How long it still serves once it was told to stop, and says that it goes down. */
  readonly drainSeconds: number
  readonly log: LogSettings
  /** What this machine is let in with where it is the client of a server. */
  readonly token: string | undefined
  /** What somebody should know about the settings. */
  readonly warnings: readonly string[]
}

/** Reads the environment, the only place that does. A bad value is refused with what would be allowed. */
export function readConfig(environment: Environment = process.env, flags: Environment = {}): Config {
  const said = Object.entries(flags).filter(([, value]) => value !== undefined)
  const given = { ...environment, ...Object.fromEntries(said) }
  const values = readSettings(settingTable, given)
  const endpoints = values.PAWL_PROVIDERS ? readProvidersFile(values.PAWL_PROVIDERS, given) : []
  const dataFolder = resolve(values.PAWL_DATA ?? ".pawl")
  const mcp = readMcpFile(values.PAWL_MCP, dataFolder, given)
  const config = {
    host: values.PAWL_HOST,
    port: values.PAWL_PORT,
    drainSeconds: values.PAWL_DRAIN_SECONDS,
    dataFolder,
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
    limits: { runSeconds: values.PAWL_RUN_SECONDS, replyCharacters: values.PAWL_REPLY_CHARACTERS },
    summaryModel: values.PAWL_SUMMARY_MODEL,
    models: { ...modelSettings(values), ...(endpoints.length > 0 ? { endpoints } : {}) },
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
    bytesOfFiles: values.PAWL_FILES_MB * 1024 * 1024,
    titleModel: values.PAWL_TITLE_MODEL,
    packs: values.PAWL_PACKS,
    mcp,
    webSearch: values.PAWL_WEB_SEARCH,
    webhook: webhook(values),
    telemetry: toTelemetrySettings(values),
    token: values.PAWL_TOKEN,
    log: { format: values.PAWL_LOG ?? (process.stderr.isTTY ? "plain" : "json"), level: values.PAWL_LOG_LEVEL },
  } as const
  const warnings = [...idleSettings(settingTable, given, "PAWL_"), ...aboutKeys(config), ...aboutNats(config)]
  const named = [...endpoints, ...mcp].flatMap((each) => each.secrets)
  const secrets = [...secretsOf(settingTable, given), ...named]
  return { ...config, commandEnvironment: commandEnvironment(environment), secrets, warnings }
}

/**
 * The settings of somebody who works in a folder of theirs: without PAWL_DATA, data is kept where programs of this person
 * keep theirs. What a project holds comes from others, so neither secrets are put there nor is a database taken from it.
 */
export function readPersonalConfig(flags: Environment = {}, environment: Environment = process.env): Config {
  const { PAWL_DATA, XDG_DATA_HOME, HOME } = environment
  const home = XDG_DATA_HOME && isAbsolute(XDG_DATA_HOME) ? XDG_DATA_HOME : join(HOME || homedir(), ".local", "share")
  return readConfig(environment, { PAWL_DATA: PAWL_DATA?.trim() || join(home, "pawl"), ...flags })
}

/** What the terminal does with lines for which it has become too narrow, as far as it says what it is. */
export function readReflow({ TMUX, TERM = "", TERM_PROGRAM, XTERM_VERSION }: Environment = process.env): Reflow {
  if (TMUX) return "breaks"
  if (TERM_PROGRAM === "vscode" || TERM_PROGRAM === "Hyper") return "breaks-and-shifts"
  return XTERM_VERSION || TERM === "linux" || TERM.startsWith("screen") ? "cuts" : "breaks"
}

const SEEN_BY_COMMANDS = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"]

function commandEnvironment(environment: Environment): Record<string, string> {
  const seen = Object.entries(environment).filter(
    ([name]) => SEEN_BY_COMMANDS.includes(name) || /^LC_[A-Z]+$/.test(name),
  )
  const given = seen.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return { PATH: "/usr/local/bin:/usr/bin:/bin", ...Object.fromEntries(given), TERM: "dumb", CI: "1" }
}

function aboutKeys(config: Pick<Config, "databaseUrl" | "masterKey" | "previousMasterKey">): string[] {
  if (config.masterKey) return []
  if (config.previousMasterKey) return ["MASTER_ENCRYPTION_KEY_PREVIOUS does nothing without MASTER_ENCRYPTION_KEY."]
  if (config.databaseUrl.startsWith("file:")) return []
  return [
    "MASTER_ENCRYPTION_KEY is not set: secrets are under the key in the data folder (PAWL_DATA), and other nodes of this database need the same one.",
  ]
}

function natsSettings(values: Values): ServerSettings["nats"] {
  const { NATS_URL: url, NATS_CREDS: credentialsFile, PAWL_CLUSTER: cluster, PAWL_NATS_WORDS: carriesWords } = values
  return url === undefined ? undefined : { url, credentialsFile, cluster, carriesWords }
}

/** Nobody shares a file with this process. */
function aboutNats({ nats, databaseUrl }: Pick<Config, "nats" | "databaseUrl">): string[] {
  if (!nats || !databaseUrl.startsWith("file:")) return []
  return [
    "NATS_URL needs DATABASE_URL, and does nothing without: nodes share a PostgreSQL, and a SQLite file belongs to one.",
  ]
}

/** With the password that stands beside it, where it has none of its own. */
function databaseUrl({ DATABASE_URL: text, PGPASSWORD: password }: Values): string | undefined {
  const url = text && password ? URL.parse(text) : undefined
  if (!url || !password || itsPassword(url.href).length > 0) return text
  // Whole, not by setting `url.password`: that leaves a % as it is, and it would be read as the start of a letter.
  return url.href.replace(/^(\w+:\/\/[^@/?#]*)@/, (_, user: string) => `${user}:${encodeURIComponent(password)}@`)
}

function ceilings({ PAWL_DAILY_LIMIT_USD: dailyUsd, PAWL_RUN_LIMIT_USD: runUsd }: Values): Ceilings {
  return { ...(dailyUsd === undefined ? {} : { dailyUsd }), ...(runUsd === undefined ? {} : { runUsd }) }
}

/** Names of hosts have no small and large letters. */
function privateHosts({ PAWL_ALLOW_PRIVATE_HOSTS: hosts }: Values): PrivateHosts {
  return typeof hosts === "boolean" ? hosts : hosts.map((host) => host.toLowerCase())
}

/** The receiver has to be able to tell that it comes from here, so an address alone is not enough. */
function webhook({ PAWL_WEBHOOK_URL: url, PAWL_WEBHOOK_SECRET: secret }: Values): WebhookSettings | undefined {
  if (url && !secret)
    throw new CommandError(
      "PAWL_WEBHOOK_URL needs PAWL_WEBHOOK_SECRET: at least 16 characters that only you and the receiver know.",
    )
  return url && secret ? { url, secret } : undefined
}

/** Without what other programs left in the environment, where nobody has said that it is for us, too. */
function modelSettings(values: Values): ModelSettings {
  const notOurs = providerMeans.filter(({ onlyWith }) => onlyWith && !values[onlyWith]).map(({ field }) => field)
  const entries = Object.entries(settingVariables).filter(([field]) => !notOurs.some((each) => each === field))
  return Object.fromEntries(entries.map(([field, variable]) => [field, values[variable]]))
}

/** The proxies of this machine; undefined where there are none. */
function proxySettings({ HTTP_PROXY: http, HTTPS_PROXY: https, NO_PROXY: except }: Values): ProxySettings | undefined {
  if (!http && !https) return undefined
  return { ...(http ? { http } : {}), ...(https ? { https } : {}), ...(except ? { except } : {}) }
}
