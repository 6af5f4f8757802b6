import type { UserId } from "../../../protocol/ids.ts"
import type { McpDecision, McpServerView, NewMcpServer } from "../../../protocol/mcp-servers.ts"

export interface McpServerRoutePorts {
  readonly mcpServers: McpServers
}

/** The MCP servers of people, and those of the operator as people see them. Throws `not_found` for one that there is not. */
export interface McpServers {
  list(user: UserId): Promise<McpServerView[]>
  add(user: UserId, server: NewMcpServer, signal: AbortSignal): Promise<McpServerView>
  look(user: UserId, name: string, signal: AbortSignal): Promise<McpServerView>
  /** `isAdmin`: they may decide about what the operator has named. */
  decide(user: UserId, name: string, decision: McpDecision & { readonly isAdmin: boolean }): Promise<McpServerView>
  remove(user: UserId, name: string): Promise<void>
}
