import { join, resolve } from "node:path"
import type { Limits } from "../agent/next-step.ts"
import type { Policy } from "../agent/ports.ts"
import { type ModelSettings, settingVariables } from "../models/settings.ts"
import { toNetwork } from "../server/arrival.ts"
import type { JwtSettings } from "../server/jwt.ts"
import { readJwtSettings } from "./jwt-settings.ts"
import { Settings } from "./settings.ts"

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
  readonly limits: Pick<Limits, "runSeconds">
  readonly models: ModelSettings
  /** What must never be printed. */
  readonly secrets: readonly string[]
  /** What somebody should know about the settings. */
  readonly warnings: readonly string[]
}

/** Part of the contract, but of no effect in this version: whoever sets one of these has to know. */
const NOT_YET = [
  "NATS_URL",
  "PAWL_ALLOW_PRIVATE_HOSTS",
  "PAWL_PACKS",
  "PAWL_SQLITE_ROOT",
  "PAWL_WEBHOOK_URL",
  "PAWL_WEB_SEARCH",
]

const SECRET = ["MASTER_ENCRYPTION_KEY", "PAWL_JWT_SECRET"]
/** Addresses that may hold a password: only that is secret, and the rest worth reading in a log. */
const WITH_PASSWORD = ["DATABASE_URL", "NATS_URL", "PAWL_WEBHOOK_URL"]

type Variables = Readonly<Record<string, string | undefined>>

/** Reads the environment, the only place that does. A bad value is refused with what would be allowed. */
export function readConfig(environment: Variables = process.env, flags: Variables = {}): Config {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined)
  const settings = new Settings({ ...environment, ...Object.fromEntries(given) })
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
    limits: { runSeconds: settings.number("PAWL_RUN_SECONDS", { least: 1, most: 86_400 }) ?? 180 },
    models: modelSettings(settings),
  }
  const warnings = [...settings.unknown("PAWL_", NOT_YET), ...notYet(settings)]
  return { ...config, secrets: secretsOf(settings), warnings }
}

function databaseUrl(settings: Settings, dataFolder: string): string {
  const given = settings.secret("DATABASE_URL", /^postgres(ql)?:\/\/./, "postgres://user:password@host/database")
  return given ?? `file:${join(dataFolder, "pawl.db")}`
}

function modelSettings(settings: Settings): ModelSettings {
  const { idleSeconds: idle, ...texts } = settingVariables
  const given = Object.entries(texts).map(([field, variable]) => [field, settings.text(variable)])
  return { ...Object.fromEntries(given), idleSeconds: settings.number(idle, { least: 1, most: 86_400 }) }
}

function notYet(settings: Settings): string[] {
  const set = NOT_YET.filter((name) => settings.text(name) !== undefined)
  return set.map((name) => `${name} is set, but this version of Pawl does not use it yet.`)
}

function secretsOf(settings: Settings): string[] {
  const names = [...SECRET, ...Object.values(settingVariables).filter((name) => name.endsWith("_KEY"))]
  const passwords = WITH_PASSWORD.flatMap((name) => URL.parse(settings.text(name) ?? "")?.password ?? [])
  return [...names.flatMap((name) => settings.text(name) ?? []), ...passwords].filter((secret) => secret !== "")
}

function isNetwork(text: string): boolean {
  try {
    return toNetwork(text) !== undefined
  } catch {
    return false
  }
}

const isOrigin = (text: string) => URL.parse(text)?.origin === text
