import { homedir } from "node:os"
import { isAbsolute, join, resolve } from "node:path"
import { REPLY_CHARACTERS } from "../../agent/ask/stream-reply.ts"
import type { Limits } from "../../agent/next-step.ts"
import type { Policy } from "../../agent/ports.ts"
import type { ProxySettings } from "../../models/network/proxied-fetch.ts"
import type { PrivateHosts } from "../../models/network/reach.ts"
import type { WebSearchSetting } from "../../packs/research/search-provider.ts"
import { type ModelSettings, settingVariables } from "../../models/providers/settings.ts"
import type { Ceilings } from "../../store/journal/budget.ts"
import { type MasterKey, toMasterKey } from "../../store/people/master-keys.ts"
import type { WebhookSettings } from "../../server/webhook.ts"
import { CommandError } from "../process/command.ts"
import { logFormats, type LogSettings, logLevels } from "../process/log.ts"
import { toNetwork } from "../../server/door/trusted-proxies.ts"
import type { JwtSettings } from "../../server/door/jwt.ts"
import type { Reflow } from "../../terminal/reached.ts"
import { proxyPasswords, readProxySettings } from "./proxy.ts"
import { readJwtSettings } from "./jwt.ts"
import { VariableReader } from "./variables.ts"
import { readWebSearch } from "./web-search.ts"

export interface Config {
  readonly host: string
  readonly port: number
  /** Database, keys and files. */
  readonly dataFolder: string
  /** `postgres://…`, or the SQLite file in `dataFolder`. */
  readonly databaseUrl: string
  readonly durability: "full" | "normal"
  readonly publicUrl: string | undefined
  readonly allowedOrigins: readonly string[]
  readonly trustedProxies: readonly string[]
  /** What one person may ask in a minute; 0 for as much as they like. */
  readonly requestsPerMinute: number
  readonly jwt: JwtSettings | undefined
  readonly policy: Policy
  readonly limits: Pick<Limits, "runSeconds" | "replyCharacters">
  readonly models: ModelSettings
  /** What providers are reached through. */
  readonly proxy: ProxySettings | undefined
  /** `MASTER_ENCRYPTION_KEY` and the one that is accepted beside it; without the first, a file in `dataFolder` has it. */
  readonly masterKey: MasterKey | undefined
  readonly previousMasterKey: MasterKey | undefined
  /** Whether the keys above serve everybody, or people must bring their own. */
  readonly sharedKeys: boolean
  /** Which private addresses people may make this server connect to. */
  readonly privateHosts: PrivateHosts
  /** Where the SQLite files of people lie, and whether they may come to PostgreSQL as its superuser. */
  readonly sqliteRoot: string
  readonly superuserConnections: boolean
  /** Whether the thread dialect also answers without `/api`. */
  readonly threadPaths: boolean
  readonly ceilings: Ceilings
  /** Who searches the web for agents. */
  readonly webSearch: WebSearchSetting
  readonly log: LogSettings
  /** What this machine is let in with where it is the client of a server. */
  readonly token: string | undefined
  /** Whom to tell that proposals wait. */
  readonly webhook: WebhookSettings | undefined
  /** What a command that the model runs gets to see of the environment: a list of what may be seen, not of what may not. */
  readonly commandEnvironment: Readonly<Record<string, string>>
  /** What must never be printed. */
  readonly secrets: readonly string[]
  /** What somebody should know about the settings. */
  readonly warnings: readonly string[]
}

