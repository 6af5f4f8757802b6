import type { client } from "../state/client.ts"
import type { ConnectionView } from "../state/connections.ts"

type Patch = NonNullable<Parameters<typeof client.changeConnection>[0]>["body"]
type New = NonNullable<Parameters<typeof client.createConnection>[0]>["body"]

/** A connection as a form holds it. */
export interface Fields {
  readonly kind: "postgres" | "sqlite"
  readonly name: string
  readonly host: string
  readonly port: string
  readonly database: string
  readonly user: string
  readonly password: string
  /** Empty: as is usual for the host. */
  readonly ssl: string
  readonly path: string
  /** Said by the person where a password is asked for again. */
  readonly hasNoPassword: boolean
}

export const EMPTY: Fields = {
  ...{ kind: "postgres", name: "", host: "", port: "5432", database: "", user: "", password: "", ssl: "" },
  ...{ path: "", hasNoPassword: false },
} as const

export const fieldsOf = ({ kind, name, host, port, database, user, ssl, path }: ConnectionView): Fields => ({
  ...EMPTY,
  ...{ kind, name, host: host ?? "", port: String(port ?? 5432), database: database ?? "" },
  ...{ user: user ?? "", ssl: String(ssl ?? false), path: path ?? "" },
})

/** The server asks for the password again where it would be sent to another place, and where it cannot open what it has. */
export function leadsElsewhere(connection: ConnectionView, fields: Fields): boolean {
  if (connection.kind === "sqlite") return false
  const before = fieldsOf(connection)
  const isMoved = (["host", "port", "user", "ssl"] as const).some((field) => fields[field] !== before[field])
  return isMoved || !connection.configured
}

/** What is to be stored anew. */
export function toNew({ kind, name, path, ...place }: Fields): New {
  if (kind === "sqlite") return { kind, name, path }
  const { host, database, user, password } = place
  return {
    kind,
    name,
    host,
    port: Number(place.port),
    database,
    user,
    password,
    ...(place.ssl === "" ? {} : { ssl: toSsl(place.ssl) }),
  }
}

/** What was changed, and only that; with the password where it was written, or has to be. */
export function toPatch(connection: ConnectionView, fields: Fields): Patch {
  const before = fieldsOf(connection)
  const isAll = !connection.configured
  const isChanged = (field: keyof Fields) => isAll || fields[field] !== before[field]
  const name = fields.name.trim() === before.name ? {} : { name: fields.name }
  if (connection.kind === "sqlite") return { ...name, ...(isChanged("path") ? { path: fields.path } : {}) }
  const words = (["host", "database", "user"] as const)
    .filter(isChanged)
    .map((field) => [field, fields[field]] as const)
  return {
    ...name,
    ...Object.fromEntries(words),
    ...(isChanged("port") ? { port: Number(fields.port) } : {}),
    ...(isChanged("ssl") ? { ssl: toSsl(fields.ssl) } : {}),
    ...(fields.password !== "" || leadsElsewhere(connection, fields) ? { password: fields.password } : {}),
  }
}

const toSsl = (ssl: string): boolean | "no-verify" => (ssl === "no-verify" ? ssl : ssl === "true")
