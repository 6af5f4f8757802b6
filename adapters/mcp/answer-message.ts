import { randomUUID, createHash } from "node:crypto"
import { createMcpHandler, McpServer, type ServerContext } from "@modelcontextprotocol/server"
import type { Context } from "hono"
import { toSentence, type Caller, knownBase, type Env, type ServerPorts } from "../../core/adapter.ts"
import { toErrorResult, type McpResult, type McpToolCall, type McpTool } from "./tool.ts"
import { AppError } from "../../core/protocol/errors.ts"
import type { McpMessage } from "../../core/protocol/dialects/mcp.ts"
import { askAgent, listAgents } from "./ask.ts"
import { listConnections, queryDatabase, readSchema } from "./databases.ts"
import {
  listConversations,
  listProposals,
  readConversation,
  readProposal,
  searchLibraryTool,
  searchNotesTool,
} from "./reading.ts"
import { type MessageId, slotDigitsOf } from "../../core/protocol/ids.ts"

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
export async function answerMessage(c: Context<Env>, ports: ServerPorts, message: McpMessage): Promise<Response> {
  const caller = asProgram(c.get("caller"))
  const page = knownBase(c, ports.address) ?? ""
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
      async (given, context) => ({
        ...(await runTool(tool, given, { ...call, ...toldOf(context) })),
      }),
    )
  }
  return server
}

/** The same schema. The library sends every issue to the client, so each is short and there are at most ten. */
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

/**
 * Calls of clients of 2025 that are being answered by this server, so that a message that takes one back finds it. Their
 * numbers count from zero in each client: a label that we hand out with the handshake tells clients of one token apart.
 */
const openAt = new WeakMap<ServerPorts, Map<string, AbortController>>()

/** Of the newest conversations: one that is at work is among them. */
const LOOKED_AT = 50

/** Which call a message is about. */
export interface NamedCall {
  readonly caller: Caller
  readonly session: string | undefined
  readonly id: unknown
}

/** A signal that says that the call was taken back; forgotten by `close`. Without a label nobody can take it back. */
export function openCall(ports: ServerPorts, call: NamedCall): { readonly signal: AbortSignal; close(): void } {
  const controller = new AbortController()
  const name = nameOf(call)
  const open = openAt.get(ports) ?? new Map<string, AbortController>()
  openAt.set(ports, open)
  if (name === undefined || open.has(name)) return { signal: controller.signal, close() {} }
  open.set(name, controller)
  return { signal: controller.signal, close: () => void open.delete(name) }
}

/**
 * Takes a call back: here, or where another node answers it, whose run is found by its words. Those of a call with a key
 * have the key's name, and are not found there.
 */
export async function cancelCall(ports: ServerPorts, call: NamedCall): Promise<void> {
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

/** The name of the words of a call, the same on every node; undefined where nobody can take it back. */
export function messageOfCall(call: NamedCall): MessageId | undefined {
  const name = nameOf(call)
  if (name === undefined) return undefined
  const digits = createHash("sha256").update(name).digest("hex").slice(0, 18)
  return `msg_${digits}${slotDigitsOf(call.caller.person.id)}` as MessageId
}

function nameOf({ caller, session, id }: NamedCall): string | undefined {
  if (session === undefined || (typeof id !== "string" && typeof id !== "number")) return undefined
  return JSON.stringify([caller.credential.id, session, id])
}
