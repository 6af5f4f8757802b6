import { McpMessage } from "../../dialects/mcp.ts"
import { defineRoutes } from "../route.ts"

/** For programs that speak the Model Context Protocol: agents, conversations, proposals and data as tools (docs/reference/mcp-endpoint.md). */
export const mcpRoutes = defineRoutes({
  sendMcpMessage: {
    method: "POST",
    path: "/mcp",
    needs: "read",
    says: "MCP: one message of the streamable HTTP transport. Requests are answered as JSON or as a stream.",
    body: McpMessage,
    answers: {
      200: McpMessage,
      202: null,
      400: McpMessage,
      404: McpMessage,
      406: McpMessage,
      415: McpMessage,
      500: McpMessage,
    },
  },
  openMcpStream: {
    method: "GET",
    path: "/mcp",
    needs: "read",
    says: "MCP: there is no stream other than responses.",
    answers: { 405: McpMessage },
  },
  endMcpSession: {
    method: "DELETE",
    path: "/mcp",
    needs: "read",
    says: "MCP: there are no sessions to end, because each message is independent.",
    answers: { 405: McpMessage },
  },
})
