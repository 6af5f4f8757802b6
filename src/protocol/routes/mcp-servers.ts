import { z } from "zod"
import {
  ChangedMcpServer,
  McpDecision,
  McpServerView,
  McpSignInAnswer,
  McpSignInRequest,
  NewMcpServer,
} from "../mcp-servers.ts"
import { defineRoutes } from "./route.ts"
import { lazily } from "../lazily.ts"

/** MCP servers whose tools agents may have: those of the operator, and a person's own. */
export const mcpServerRoutes = defineRoutes({
  listMcpServers: {
    method: "GET",
    path: "/api/mcp-servers",
    needs: "read",
    says: "The MCP servers whose tools your agents may have, with what is decided about each tool.",
    answers: { 200: lazily(() => z.object({ items: z.array(McpServerView) })) },
  },
  addMcpServer: {
    method: "POST",
    path: "/api/mcp-servers",
    needs: "manage",
    says: "Names an MCP server of your own, over streamable HTTP. It is asked for its tools first; each of them asks you before it is used. What its headers hold is encrypted and never shown again.",
    body: NewMcpServer,
    answers: { 201: McpServerView },
  },
  changeMcpServer: {
    method: "PATCH",
    path: "/api/mcp-servers/{name}",
    needs: "manage",
    says: "Changes an MCP server of yours. With another address it is another server: its tools are held back until you agree to them again, your sign-in ends, and headers have to be given again.",
    body: ChangedMcpServer,
    answers: { 200: McpServerView },
  },
  lookAtMcpServer: {
    method: "POST",
    path: "/api/mcp-servers/{name}/look",
    needs: "manage",
    says: "Asks an MCP server what it offers now. What has come or changed waits for somebody to agree.",
    answers: { 200: McpServerView },
  },
  decideMcpTool: {
    method: "POST",
    path: "/api/mcp-servers/{name}/tools",
    needs: "manage",
    says: "Agrees to a tool as you have seen it (`hash`), and says whether it asks, runs unasked (`read`) or is `off`, and whether it may run again after a crash (`again`). For a server of the operator it takes an admin, and the rest stands in the file.",
    body: McpDecision,
    answers: { 200: McpServerView },
  },
  beginMcpSignIn: {
    method: "POST",
    path: "/api/mcp-servers/{name}/sign-in",
    needs: "manage",
    says: "Begins to sign you in to an MCP server that wants it (OAuth): the answer is where your browser goes. Each person signs in for themselves, also to a server of the operator.",
    body: McpSignInRequest,
    answers: { 200: lazily(() => z.object({ url: z.string() })) },
  },
  finishMcpSignIn: {
    method: "POST",
    path: "/api/mcp-sign-in",
    needs: "manage",
    says: "Finishes a sign-in to an MCP server with the answer that your browser was sent back with, once, for the person who began it.",
    body: McpSignInAnswer,
    answers: { 200: McpServerView },
  },
  endMcpSignIn: {
    method: "DELETE",
    path: "/api/mcp-servers/{name}/sign-in",
    needs: "manage",
    says: "Forgets the tokens with which you are signed in to an MCP server.",
    answers: { 204: null },
  },
  removeMcpServer: {
    method: "DELETE",
    path: "/api/mcp-servers/{name}",
    needs: "manage",
    says: "Forgets an MCP server of yours, with what was decided about its tools.",
    answers: { 204: null },
  },
})
