import type { UserId } from "../../../protocol/ids.ts"
import type { ServerAddress } from "../../door/ports.ts"
import type { ChangedMcpServer, McpDecision, McpServerView, NewMcpServer } from "../../../protocol/mcp-servers.ts"

export interface McpServerRoutePorts {
  readonly mcpServers: McpServers
  readonly address: ServerAddress
}

/** Where the answer of a sign-in goes, and of which browser it is. */
export interface McpSignInBegins {
  readonly redirect: string
  /** Where the world can read who we are; only where it can. */
  readonly clientDocument: string | undefined
  readonly session: string | undefined
}

/** The MCP servers of people, and those of the operator as people see them. Throws `not_found` for one that there is not. */
export interface McpServers {
  list(user: UserId): Promise<McpServerView[]>
  add(user: UserId, server: NewMcpServer, signal: AbortSignal): Promise<McpServerView>
  change(
    user: UserId,
    name: string,
    asked: { readonly change: ChangedMcpServer; readonly signal: AbortSignal },
  ): Promise<McpServerView>
  look(user: UserId, name: string, signal: AbortSignal): Promise<McpServerView>
  /** `isAdmin`: they may decide about what the operator has named. */
  decide(user: UserId, name: string, decision: McpDecision & { readonly isAdmin: boolean }): Promise<McpServerView>
  remove(user: UserId, name: string): Promise<void>
  /** Where the person's browser goes. */
  beginSignIn(user: UserId, name: string, from: McpSignInBegins): Promise<string>
  finishSignIn(
    user: UserId,
    came: { readonly answer: string; readonly session: string | undefined; readonly signal: AbortSignal },
  ): Promise<McpServerView>
  endSignIn(user: UserId, name: string): Promise<void>
}
