import { isThisMachine } from "../../protocol/databases/connections.ts"
import type { McpOAuth, McpToolRule } from "../../protocol/ports/mcp.ts"

/** A program of this machine that speaks MCP over its input and output. Only an operator can name one. */
export interface ProgramTarget {
  readonly kind: "program"
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** The only folder that it can change. Without, an empty one of its own. */
  readonly folder: string | undefined
  readonly network: boolean
  /** `false`: the operator has said that it runs without walls. */
  readonly sandbox: boolean
}

export interface HttpTarget {
  readonly kind: "http"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly oauth?: McpOAuth
}

/** A server whose tools may join agents, whoever has named it. */
export interface McpServer {
  /** Under which its tools are pinned: `=name` for the operator's, the id of its row for a person's. */
  readonly key: string
  /** Another one after every change: what was opened before it is not used any more. */
  readonly version: string
  readonly name: string
  /** Where no operator has named it: its addresses are judged, and its tools are this person's alone. */
  readonly isPersons: boolean
  readonly target: ProgramTarget | HttpTarget
  /** The agents that may have its tools. */
  readonly agents: readonly string[]
  /** What is decided about its tools, by their names there; `*` for all others. */
  readonly rules: Readonly<Record<string, McpToolRule>>
  /** Tools that may run again after a crash, where they say themselves that a second time changes nothing. */
  readonly idempotent: readonly string[]
  /** Whether what it tells is anybody's, so that it may be used beside other things from outside. */
  readonly isPublic: boolean
  readonly timeoutSeconds: number
  /** How long a call may take that is a task over there. */
  readonly taskSeconds: number
  /** What no result may repeat. */
  readonly secrets: readonly string[]
}

/** A server's name: it stands before the names of its tools, with two underscores between, so it has none itself. */
export const SERVER_NAME = /^[a-z][a-z0-9]{0,23}$/

/** Whether anybody on the way could read what a person's server is sent. An operator knows their own network. */
export function isInTheClear({ isPersons, target }: McpServer): boolean {
  if (!isPersons || target.kind !== "http") return false
  const { protocol, hostname } = new URL(target.url)
  return protocol !== "https:" && !isThisMachine(hostname)
}
