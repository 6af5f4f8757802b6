import type { PostgresSession } from "./session.ts"

/** Powers of PostgreSQL's predefined roles besides reading and writing rows. */
const POWERS: readonly (readonly [role: string, power: string])[] = [
  ["pg_read_server_files", "read every file on the database's server that the server itself can read"],
  ["pg_write_server_files", "write files on the database's server"],
  ["pg_execute_server_program", "run programs on the database's server"],
]
const ATTRIBUTES = ["bypasses row security", "makes and changes roles", "reads everything by replication"] as const

const SAFER =
  "Make a role that can only read and connect as that: CREATE ROLE pawl_reader LOGIN PASSWORD '…'; " +
  "GRANT pg_read_all_data TO pawl_reader; or, for some tables alone, GRANT SELECT ON … TO pawl_reader;"

const ASKED = `SELECT session_user::text, r.rolsuper, r.rolbypassrls, r.rolcreaterole, r.rolreplication,
    (SELECT coalesce(string_agg(p.rolname, ' '), '') FROM pg_catalog.pg_roles p
      WHERE p.rolname IN (${POWERS.map(([role]) => `'${role}'`).join(", ")}) AND pg_has_role(session_user, p.oid, 'MEMBER'))
  FROM pg_catalog.pg_roles r WHERE r.rolname = session_user`

/**
 * Returns warnings about a connection's role for the user who adds it: permissions that questions do not need, and that
 * would let a query past the guards if one has a hole.
 */
export async function roleWarnings({ ask }: PostgresSession): Promise<string[]> {
  const [row] = (await ask(ASKED)).rows
  if (!row) return []
  const [user = "", superuser, ...more] = row
  if (superuser === "t")
    return [
      `${user} is a superuser: it may read and write files of the database's server and run programs there. ${SAFER}`,
    ]
  const member = new Set((more[3] ?? "").split(" "))
  const privileges = [
    ...POWERS.flatMap(([role, power]) => (member.has(role) ? [`may ${power} (${role})`] : [])),
    ...ATTRIBUTES.flatMap((power, at) => (more[at] === "t" ? [power] : [])),
  ]
  return privileges.length === 0 ? [] : [`${user} ${privileges.join(", ")}. ${SAFER}`]
}
