import { failure, isTimeZone } from "../../../core/pack.ts"
import { type Backend, BACKEND } from "./backend.ts"
import type { PostgresGuards, QueryLimits } from "../database/sql-guards.ts"

/** Runs one statement of ours. */
type Ask = (text: string) => Promise<{ readonly rows: readonly (string | null)[][] }>

interface Enclosing {
  readonly limits: QueryLimits
  readonly guards: PostgresGuards
  readonly superuserConnections: boolean
  /** The requested time zone. Default: that of the database. */
  readonly timeZone: string | undefined
}

interface Enclosed {
  readonly backend: Backend
  /** The time zone of the transaction. */
  readonly timeZone: string
}

const LOCK_MS = 2000
const READER = "pg_read_all_data"

/**
 * Starts the transaction for all work, and returns its properties. Settings are local to it and end with it. If
 * PostgreSQL does not know the requested time zone, that of the database is used.
 */
export async function enclose(ask: Ask, options: Enclosing): Promise<Enclosed> {
  const { timeZone } = options
  const wanted = isTimeZone(timeZone) ? timeZone : undefined
  try {
    return await begin(ask, options, wanted)
  } catch (error) {
    if (!wanted || (error as { code?: unknown }).code !== INVALID_VALUE) throw error
    await ask("ROLLBACK")
    return begin(ask, options, undefined)
  }
}

const INVALID_VALUE = "22023"

async function begin(
  ask: Ask,
  { limits: { seconds }, guards, superuserConnections }: Enclosing,
  zone: string | undefined,
): Promise<Enclosed> {
  // A single snapshot: if another transaction changes a row first, the change fails instead of continuing with the new
  // values.
  await ask(guards.readOnly ? "BEGIN READ ONLY" : "BEGIN ISOLATION LEVEL REPEATABLE READ")
  const { rows } = await ask(`SELECT current_setting('is_superuser') = 'on', session_user::text,
    EXISTS (SELECT FROM pg_catalog.pg_roles r, pg_catalog.pg_roles me WHERE r.rolname = '${READER}'
      AND me.rolname = session_user AND (me.rolsuper OR (NOT me.rolbypassrls AND pg_has_role(r.oid, 'MEMBER')))),
    ${BACKEND}, current_setting('TimeZone')`)
  const [superuser, user, canBeReader, process, began, usual] = rows[0] ?? []
  if (superuser === "t" && !superuserConnections) throw failure("superuser_refused", { user: user ?? "" })
  await ask(settings(seconds * 1000, zone))
  const enclosed = { backend: { process: process ?? "", began: began ?? "" }, timeZone: zone ?? usual ?? "UTC" }
  if (!guards.role || canBeReader !== "t") return enclosed
  await ask(`SET LOCAL ROLE ${READER}`)
  // Reports an error instead of silently leaving out rows that a policy hides from the role.
  await ask("SET LOCAL row_security = off")
  return enclosed
}

/** The settings that this version of PostgreSQL supports. */
function settings(ms: number, zone: string | undefined): string {
  const wanted: Record<string, string> = {
    statement_timeout: String(ms),
    lock_timeout: String(LOCK_MS),
    idle_in_transaction_session_timeout: String(ms + 5000),
    transaction_timeout: String(ms + 5000),
    // The server checks the connection, so that it stops if the client is gone.
    client_connection_check_interval: "500",
    // The guard parsed the text by these rules; with others a string could end at another position.
    standard_conforming_strings: "on",
    backslash_quote: "safe_encoding",
    // The format of values.
    datestyle: "ISO",
    intervalstyle: "postgres",
    bytea_output: "hex",
    extra_float_digits: "1",
    // Optimize for all rows, not for the first few.
    cursor_tuple_fraction: "1",
    ...(zone ? { timezone: zone } : {}),
  }
  const values = Object.entries(wanted).map(([name, value]) => `('${name}', '${value}')`)
  return `SELECT set_config(w.name, w.value, true) FROM (VALUES ${values.join(", ")}) w (name, value)
    JOIN pg_catalog.pg_settings s ON lower(s.name) = w.name`
}
