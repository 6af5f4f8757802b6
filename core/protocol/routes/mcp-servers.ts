import { z } from "zod"
import {
  ChangedMcpServer,
  McpDecision,
  McpServerView,
  McpSignInAnswer,
  McpSignInRequest,
  NewMcpServer,
} from "../mcp-servers.ts"
import { pageOf } from "../answers.ts"
import { PageQuery } from "../requests.ts"
import { defineRoutes } from "./route.ts"

/** MCP servers whose tools agents may have: those of the operator, and a person's own. */
export const mcpServerRoutes = defineRoutes({
  listMcpServers: {
    method: "GET",
    path: "/api/mcp-servers",
    needs: "read",
    says:
      "Lists the MCP servers whose tools your agents can use, with the settings of each tool. A page can have fewer items than its " +
      "limit, because its length is limited too.",
    query: PageQuery,
    answers: { 200: pageOf(McpServerView) },
  },
  addMcpServer: {
    method: "POST",
    path: "/api/mcp-servers",
    needs: "manage",
    says: "Adds an MCP server of your own (streamable HTTP). Its tools are listed first, and each call needs your approval. Header values are encrypted and never returned.",
    body: NewMcpServer,
    answers: { 201: McpServerView },
  },
  changeMcpServer: {
    method: "PATCH",
    path: "/api/mcp-servers/{name}",
    needs: "manage",
    says: "Changes one of your MCP servers. A new address counts as a new server: its tools are disabled until you approve them again, you are signed out, and headers must be entered again.",
    body: ChangedMcpServer,
    answers: { 200: McpServerView },
  },
  lookAtMcpServer: {
    method: "POST",
    path: "/api/mcp-servers/{name}/look",
    needs: "manage",
    says: "Lists the current tools of an MCP server. New and changed tools are disabled until they are approved.",
    answers: { 200: McpServerView },
  },
  decideMcpTool: {
    method: "POST",
    path: "/api/mcp-servers/{name}/tools",
    needs: "manage",
    says: "Approves a tool as you have seen it (`hash`), and sets whether it asks, runs without approval (`read`) or is `off`, and whether it may run again after a crash (`again`). For a server of the operator, this needs the scope admin; its other settings are in the operator's file.",
    body: McpDecision,
    answers: { 200: McpServerView },
  },
  beginMcpSignIn: {
    method: "POST",
    path: "/api/mcp-servers/{name}/sign-in",
    needs: "manage",
    says: "Starts your sign-in to an MCP server (OAuth) and returns the address to open. Each user signs in separately, also to servers of the operator.",
    body: McpSignInRequest,
    answers: { 200: z.object({ url: z.string() }) },
  },
  finishMcpSignIn: {
    method: "POST",
    path: "/api/mcp-sign-in",
    needs: "manage",
    says: "Completes a sign-in to an MCP server with the response in the browser's address, once, for the user who started it.",
    body: McpSignInAnswer,
    answers: { 200: McpServerView },
  },
  endMcpSignIn: {
    method: "DELETE",
    path: "/api/mcp-servers/{name}/sign-in",
    needs: "manage",
    says: "Deletes your sign-in tokens for an MCP server.",
    answers: { 204: null },
  },
  removeMcpServer: {
    method: "DELETE",
    path: "/api/mcp-servers/{name}",
    needs: "manage",
    says: "Deletes one of your MCP servers, with the settings of its tools.",
    answers: { 204: null },
  },
})