/** Part of the contract, but of no effect in this version: whoever sets one of these has to know. */
const NOT_YET = ["NATS_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "PAWL_PACKS"]

const SECRET = [
  "MASTER_ENCRYPTION_KEY",
  "MASTER_ENCRYPTION_KEY_PREVIOUS",
  "PAWL_JWT_SECRET",
  "PAWL_TOKEN",
  "PAWL_WEBHOOK_SECRET",
]
/** Addresses that may hold a password: only that is secret, and the rest worth reading in a log. */
const WITH_PASSWORD = ["DATABASE_URL", "NATS_URL", "PAWL_WEBHOOK_URL"]

type Variables = Readonly<Record<string, string | undefined>>

/** Reads the environment, the only place that does. A bad value is refused with what would be allowed. */
export function readConfig(environment: Variables = process.env, flags: Variables = {}): Config {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined)
  const settings = new VariableReader({ ...environment, ...Object.fromEntries(given) })
  const dataFolder = resolve(settings.text("PAWL_DATA") ?? ".pawl")
  const config = {
    host: settings.text("PAWL_HOST", /^[\w.:-]{1,255}$/, "a host name or an address, such as 127.0.0.1") ?? "127.0.0.1",
    port: settings.number("PAWL_PORT", { least: 0, most: 65_535, whole: true }) ?? 7295,
    dataFolder,
    databaseUrl: databaseUrl(settings, dataFolder),
    durability: settings.choice("PAWL_DURABILITY", ["full", "normal"]) ?? "full",
    publicUrl: settings.url("PAWL_PUBLIC_URL"),
    allowedOrigins: settings.list(
      "PAWL_ALLOWED_ORIGINS",
      isOrigin,
      "origins such as https://app.example, split by commas",
    ),
    trustedProxies: settings.list(
      "PAWL_TRUSTED_PROXY",
      isNetwork,
      "addresses or networks such as 10.0.0.0/8, split by commas",
    ),
    requestsPerMinute: settings.number("PAWL_RATE_LIMIT", { least: 0, most: 1e9, whole: true }) ?? 60_000,
    jwt: readJwtSettings(settings),
    policy: {
      proposalMinutes: settings.number("PAWL_PROPOSAL_MINUTES", { least: 0.01, most: 525_600 }) ?? 15,
      forbidAuto: settings.flag("PAWL_FORBID_AUTO") ?? false,
    },
    limits: {
      runSeconds: settings.number("PAWL_RUN_SECONDS", { least: 1, most: 86_400 }) ?? 180,
      replyCharacters:
        settings.number("PAWL_REPLY_CHARACTERS", { least: 1000, most: 4_000_000, whole: true }) ?? REPLY_CHARACTERS,
    },
    models: modelSettings(settings),
    proxy: readProxySettings(settings),
    masterKey: masterKey(settings, "MASTER_ENCRYPTION_KEY"),
    previousMasterKey: masterKey(settings, "MASTER_ENCRYPTION_KEY_PREVIOUS"),
    sharedKeys: settings.flag("PAWL_SHARED_KEYS") ?? true,
    privateHosts: privateHosts(settings),
    sqliteRoot: resolve(settings.text("PAWL_SQLITE_ROOT") ?? join(dataFolder, "databases")),
    superuserConnections: settings.flag("PAWL_ALLOW_SUPERUSER_CONNECTIONS") ?? false,
    threadPaths: settings.flag("PAWL_THREAD_PATHS") ?? false,
    ceilings: ceilings(settings),
    webSearch: readWebSearch(settings),
    webhook: webhook(settings),
    token: settings.secret("PAWL_TOKEN", /^[\x21-\x7e]{1,8192}$/, "what `pawl token create` prints"),
    log: {
      format: settings.choice("PAWL_LOG", logFormats) ?? (process.stderr.isTTY ? "plain" : "json"),
      level: settings.choice("PAWL_LOG_LEVEL", logLevels) ?? "info",
    },
  }
  const warnings = [...settings.unknown("PAWL_", NOT_YET), ...notYet(settings), ...aboutKeys(config)]
  const secrets = [...secretsOf(settings), ...proxyPasswords(config.proxy)]
  return { ...config, commandEnvironment: commandEnvironment(environment), secrets, warnings }
}

/**
 * The settings of somebody who works in a folder of theirs: without PAWL_DATA, data is kept where programs of this person
 * keep theirs. What a project holds comes from others, so neither secrets are put there nor is a database taken from it.
 */
export function readPersonalConfig(flags: Variables = {}, environment: Variables = process.env): Config {
  const { PAWL_DATA, XDG_DATA_HOME, HOME } = environment
  const home = XDG_DATA_HOME && isAbsolute(XDG_DATA_HOME) ? XDG_DATA_HOME : join(HOME || homedir(), ".local", "share")
  return readConfig(environment, { PAWL_DATA: PAWL_DATA?.trim() || join(home, "pawl"), ...flags })
}

/** What the terminal does with lines for which it has become too narrow, as far as it says what it is. */
export function readReflow({ TMUX, TERM = "", TERM_PROGRAM, XTERM_VERSION }: Variables = process.env): Reflow {
  if (TMUX) return "breaks"
  if (TERM_PROGRAM === "vscode" || TERM_PROGRAM === "Hyper") return "breaks-and-shifts"
  return XTERM_VERSION || TERM === "linux" || TERM.startsWith("screen") ? "cuts" : "breaks"
}

const SEEN_BY_COMMANDS = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"]

