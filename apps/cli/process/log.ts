import type { Log } from "../../../core/shared/log.ts"
import { scrubSecrets } from "../../../core/models/providers/errors/scrub-secrets.ts"

export const logLevels = ["info", "warn", "error"] as const
export const logFormats = ["json", "plain", "off"] as const

type Level = (typeof logLevels)[number]

export interface LogSettings {
  readonly format: (typeof logFormats)[number]
  /** Entries below this level are dropped. */
  readonly level: Level
}

const DEFAULT: LogSettings = { format: "json", level: "info" }

/** Writes log entries, one line each, without secrets. */
export function createLog(
  secrets: Iterable<string>,
  write: (line: string) => void = toStderr,
  { format, level: least }: LogSettings = DEFAULT,
): Log {
  const toLine = format === "json" ? toJson : toPlain
  const line = (level: Level) => (event: string, fields: Record<string, unknown>) => {
    if (format === "off" || logLevels.indexOf(level) < logLevels.indexOf(least)) return
    write(`${scrubSecrets(toLine({ at: new Date(), level, event, fields }), secrets)}\n`)
  }
  return { info: line("info"), warn: line("warn"), error: line("error") }
}

const toStderr = (line: string) => void process.stderr.write(line)

interface Entry {
  readonly at: Date
  readonly level: Level
  readonly event: string
  readonly fields: Record<string, unknown>
}

function toJson({ at, level, event, fields }: Entry): string {
  return JSON.stringify({ at: at.toISOString(), level, event, ...fields }, readable)
}

/** For people: `14:03:12 warn  sweep_failed conversation=conv_… error="…"`, followed by a stack. */
function toPlain({ at, level, event, fields }: Entry): string {
  const { error, ...rest } = fields
  const words = Object.entries(rest).map(([name, value]) => {
    const text = typeof value === "string" ? value : (JSON.stringify(value, readable) ?? "")
    return `${name}=${/^[\w./:{}-]*$/.test(text) ? text : JSON.stringify(text)}`
  })
  const head = [at.toTimeString().slice(0, 8), level.padEnd(5), event, ...words].join(" ")
  if (error === undefined) return head
  return `${head}\n${error instanceof Error ? stackOf(error) : JSON.stringify(error, readable)}`
}

const stackOf = ({ stack, message, cause }: Error): string =>
  `${stack ?? message}${cause instanceof Error ? `\ncaused by ${stackOf(cause)}` : ""}`

/** JSON omits the fields of an error. */
function readable(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return typeof value === "bigint" ? String(value) : value
  const { name, message, stack, cause } = value
  const code = (value as { code?: unknown }).code
  return { name, message, ...(code === undefined ? {} : { code }), ...(cause === undefined ? {} : { cause }), stack }
}
