import { randomUUID } from "node:crypto"
import { createMcpHandler, McpServer, type ServerContext } from "@modelcontextprotocol/server"
import type { Context } from "hono"
import { toErrorResult, type McpResult } from "../../../dialects/mcp/result.ts"
import { AppError } from "../../../protocol/errors.ts"
import type { McpMessage } from "../../../protocol/dialects/mcp.ts"
import type { Caller } from "../../door/ports.ts"
import { publicBase } from "../../door/public-base.ts"
import type { Env } from "../../door/request-env.ts"
import { askAgent, listAgents } from "./ask.ts"
import { cancelCall, messageOfCall, openCall } from "./cancelled-calls.ts"
import { listConnections, queryDatabase, readSchema } from "./databases.ts"
import type { McpServerPorts } from "./ports.ts"
import { listConversations, listProposals, readConversation, readProposal } from "./reading.ts"
import { searchLibraryTool, searchNotesTool } from "./searching.ts"
import type { McpToolCall, McpTool } from "./tool.ts"

export const serverTools: readonly McpTool[] = [
  askAgent,
  listAgents,
  listConversations,
  readConversation,
  listProposals,
  readProposal,
  searchNotesTool,
  searchLibraryTool,
  listConnections,
  readSchema,
  queryDatabase,
]

const INSTRUCTIONS =
  "Pawl works on the data of one person. Ask an agent for anything that changes something: a change is proposed and " +
  "waits until that person decides in Pawl; no tool here decides. Tell the person what waits and where."

/**
 * Answers one message. Each stands for itself: nothing is kept between two of them, so that any node can answer any, and
 * clients of 2025 and of 2026 are served alike.
 */
export async function answerMessage(c: Context<Env>, ports: McpServerPorts, message: McpMessage): Promise<Response> {
  const caller = asProgram(c.get("caller"))
  const page = publicBase(c, ports.address)
  const session = c.req.header(SESSION)
  const { method, params } = message as {
    readonly method?: unknown
    readonly params?: { readonly requestId?: unknown }
  }
  if (method === "notifications/cancelled") await cancelCall(ports, { caller, session, id: params?.requestId })
  const call = { caller, session, id: message.id }
  const { signal: cancelled, close } = openCall(ports, call)
  const words = messageOfCall(call)
  const handler = createMcpHandler(
    ({ era }) => serverFor(ports, { caller, page, ports, cancelled, words, hangingUpCancels: era === "modern" }),
    {
      // Nothing here changes in a way that is told: a stream for that would be one more to hold open for nothing.
      maxSubscriptions: 0,
      onerror: (error) => ports.log.info("mcp_refused", { error: error.message.slice(0, 200) }),
    },
  )
  const answered = handler.fetch(c.req.raw, { parsedBody: message })
  const { status, headers, body } = await answered.catch((error: unknown) => {
    close()
    throw error
  })
  if (!body) close()
  if (method === "initialize" && status === 200) headers.set(SESSION, randomUUID())
  return c.newResponse(body && onceOver(body, close), status as 200, Object.fromEntries(headers))
}

/** A label of one client, which sends it with each message. Nothing is kept under it but the calls that are being answered. */
const SESSION = "mcp-session-id"

/** The same bytes; `close` is called when all are read, nobody wants more, or there are no more to be had. */
function onceOver(body: ReadableStream<Uint8Array>, close: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          close()
          throw error
        })
        if (!done) return controller.enqueue(value)
        close()
        controller.close()
      },
      cancel(reason) {
        close()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** A program is no place where a person agrees: whatever its token allows, nothing that it does here approves. */
const asProgram = (caller: Caller): Caller => ({
  ...caller,
  scopes: new Set([...caller.scopes].filter((scope) => scope === "read" || scope === "chat")),
})

function serverFor(ports: McpServerPorts, call: Omit<McpToolCall, "signal" | "progress">): McpServer {
  const server = new McpServer(
    { name: "pawl", title: "Pawl", version: ports.version },
    { capabilities: { tools: { listChanged: false } }, instructions: INSTRUCTIONS },
  )
  for (const tool of serverTools) {
    if (!call.caller.scopes.has(tool.needs)) continue
    const { name, title, description, input, reads } = tool
    const annotations = reads ? { readOnlyHint: true, openWorldHint: false } : { destructiveHint: false }
    server.registerTool(name, { title, description, inputSchema: input, annotations }, async (given, context) => ({
      ...(await runTool(tool, given, { ...call, ...toldOf(context) })),
    }))
  }
  return server
}

async function runTool(tool: McpTool, given: unknown, call: McpToolCall): Promise<McpResult> {
  try {
    return await tool.run(given as never, call)
  } catch (error) {
    if (!(error instanceof AppError)) call.ports.log.error("mcp_tool_failed", { tool: tool.name, error })
    return toErrorResult(error)
  }
}

function toldOf({ mcpReq }: ServerContext): Pick<McpToolCall, "signal" | "progress"> {
  const progressToken = mcpReq._meta?.progressToken
  let told = 0
  return {
    signal: mcpReq.signal,
    async progress(message) {
      if (progressToken === undefined || mcpReq.signal.aborted) return
      told++
      const params = { progressToken, progress: told, message }
      // Whoever has just hung up hears nothing: what follows of that is for the signal to say, not for this to break off.
      await mcpReq.notify({ method: "notifications/progress", params }).catch(() => {})
    },
  }
}
