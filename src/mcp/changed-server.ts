import type { McpServerId } from "../protocol/ids.ts"
import type { ChangedMcpServer, NewMcpServer } from "../protocol/mcp-servers.ts"
import type { McpTarget, StoredMcpServer } from "../protocol/ports/mcp.ts"

/** What a server is after a change, as if it were named anew. */
export interface Changed {
  readonly whole: NewMcpServer
  /** Its address is another one, and with it, for all that anybody knows, the server. */
  readonly isMoved: boolean
  /** It is reached in another way: it has to be asked whether that works. */
  readonly isAsked: boolean
}

/**
 * A change over what is stored. What is not told of stays, but nothing secret goes to another address than the one that it
 * was given for: whoever may change an address could read it there.
 */
export function toChanged({ name, agents, target }: StoredMcpServer, change: ChangedMcpServer): Changed {
  const { url, isPublic } = target
  const isMoved = change.url !== undefined && change.url !== url
  const stays: Pick<McpTarget, "headers" | "oauth"> = isMoved ? { headers: {} } : target
  const oauth = change.oauth === undefined ? stays.oauth : (change.oauth ?? undefined)
  const whole = {
    name: change.name ?? name,
    url: change.url ?? url,
    headers: merged(stays.headers, change.headers ?? {}),
    agents: change.agents ?? [...agents],
    data: change.data ?? (isPublic ? "public" : "private"),
    ...(oauth ? { oauth } : {}),
  } as const
  const isAsked = isMoved || change.headers !== undefined || change.oauth !== undefined
  return { whole, isMoved, isAsked }
}

/** By names that are the same whatever their letters; null takes one away. */
function merged(
  before: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const changed = new Set(Object.keys(changes).map((name) => name.toLowerCase()))
  const left = Object.entries(before).filter(([name]) => !changed.has(name.toLowerCase()))
  const given = Object.entries(changes).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  return Object.fromEntries([...left, ...given])
}

/** As it is stored. */
export const toStored = (id: McpServerId, given: NewMcpServer): Omit<StoredMcpServer, "version"> => {
  const { name, url, headers, agents, data, oauth } = given
  return { id, name, agents, target: { url, headers, isPublic: data === "public", ...(oauth ? { oauth } : {}) } }
}
