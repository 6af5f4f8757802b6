/** The log for operators. Each line has a name and fields, and contains no secrets. */
export interface Log {
  info(event: string, fields: Record<string, unknown>): void
  warn(event: string, fields: Record<string, unknown>): void
  error(event: string, fields: Record<string, unknown>): void
}

/** Discards every line. */
export const silentLog: Log = { info() {}, warn() {}, error() {} }
