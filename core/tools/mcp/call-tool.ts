import type { JoinedTool } from "../../engine/definition/joined-tools.ts"
import type { Schema } from "../../engine/definition/schema.ts"
import {
  type Answer,
  type CallContext,
  defineTool,
  failed,
  type LastingCall,
  type Preview,
  type Tool,
} from "../../engine/definition/tool.ts"
import type { McpPins, PinnedMcpTool } from "../../engine/mcp.ts"
import { codeOf, failure, hasCode } from "../../protocol/errors.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { quote } from "../../shared/text/quote.ts"
import { type Clock, sleep } from "../../shared/time/clock.ts"
import { askInCall } from "./ask-in-call.ts"
import { isSignInError, problemOf } from "./connection/connect.ts"
import { isForgotten, type McpConnection } from "./connection/connection.ts"
import type { ConnectionPool } from "./connection/pool.ts"
import type { TaskRequests } from "./connection/task-requests.ts"
import { hashOf, type McpServer } from "./definition/server.ts"
import { isAgreed, ruleOf } from "./offered-tools.ts"
import { type ResultFileKeeper, toAnswer, toProgress } from "./result.ts"

interface Calling {
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
      const asking = askInCall({ server: server.name, tool: joined.tool, secrets: () => connection.secrets }, context)
      try {
        const called = { tool: joined.tool, input, signal, timeoutMs }
        const onProgress = (told: unknown) => context.progress?.(toProgress(told, connection.secrets))
        const result = await connection.asking(asking, () =>
          asTask
            ? callAsTask(asTask.tasks, { ...called, ...asTask, onProgress })
            : connection.call({ ...called, onProgress }),
        )
        const answering = { tool: joined.tool, secrets: connection.secrets, call: context, files }
        return withRemarks(await toAnswer(result, answering), asking.unaskable)
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

/** Says what the person of the call was not asked: the server may not. */
const withRemarks = (answer: Answer, unaskable: readonly string[]): Answer => {
  const remarks = [...new Set(unaskable)].map(
    (why) => `\n\n[The server has asked something that cannot be shown. ${why}]`,
  )
  return remarks.length === 0 ? answer : { ...answer, text: answer.text + remarks.join("") }
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
  "Not called: the server has changed this tool since it was approved. Tell the person that they or the operator must review it in the settings, or with `pawl mcp`."

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

/** How often a server is asked: as it says itself, within these. */
const LEAST_POLL_MS = 500
const MAX_POLL_MS = 30_000
const USUAL_POLL_MS = 2000
const ASK_MS = 30_000
const CANCEL_MS = 1500
/** The server keeps a result for so long after the last moment at which somebody may ask for it. */
const KEEP_MS = 60_000
/** It may be away for a moment while it works: so many times in a row. */
const MAX_FAILURES = 5

interface CalledAsTask {
  readonly tool: string
  readonly input: JsonObject
  readonly lasting: LastingCall
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly timeoutMs: number
  readonly taskMs: number
  /** Hears what the server says of how far it is. */
  onProgress(told: unknown): void
  /** Nothing is known of a task of an earlier life: whether the tool may be called once more. */
  readonly mayCallAgain: boolean
}

interface KeptTask {
  readonly taskId: string
  /** Until when it is waited for. */
  readonly until: number
}

/**
 * Calls a tool as a task and gives its result. The id of the task is on record before anybody waits for it, so that after a
 * crash, and on another node, the same task is asked for its result and the tool is not called again.
 */
async function callAsTask(tasks: TaskRequests, called: CalledAsTask): Promise<unknown> {
  const { lasting } = called
  const known = toKept(lasting.kept)
  if (known) {
    const found = await lasting.wait(() => followTask(tasks, known, called))
    if (found !== FORGOTTEN) return found
    if (!called.mayCallAgain) throw failure("outcome_unknown", { problem: `The MCP server ${FORGOTTEN}.` })
  }
  const { tool, input, signal, clock, timeoutMs, taskMs } = called
  const started = await tasks.start({ tool, input, ttlMs: taskMs + KEEP_MS }, { signal, timeoutMs })
  if ("result" in started) return started.result
  const { taskId, ttl } = started.task
  const kept = { taskId, until: clock.now() + Math.min(taskMs, ttl ?? taskMs) }
  await lasting.keep(kept)
  const result = await lasting.wait(() => followTask(tasks, kept, called))
  if (result !== FORGOTTEN) return result
  throw failure("outcome_unknown", { problem: `The MCP server ${FORGOTTEN}.` })
}

const FORGOTTEN = "does not know its own task any more"

async function followTask(tasks: TaskRequests, { taskId, until }: KeptTask, called: CalledAsTask): Promise<unknown> {
  const { signal, clock } = called
  for (let failures = 0; ;) {
    if (signal.aborted) return stopTask(tasks, taskId, signal)
    const left = until - clock.now()
    if (left <= 0) return endTask(tasks, taskId)
    let pollMs = USUAL_POLL_MS
    let isThere = false
    try {
      const {
        status,
        statusMessage,
        pollInterval = USUAL_POLL_MS,
      } = await tasks.state(taskId, {
        signal,
        timeoutMs: ASK_MS,
      })
      if (status === "working" && statusMessage !== undefined) called.onProgress({ message: statusMessage })
      isThere = true
      // What it needs to know it asks while somebody waits for the result.
      if (status !== "working") return await tasks.result(taskId, { signal, timeoutMs: left })
      failures = 0
      pollMs = Math.min(MAX_POLL_MS, Math.max(LEAST_POLL_MS, pollInterval))
    } catch (error) {
      if (signal.aborted) continue
      if (!isThere && isUnknownTask(error)) return FORGOTTEN
      if (isAnswered(error) || isForgottenTask(error) || ++failures >= MAX_FAILURES) throw error
    }
    await sleep(clock, Math.min(pollMs, left), signal)
  }
}

/** A process that goes down leaves the task to the next one; whoever has cancelled the run wants it to end. */
async function stopTask(tasks: TaskRequests, taskId: string, signal: AbortSignal): Promise<never> {
  if (signal.reason !== "shutdown") await tasks.cancel(taskId, { timeoutMs: CANCEL_MS }).catch(() => {})
  throw signal.reason
}

/** One that never ends costs one call. Whether it was stopped in time only its server knows. */
async function endTask(tasks: TaskRequests, taskId: string): Promise<never> {
  await tasks.cancel(taskId, { timeoutMs: CANCEL_MS }).catch(() => {})
  throw failure("outcome_unknown", {
    problem: "The MCP server's task exceeded its time limit, and was cancelled.",
  })
}

/** Whether a task was begun for this call. */
const hasTask = ({ lasting }: Pick<CallContext, "lasting">): boolean => toKept(lasting?.kept) !== undefined

function toKept(kept: JsonObject | undefined): KeptTask | undefined {
  const { taskId, until } = kept ?? {}
  return typeof taskId === "string" && typeof until === "number" ? { taskId, until } : undefined
}

/** It does not know our session any more; another one may still ask for the task. */
const isForgottenTask = (error: unknown): boolean => (error as { status?: unknown })?.status === 404

/** Invalid params: of the two that are sent only the id can be meant. */
const isUnknownTask = (error: unknown): boolean => isAnswered(error) && (error as { code?: unknown }).code === -32_602

/** What a tool that has joined is called with. All that it needs to be shown is on record; this is for its calls. */
interface JoinedCalls {
  call(joined: JoinedTool, input: JsonObject, context: CallContext): Promise<Answer>
  /** Reads a stranger's JSON schema, and refuses one with which an argument could keep us busy. */
  readSchema(json: JsonObject, person: UserId): Promise<Schema<unknown>>
}

const MAX_OUTPUT = 30_000

/**
 * A tool of somebody else's server as one of ours. A write is always shown as the worst that it could be: what its server
 * says of it is what somebody says who may gain from being believed.
 */
export function createJoinedTool(joined: JoinedTool, user: UserId, calls: JoinedCalls): Tool {
  const { name, description, inputSchema, brings, timeoutSeconds, server, tool, hash } = joined
  const common = {
    ...{ name, description, timeoutSeconds },
    taint: brings === "outside" ? ("untrusted" as const) : brings,
    egress: true as const,
    maxOutput: MAX_OUTPUT,
    input: schemaOf(inputSchema, user, calls),
    run: (input: JsonObject, context: CallContext) => calls.call(joined, input, context),
  }
  const words = `Use the tool ${quote(tool)} of the MCP server ${quote(serverOf(name))}`
  if (joined.effect === "read")
    return defineTool<JsonObject>({ ...common, effect: "read", afterCrash: joined.afterCrash, sending: () => words })
  return defineTool<JsonObject>({
    ...common,
    effect: "write",
    afterCrash: joined.afterCrash,
    inverse: false,
    preview: (): Preview => ({
      summary: words,
      action: "destructive_update",
      // What was agreed to is this definition of it: with another one the proposal is stale.
      target: `mcp ${server} ${tool}`,
      revision: hash,
    }),
  })
}

const serverOf = (name: string): string => name.split("__", 1)[0] ?? ""

function schemaOf(json: JsonObject, user: UserId, calls: JoinedCalls): Schema<JsonObject> {
  return {
    "~standard": {
      validate: async (value) => {
        const schema = (await calls.readSchema(json, user)) as Schema<JsonObject>
        return schema["~standard"].validate(value)
      },
      jsonSchema: { input: () => json },
    },
  }
}
