import type { JoinedTool } from "../agent/definition/joined-tools.ts"
import { type Answer, type CallContext, failed } from "../agent/definition/tool.ts"
import { codeOf, failure } from "../protocol/errors.ts"
import type { JsonObject } from "../protocol/schema.ts"
import type { McpConnection } from "./connection/connection.ts"
import type { ConnectionPool } from "./connection/pool.ts"
import { problemOf } from "./connection/problem-of.ts"
import type { McpPins, PinnedMcpTool } from "../protocol/ports/mcp.ts"
import type { McpServer } from "./definition/server.ts"
import { hashOf } from "./definition/tool-facts.ts"
import { isAgreed, ruleOf } from "./offered-tools.ts"
import { type ResultFileKeeper, toAnswer } from "./result.ts"

export interface Calling {
  readonly pool: ConnectionPool
  readonly pins: McpPins
  readonly files: ResultFileKeeper
}

/** More than the loop waits: it stops the call first, and says what became of it. */
const MARGIN_MS = 5000

/**
 * Calls a tool as it was agreed to, or says why not. What a server does to a call costs that call: a write of which it does
 * not tell the end is in doubt, anything else an error that the model can read.
 */
export async function callTool(
  { pool, pins, files }: Calling,
  server: McpServer,
  { joined, input, context }: { joined: JoinedTool; input: JsonObject; context: CallContext },
): Promise<Answer> {
  const { user, signal } = context
  const refused = whyDecidedOtherwise(server, joined, await pins.read(server.key))
  if (refused) return failed(refused)
  let isSent = false
  const attempt = () =>
    pool.use({ server, user, signal }, async (connection, isReused) => {
      const changed = await whyChanged(connection, joined, { server, pins, context })
      if (changed) return failed(changed)
      const timeoutMs = joined.timeoutSeconds * 1000 + MARGIN_MS
      isSent = true
      try {
        const result = await connection.call({ tool: joined.tool, input, signal, timeoutMs })
        return await toAnswer(result, { tool: joined.tool, secrets: server.secrets, call: context, files })
      } catch (error) {
        if (isAnswered(error)) return failed(problemOf(error, server))
        await connection.close()
        if (!isReused || !isForgotten(error)) throw error
        isSent = false // it does not know us any more, and has taken nothing
        return undefined
      }
    })
  try {
    return (await attempt()) ?? (await attempt()) ?? failed("It does not keep a connection open. Try again later.")
  } catch (error) {
    signal.throwIfAborted()
    if (codeOf(error) === "mcp_server_failed" && !isSent) return failed((error as Error).message)
    const problem = problemOf(error, server)
    if (joined.effect === "write" && isSent)
      throw failure("outcome_unknown", { problem: `The MCP server did not tell how it ended: ${problem}.` })
    return failed(failure("mcp_server_failed", { problem }).message)
  }
}

/** What somebody has decided since this list was made: it holds at once, not from the next run on. */
function whyDecidedOtherwise(
  server: McpServer,
  joined: JoinedTool,
  pinned: readonly PinnedMcpTool[],
): string | undefined {
  const pin = pinned.find(({ tool }) => tool === joined.tool)
  if (!pin || !isAgreed(pin) || pin.agreed?.hash !== joined.hash) return CHANGED
  const rule = ruleOf(server, pin)
  if (rule === "off") return "This tool has been switched off. Do without it."
  if (rule === "ask" && joined.effect === "read")
    return "It has been decided that a person is asked before this tool is used. It can be used from the next message on."
  return undefined
}

const CHANGED =
  "Not called: what its server says of this tool is not what somebody has agreed to. Tell the person that they, or the operator, have to look at it again: in the settings, or with `pawl mcp`."

async function whyChanged(
  connection: McpConnection,
  { tool, hash }: JoinedTool,
  { server, pins, context }: { server: McpServer; pins: McpPins; context: CallContext },
): Promise<string | undefined> {
  const tools = await connection.tools(context.signal)
  const facts = tools.get(tool)
  if (facts && hashOf(facts) === hash) return undefined
  const seen = [...tools.values()].map((each) => ({ hash: hashOf(each), facts: each }))
  await pins.see(server.key, server.isPersons ? context.user : null, seen)
  return facts ? CHANGED : "Its server does not offer this tool any more. Do without it."
}

/** The server itself has answered, with an error in words: it is done with this call. */
const isAnswered = (error: unknown): boolean => (error as { name?: unknown })?.name === "ProtocolError"

/** It has forgotten the session: nothing was begun. */
const isForgotten = (error: unknown): boolean => (error as { status?: unknown })?.status === 404
