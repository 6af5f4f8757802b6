import {
  type ConnectionPatch,
  failure,
  isThisMachine,
  PostgresTarget,
  SqliteTarget,
  type Target,
  usualSsl,
} from "../../../core/pack.ts"

type TargetPatch = Omit<ConnectionPatch, "name">

const WHERE = ["host", "port", "user", "ssl"] as const

/**
 * Returns the target of a connection after a change. A stored password is never sent to a new host: a user who may
 * change the connection, but does not know the password, could otherwise have it sent to their own server.
 */
export function patchTarget(kind: Target["kind"], target: Target | undefined, patch: TargetPatch): Target {
  const former: TargetPatch = target ?? {}
  const merged = { ...target, ...(kind === "postgres" ? sslOf(former, patch) : {}), ...patch, kind }
  const schema = kind === "postgres" ? PostgresTarget : SqliteTarget
  const { data, error } = schema.safeParse(merged)
  if (!data) {
    const [issue] = error.issues
    throw failure("bad_request", { problem: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "does not fit"}` })
  }
  const elsewhere = WHERE.filter((field) => patch[field] !== undefined && patch[field] !== former[field])
  if (kind === "postgres" && elsewhere.length > 0 && patch.password === undefined) {
    throw failure("bad_request", { problem: `password: send it again together with ${elsewhere.join(", ")}.` })
  }
  return data
}

/** A local connection without TLS does not disable TLS when the host changes to a remote one. */
function sslOf(former: TargetPatch, { host = former.host ?? "" }: TargetPatch): { ssl?: boolean } {
  if (former.ssl === undefined) return { ssl: usualSsl(host) }
  return former.ssl === false && isThisMachine(former.host ?? "") ? { ssl: usualSsl(host) } : {}
}
