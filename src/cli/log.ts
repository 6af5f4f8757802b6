import type { Log } from "../agent/ports.ts"
import { scrubSecrets } from "../models/scrub-secrets.ts"

/** Writes what an operator should know as JSON lines, with everything secret taken out. */
export function createLog(secrets: Iterable<string>, write: (line: string) => void = toStderr): Log {
  const line = (level: "warn" | "error") => (event: string, fields: Record<string, unknown>) => {
    const entry = JSON.stringify({ at: new Date().toISOString(), level, event, ...fields }, readable)
    write(`${scrubSecrets(entry, secrets)}\n`)
  }
  return { warn: line("warn"), error: line("error") }
}

const toStderr = (line: string) => void process.stderr.write(line)

/** An error has no fields of its own that JSON would show. */
function readable(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return typeof value === "bigint" ? String(value) : value
  const { name, message, stack, cause } = value
  const code = (value as { code?: unknown }).code
  return { name, message, ...(code === undefined ? {} : { code }), ...(cause === undefined ? {} : { cause }), stack }
}
