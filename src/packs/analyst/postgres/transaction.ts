import { failure } from "../../../protocol/errors.ts"
import { type Backend, BACKEND } from "./backend.ts"
import type { PostgresLayers, QueryLimits } from "../database/walls.ts"

/** Somebody who can run one statement of ours. */
interface Asking {
  ask(text: string): Promise<{ readonly rows: readonly (string | null)[][] }>
}

interface Enclosing {
  readonly limits: QueryLimits
  readonly layers: PostgresLayers
  readonly superuserConnections: boolean
}

const LOCK_MS = 2000
const READER = "pg_read_all_data"

/** Begins the transaction in which everything happens, and tells where. What is set here holds in it alone, and ends with it. */
export async function enclose(
  { ask }: Asking,
  { limits: { seconds }, layers, superuserConnections }: Enclosing,
): Promise<Backend> {
  // One view of all rows: where another transaction changes one first, a change ends instead of going on with what it finds.
  await ask(layers.readOnly ? "BEGIN READ ONLY" : "BEGIN ISOLATION LEVEL REPEATABLE READ")
  const { rows } = await ask(`SELECT current_setting('is_superuser') = 'on', session_user::text,
    EXISTS (SELECT FROM pg_catalog.pg_roles r, pg_catalog.pg_roles me WHERE r.rolname = '${READER}'
      AND me.rolname = session_user AND (me.rolsuper OR (NOT me.rolbypassrls AND pg_has_role(r.oid, 'MEMBER')))),
    ${BACKEND}`)
  const [superuser, user, canBeReader, process, began] = rows[0] ?? []
  if (superuser === "t" && !superuserConnections) throw failure("superuser_refused", { user: user ?? "" })
  await ask(settings(seconds * 1000))
  const backend = { process: process ?? "", began: began ?? "" }
  if (!layers.role || canBeReader !== "t") return backend
  await ask(`SET LOCAL ROLE ${READER}`)
  // Rows that a policy hides from the reader, but not from the one who asks, would be missing without a word.
  await ask("SET LOCAL row_security = off")
  return backend
}

/** Those that this version of PostgreSQL has. */
function settings(ms: number): string {
  const wanted: Record<string, string> = {
    statement_timeout: String(ms),
    lock_timeout: String(LOCK_MS),
    idle_in_transaction_session_timeout: String(ms + 5000),
    transaction_timeout: String(ms + 5000),
    // A server that asks whether we are still there stops for somebody who is gone.
    client_connection_check_interval: "500",
    // The guard has read the text by these rules; with others a text could end elsewhere.
    standard_conforming_strings: "on",
    backslash_quote: "safe_encoding",
    // How values are written.
    datestyle: "ISO",
    intervalstyle: "postgres",
    bytea_output: "hex",
    extra_float_digits: "1",
    // All rows are wanted, not the first few soon.
    cursor_tuple_fraction: "1",
  }
  const values = Object.entries(wanted).map(([name, value]) => `('${name}', '${value}')`)
  return `SELECT set_config(w.name, w.value, true) FROM (VALUES ${values.join(", ")}) w (name, value)
    JOIN pg_catalog.pg_settings s ON lower(s.name) = w.name`
}