function commandEnvironment(environment: Variables): Record<string, string> {
  const seen = Object.entries(environment).filter(
    ([name]) => SEEN_BY_COMMANDS.includes(name) || /^LC_[A-Z]+$/.test(name),
  )
  const given = seen.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return { PATH: "/usr/local/bin:/usr/bin:/bin", ...Object.fromEntries(given), TERM: "dumb", CI: "1" }
}

function databaseUrl(settings: VariableReader, dataFolder: string): string {
  const given = settings.secret("DATABASE_URL", /^postgres(ql)?:\/\/./, "postgres://user:password@host/database")
  return given ?? `file:${join(dataFolder, "pawl.db")}`
}

function masterKey(settings: VariableReader, name: string): MasterKey | undefined {
  const text = settings.secret(name, { test: (given) => toMasterKey(given) !== undefined }, KEY_FORM)
  return text === undefined ? undefined : toMasterKey(text)
}

const KEY_FORM = "32 bytes as base64 or hex, such as `openssl rand -base64 32` prints"

function aboutKeys(config: Pick<Config, "databaseUrl" | "masterKey" | "previousMasterKey">): string[] {
  if (config.masterKey) return []
  if (config.previousMasterKey) return ["MASTER_ENCRYPTION_KEY_PREVIOUS does nothing without MASTER_ENCRYPTION_KEY."]
  if (config.databaseUrl.startsWith("file:")) return []
  return [
    "MASTER_ENCRYPTION_KEY is not set: secrets are under the key in the data folder (PAWL_DATA), and other nodes of this database need the same one.",
  ]
}

function ceilings(settings: VariableReader): Ceilings {
  const range = { least: 0, most: 1_000_000 }
  const dailyUsd = settings.number("PAWL_DAILY_LIMIT_USD", range)
  const runUsd = settings.number("PAWL_RUN_LIMIT_USD", range)
  return { ...(dailyUsd === undefined ? {} : { dailyUsd }), ...(runUsd === undefined ? {} : { runUsd }) }
}

/** On, off, or the hosts themselves. */
function privateHosts(settings: VariableReader): PrivateHosts {
  const name = "PAWL_ALLOW_PRIVATE_HOSTS"
  const text = settings.text(name)?.toLowerCase()
  if (text === undefined || /^(0|false|no|off)$/.test(text)) return false
  if (/^(1|true|yes|on)$/.test(text)) return true
  const isHost = (item: string) => /^[\w.:-]{1,255}$/.test(item)
  return settings
    .list(name, isHost, "on, off, or names and addresses split by commas")
    .map((item) => item.toLowerCase())
}

/** Whoever gets it has to be able to tell that it comes from here, so an address alone is not enough. */
function webhook(settings: VariableReader): WebhookSettings | undefined {
  const url = settings.secret("PAWL_WEBHOOK_URL", /^https?:\/\/[^\s/]/, "an address such as https://hooks.example/pawl")
  const secret = settings.secret("PAWL_WEBHOOK_SECRET", /^.{16,}$/, "at least 16 characters")
  if (url && !URL.canParse(url)) throw new CommandError("PAWL_WEBHOOK_URL is no address; its value is hidden.")
  if (url && !secret)
    throw new CommandError(
      "PAWL_WEBHOOK_URL needs PAWL_WEBHOOK_SECRET: at least 16 characters that only you and the receiver know.",
    )
  return url && secret ? { url, secret } : undefined
}

function modelSettings(settings: VariableReader): ModelSettings {
  const { idleSeconds: idle, ...texts } = settingVariables
  const given = Object.entries(texts).map(([field, variable]) => [field, settings.text(variable)])
  return { ...Object.fromEntries(given), idleSeconds: settings.number(idle, { least: 1, most: 86_400 }) }
}

function notYet(settings: VariableReader): string[] {
  const set = NOT_YET.filter((name) => settings.text(name) !== undefined)
  return set.map((name) => `${name} is set, but this version of Pawl does not use it yet.`)
}

function secretsOf(settings: VariableReader): string[] {
  const names = [...SECRET, ...Object.values(settingVariables).filter((name) => name.endsWith("_KEY"))]
  const passwords = WITH_PASSWORD.flatMap((name) => URL.parse(settings.text(name) ?? "")?.password ?? [])
  const search = /^(?:brave|tavily):(.+)$/.exec(settings.text("PAWL_WEB_SEARCH") ?? "")?.[1] ?? ""
  return [...names.flatMap((name) => settings.text(name) ?? []), ...passwords, search].filter((secret) => secret !== "")
}

function isNetwork(text: string): boolean {
  try {
    return toNetwork(text) !== undefined
  } catch {
    return false
  }
}

const isOrigin = (text: string) => URL.parse(text)?.origin === text
