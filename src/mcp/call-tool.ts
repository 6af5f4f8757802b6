import type { Clock } from "../agent/clock.ts"
import type { JoinedTool } from "../agent/definition/joined-tools.ts"
import { type Answer, type CallContext, failed } from "../agent/definition/tool.ts"
import { codeOf, failure, hasCode } from "../protocol/errors.ts"
import type { JsonObject } from "../protocol/schema.ts"
import { askInCall } from "./ask-in-call.ts"
import { callAsTask, hasTask } from "./call-as-task.ts"
import { isForgotten, type McpConnection } from "./connection/connection.ts"
import type { ConnectionPool } from "./connection/pool.ts"
import { problemOf } from "./connection/problem-of.ts"
import { isSignInError } from "./connection/request-auth.ts"
import type { McpPins, PinnedMcpTool } from "../protocol/ports/mcp.ts"
import type { McpServer } from "./definition/server.ts"
import { hashOf } from "./definition/tool-facts.ts"
import { isAgreed, ruleOf } from "./offered-tools.ts"
import { toProgress } from "./progress.ts"
import { type ResultFileKeeper, toAnswer } from "./result.ts"

export interface Calling {
  readonly pool: ConnectionPool
  readonly pins: McpPins
  readonly files: ResultFileKeeper
  readonly clock: Clock
}

/** More than the loop waits: it stops the call first, and says what became of it. */
const MARGIN_MS = 5000
/** While a person is asked the loop does not count, and the library would. */
const ASKING_MS = 30 * 60_000

/**
 * Calls a tool as it was agreed to, or says why not. What a server does to a call costs that call: a write of which it does
 * not tell the end is in doubt, anything else an error that the model can read.
 */
export async function callTool(
  { pool, pins, files, clock }: Calling,
  server: McpServer,
  { joined, input, context }: { joined: JoinedTool; input: JsonObject; context: CallContext },
): Promise<Answer> {
  const { user, signal } = context
  const refused = whyDecidedOtherwise(server, joined, await pins.read(server.key))
  if (refused) return notCalled(joined, context, refused)
  let isSent = false
  // Also the tokens that were sent: a server that fails may repeat them.
  let { secrets } = server
  const mayRepeat = joined.effect === "read" || joined.afterCrash === "run-again"
  const attempt = () =>
    pool.use({ server, user, signal }, async (connection, isReused) => {
      // Whether it still knows us is learnt by asking for the list: a write is not sent to find out.
      if (isReused && !mayRepeat) connection.forgetList()
      const changed = await whyChanged(connection, joined, { server, pins, context }).catch((error: unknown) => {
        if (isReused && connection.isClosed && !signal.aborted) return "forgotten" as const
        throw error
      })
      if (changed === "forgotten") return undefined
      if (changed) return notCalled(joined, context, changed)
      const timeoutMs = joined.timeoutSeconds * 1000 + MARGIN_MS + (context.lasting?.ask ? ASKING_MS : 0)
      const asTask = taskOf(connection, { joined, context, clock })
      // What was begun as a task is never called anew: it may be done already.
      if (!asTask && hasTask(context) && !mayRepeat) return notCalled(joined, context, NO_TASKS)
      isSent = true
      try {
        const called = { tool: joined.tool, input, signal, timeoutMs }
        const onProgress = (told: unknown) => context.progress?.(toProgress(told, connection.secrets))
        const result = await connection.asking(
          askInCall({ server: server.name, tool: joined.tool, secrets: () => connection.secrets }, context),
          () =>
            asTask
              ? callAsTask(asTask.tasks, { ...called, ...asTask, onProgress })
              : connection.call({ ...called, onProgress }),
        )
        return await toAnswer(result, { tool: joined.tool, secrets: connection.secrets, call: context, files })
      } catch (thrown) {
        secrets = connection.secrets
        const error = await connection.judged(thrown)
        if (isAnswered(error)) return failed(problemOf(error, { secrets }))
        // Refused at the door: nothing was begun, and the person can do something about it.
        if (isSignInError(error)) return notCalled(joined, context, error.message)
        if (codeOf(error) === "outcome_unknown") throw error
        const closed = connection.close()
        signal.throwIfAborted() // whoever has cancelled does not wait for a server to hear of it
        await closed
        // A task goes on over there: over another connection it can be asked for its result.
        if (hasTask(context)) return undefined
        // By the protocol it has taken nothing then. But a proxy may have given the call to two servers, of which one has
        // done it: what must not be done twice is in doubt.
        if (!isReused || !isForgotten(error) || !mayRepeat) throw error
        isSent = false
        return undefined
      }
    })
  try {
    return (await attempt()) ?? (await attempt()) ?? notCalled(joined, context, NOT_KEPT)
  } catch (error) {
    signal.throwIfAborted()
    if (isSignInError(error)) return notCalled(joined, context, error.message)
    if (!isSent && isUnreached(error)) return notCalled(joined, context, (error as Error).message)
    const problem = problemOf(error, { secrets })
    if (codeOf(error) === "outcome_unknown") return notCalled(joined, context, (error as Error).message)
    if (joined.effect === "write" && isSent)
      throw failure("outcome_unknown", { problem: `The MCP server did not tell how it ended: ${problem}.` })
    return failed(failure("mcp_server_failed", { problem }).message)
  }
}

/** No connection was had: a server that failed, or an address at which people may reach nothing. */
const isUnreached = (error: unknown): boolean =>
  hasCode(error, "mcp_server_failed") || hasCode(error, "host_not_allowed")

const NO_TASKS = "The MCP server cannot be asked for its task any more: it has none now."

const NOT_KEPT = "It does not keep a connection open. Try again later."

/** A write of which a task was begun, by this process or by one before it, may be done whatever keeps us from asking for it. */
export function notCalled(joined: JoinedTool, context: CallContext, why: string): Answer {
  if (joined.effect === "write" && hasTask(context)) throw failure("outcome_unknown", { problem: why })
  return failed(why)
}

/** What a call as a task needs; undefined for one that is none. */
function taskOf(
  { tasks }: McpConnection,
  { joined, context: { lasting }, clock }: { joined: JoinedTool; context: CallContext; clock: Clock },
) {
  const { taskSeconds, afterCrash } = joined
  if (!tasks || taskSeconds === undefined || !lasting) return undefined
  return { tasks, lasting, clock, taskMs: taskSeconds * 1000, mayCallAgain: afterCrash === "run-again" }
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
