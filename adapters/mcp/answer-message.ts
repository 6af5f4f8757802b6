import { randomUUID, createHash } from "node:crypto"
import { createMcpHandler, McpServer, type ServerContext } from "@modelcontextprotocol/server"
import type { Context } from "hono"
import {
  type Caller,
  type Env,
  findBaseUrl,
  type McpMessage,
  type ServerPorts,
  toSentence,
} from "../../core/adapter.ts"
import { AppError, type MessageId, slotDigitsOf } from "../../core/protocol/index.ts"
import { toErrorResult, type McpResult, type McpToolCall, type McpTool } from "./tool.ts"
import { askAgent, listAgents } from "./ask.ts"
import { listConnections, queryDatabase, readSchema } from "./databases.ts"
import {
  listConversations,
  listProposals,
  readTranscript,
  readProposal,
  searchLibraryTool,
  searchNotesTool,
} from "./reading.ts"

export const serverTools: readonly McpTool[] = [
  askAgent,
  listAgents,
  listConversations,
  readTranscript,
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

/** Answers one message. Stateless, so that any node can answer, and clients of 2025 and 2026 are served alike. */
export async function answerMessage(c: Context<Env>, ports: ServerPorts, message: McpMessage): Promise<Response> {
  const caller = asProgram(c.get("caller"))
  const page = findBaseUrl(c, ports.address) ?? ""
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
      // No list changes, so subscriptions would only hold connections open.
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

/** A label for one client, which sends it with each message. It only identifies calls in progress. */
const SESSION = "mcp-session-id"

/** The same bytes; `close` is called once when they are read, cancelled or failed. */
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

/** A program cannot approve: whatever its token allows, its requests approve nothing. */
const asProgram = (caller: Caller): Caller => ({
  ...caller,
  scopes: new Set([...caller.scopes].filter((scope) => scope === "read" || scope === "chat")),
})

function serverFor(ports: ServerPorts, call: Omit<McpToolCall, "signal" | "progress">): McpServer {
  const server = new McpServer(
    { name: "pawl", title: "Pawl", version: ports.version },
    { capabilities: { tools: { listChanged: false } }, instructions: INSTRUCTIONS },
  )
  for (const tool of serverTools) {
    if (!call.caller.scopes.has(tool.needs)) continue
    const { name, title, description, input, reads } = tool
    const annotations = reads ? { readOnlyHint: true, openWorldHint: false } : { destructiveHint: false }
    server.registerTool(
      name,
      { title, description, inputSchema: briefIssues(input), annotations },
      async (args, context) => ({
        ...(await runTool(tool, args, { ...call, ...reportingOf(context) })),
      }),
    )
  }
  return server
}

/** The library sends every issue to the client, so issues are shortened and limited to ten. */
function briefIssues<Input extends McpTool["input"]>(input: Input) {
  const standard = input["~standard"]
  return {
    "~standard": {
      ...standard,
      validate: async (value: unknown) => {
        const checked = await standard.validate(value)
        return checked.issues
          ? { issues: checked.issues.slice(0, 10).map((issue) => ({ message: toSentence(issue) })) }
          : checked
      },
    },
  }
}

async function runTool(tool: McpTool, args: unknown, call: McpToolCall): Promise<McpResult> {
  try {
    return await tool.run(args as never, call)
  } catch (error) {
    if (!(error instanceof AppError)) call.ports.log.error("mcp_tool_failed", { tool: tool.name, error })
    return toErrorResult(error)
  }
}

function reportingOf({ mcpReq }: ServerContext): Pick<McpToolCall, "signal" | "progress"> {
  const progressToken = mcpReq._meta?.progressToken
  let count = 0
  return {
    signal: mcpReq.signal,
    async progress(message) {
      if (progressToken === undefined || mcpReq.signal.aborted) return
      count++
      const params = { progressToken, progress: count, message }
      // A disconnected client is reported by the signal; the notification must not fail the call.
      await mcpReq.notify({ method: "notifications/progress", params }).catch(() => {})
    },
  }
}

/**
 * The calls in progress of this server's clients of 2025, so that a cancellation finds its call. Request ids count from zero
 * in each client; the session label keeps clients of one token apart.
 */
const openAt = new WeakMap<ServerPorts, Map<string, AbortController>>()

/** Most conversations to search; a running one is among the newest. */
const LOOKED_AT = 50

/** Identifies a call. */
interface NamedCall {
  readonly caller: Caller
  readonly session: string | undefined
  readonly id: unknown
}

/** A signal that aborts when the call is cancelled; `close` forgets it. Without a label a call cannot be cancelled. */
function openCall(ports: ServerPorts, call: NamedCall): { readonly signal: AbortSignal; close(): void } {
  const controller = new AbortController()
  const name = nameOf(call)
  const open = openAt.get(ports) ?? new Map<string, AbortController>()
  openAt.set(ports, open)
  if (name === undefined || open.has(name)) return { signal: controller.signal, close() {} }
  open.set(name, controller)
  return { signal: controller.signal, close: () => void open.delete(name) }
}

/**
 * Cancels a call, here or on another node, where its run is found by the message id. A call with an idempotency key has
 * another message id and is not found.
 */
async function cancelCall(ports: ServerPorts, call: NamedCall): Promise<void> {
  const here = openAt.get(ports)?.get(nameOf(call) ?? "")
  if (here) return here.abort()
  const message = messageOfCall(call)
  const user = call.caller.person.id
  if (message === undefined || !call.caller.scopes.has("chat")) return
  const { conversations, journal, runtime } = ports
  for (const { id, status } of (await conversations.list(user, { limit: LOOKED_AT })).items) {
    const place = status === "running" ? await conversations.placeOf(id, message) : undefined
    if (typeof place !== "number") continue
    const start = await conversations.runStart(id, place)
    const [started] = await journal.read(id, { after: start - 1, upTo: start })
    if (started?.type !== "run_started" || !("runId" in started)) continue
    return void (await runtime.submit(id, { type: "cancel", by: user, run: started.runId }))
  }
}

/** The id of a call's message, the same on every node; undefined if the call cannot be cancelled. */
function messageOfCall(call: NamedCall): MessageId | undefined {
  const name = nameOf(call)
  if (name === undefined) return undefined
  const digits = createHash("sha256").update(name).digest("hex").slice(0, 18)
  return `msg_${digits}${slotDigitsOf(call.caller.person.id)}` as MessageId
}

function nameOf({ caller, session, id }: NamedCall): string | undefined {
  if (session === undefined || (typeof id !== "string" && typeof id !== "number")) return undefined
  return JSON.stringify([caller.credential.id, session, id])
}
