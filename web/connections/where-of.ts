import type { ConnectionView } from "../state/connections.ts"

/** Where a connection leads, in a few words. */
export function whereOf({ kind, path, user, host, port, database }: ConnectionView): string {
  if (kind === "sqlite") return `SQLite, ${path ?? ""}`
  return `PostgreSQL, ${user ?? ""}@${host ?? ""}:${port ?? ""}/${database ?? ""}`
}
