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
import { isUnknownSession, type McpConnection } from "./connection/connection.ts"
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

/** Longer than the loop waits: the loop stops the call first and reports why. */
const MARGIN_MS = 5000
/** The loop's time limit pauses while a person is asked; the library's does not. */
const ASKING_MS = 30 * 60_000

/**
 * Calls a tool as it was approved, or explains why not. A fault of the server affects this call only: a write without a
 * result is in doubt, anything else is an error that the model can read.
 */
export async function callTool(
  { pool, pins, files, clock }: Calling,
  server: McpServer,
  { joined, input, context }: { joined: JoinedTool; input: JsonObject; context: CallContext },
): Promise<Answer> {
  const { user, signal } = context
  const refused = whyNotAllowed(server, joined, await pins.read(server.key))
  if (refused) return notCalled(joined, context, refused)
  let isSent = false
  // Including sent tokens: a failing server may repeat them.
  let { secrets } = server
  const mayRepeat = joined.effect === "read" || joined.afterCrash === "run-again"
  const attempt = () =>
    pool.use({ server, user, signal }, async (connection, isReused) => {
      // Listing the tools shows whether the server still knows the session. A write is not used to find out.
      if (isReused && !mayRepeat) connection.forgetList()
      const changed = await whyChanged(connection, joined, { server, pins, context }).catch((error: unknown) => {
        if (isReused && connection.isClosed && !signal.aborted) return "forgotten" as const
        throw error
      })
      if (changed === "forgotten") return undefined
      if (changed) return notCalled(joined, context, changed)
      const timeoutMs = joined.timeoutSeconds * 1000 + MARGIN_MS + (context.lasting?.ask ? ASKING_MS : 0)
      const asTask = taskOf(connection, { joined, context, clock })
      // A call that was started as a task is not started again: it may be done.
      if (!asTask && hasTask(context) && !mayRepeat) return notCalled(joined, context, NO_TASKS)
      isSent = true
      const asking = askInCall({ server: server.name, tool: joined.tool, secrets: () => connection.secrets }, context)
      try {
        const called = { tool: joined.tool, input, signal, timeoutMs }
        const onProgress = (notification: unknown) => context.progress?.(toProgress(notification, connection.secrets))
        const result = await connection.asking(asking, () =>
          asTask
            ? callAsTask(asTask.tasks, { ...called, ...asTask, onProgress })
            : connection.call({ ...called, onProgress }),
        )
        const answering = { tool: joined.tool, secrets: connection.secrets, call: context, files }
        return withRemarks(await toAnswer(result, answering), asking.unaskable)
      } catch (thrown) {
        secrets = connection.secrets
        const error = await connection.recordAuthError(thrown)
        if (isAnswered(error)) return failed(problemOf(error, { secrets }))
        // Refused before it started: nothing was done, and the person can sign in.
        if (isSignInError(error)) return notCalled(joined, context, error.message)
        if (codeOf(error) === "outcome_unknown") throw error
        const closed = connection.close()
        signal.throwIfAborted() // a cancelled run does not wait for the server
        await closed
        // The task continues on the server: another connection can fetch its result.
        if (hasTask(context)) return undefined
        // By the protocol a server without the session did nothing. But a proxy may have sent the call to two servers, so a
        // write that must not repeat is in doubt.
        if (!isReused || !isUnknownSession(error) || !mayRepeat) throw error
        isSent = false
        return undefined
      }
    })
  try {
    return (await attempt()) ?? (await attempt()) ?? notCalled(joined, context, NO_CONNECTION)
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

/** Appends which questions the person was not asked: the server may not report it. */
const withRemarks = (answer: Answer, unaskable: readonly string[]): Answer => {
  const remarks = [...new Set(unaskable)].map(
    (why) => `\n\n[The server has asked something that cannot be shown. ${why}]`,
  )
  return remarks.length === 0 ? answer : { ...answer, text: answer.text + remarks.join("") }
}

/** No connection: the server failed, or its address is not allowed. */
const isUnreached = (error: unknown): boolean =>
  hasCode(error, "mcp_server_failed") || hasCode(error, "host_not_allowed")

const NO_TASKS = "The MCP server cannot be asked for its task any more: it has none now."

const NO_CONNECTION = "It does not keep a connection open. Try again later."

/** A write with a started task may be applied, even if its status cannot be requested. */
export function notCalled(joined: JoinedTool, context: CallContext, why: string): Answer {
  if (joined.effect === "write" && hasTask(context)) throw failure("outcome_unknown", { problem: why })
  return failed(why)
}

/** The parameters of a call as a task; undefined for an ordinary call. */
function taskOf(
  { tasks }: McpConnection,
  { joined, context: { lasting }, clock }: { joined: JoinedTool; context: CallContext; clock: Clock },
) {
  const { taskSeconds, afterCrash } = joined
  if (!tasks || taskSeconds === undefined || !lasting) return undefined
  return { tasks, lasting, clock, taskMs: taskSeconds * 1000, mayCallAgain: afterCrash === "run-again" }
}

/** Decisions since the list was made take effect at once, not with the next run. */
function whyNotAllowed(server: McpServer, joined: JoinedTool, pinned: readonly PinnedMcpTool[]): string | undefined {
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

/** The server answered with a protocol error: the call is over. */
const isAnswered = (error: unknown): boolean => (error as { name?: unknown })?.name === "ProtocolError"

/** Bounds on the server's polling interval. */
const LEAST_POLL_MS = 500
const MAX_POLL_MS = 30_000
const DEFAULT_POLL_MS = 2000
const ASK_MS = 30_000
const CANCEL_MS = 1500
/** How long the server must keep a result after we stop asking for it. */
const KEEP_MS = 60_000
/** Most consecutive failures of polling. */
const MAX_FAILURES = 5

interface CalledAsTask {
  readonly tool: string
  readonly input: JsonObject
  readonly lasting: LastingCall
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly timeoutMs: number
  readonly taskMs: number
  /** Called with the server's progress. */
  onProgress(notification: unknown): void
  /** Whether the tool may be called again if the server no longer knows the task of an earlier process. */
  readonly mayCallAgain: boolean
}

interface StoredTask {
  readonly taskId: string
  /** When to stop waiting. */
  readonly until: number
}

/**
 * Calls a tool as a task and returns its result. The task id is recorded before waiting, so that after a crash, or on
 * another node, the same task is asked instead of calling the tool again.
 */
async function callAsTask(tasks: TaskRequests, called: CalledAsTask): Promise<unknown> {
  const { lasting } = called
  const known = toStoredTask(lasting.kept)
  if (known) {
    const found = await lasting.wait(() => followTask(tasks, known, called))
    if (found !== UNKNOWN_TASK) return found
    if (!called.mayCallAgain) throw failure("outcome_unknown", { problem: `The MCP server ${UNKNOWN_TASK}.` })
  }
  const { tool, input, signal, clock, timeoutMs, taskMs } = called
  const started = await tasks.start({ tool, input, ttlMs: taskMs + KEEP_MS }, { signal, timeoutMs })
  if ("result" in started) return started.result
  const { taskId, ttl } = started.task
  const stored = { taskId, until: clock.now() + Math.min(taskMs, ttl ?? taskMs) }
  await lasting.keep(stored)
  const result = await lasting.wait(() => followTask(tasks, stored, called))
  if (result !== UNKNOWN_TASK) return result
  throw failure("outcome_unknown", { problem: `The MCP server ${UNKNOWN_TASK}.` })
}

const UNKNOWN_TASK = "does not know its own task any more"

async function followTask(tasks: TaskRequests, { taskId, until }: StoredTask, called: CalledAsTask): Promise<unknown> {
  const { signal, clock } = called
  for (let failures = 0; ;) {
    if (signal.aborted) return stopTask(tasks, taskId, signal)
    const left = until - clock.now()
    if (left <= 0) return endTask(tasks, taskId)
    let pollMs = DEFAULT_POLL_MS
    let isThere = false
    try {
      const {
        status,
        statusMessage,
        pollInterval = DEFAULT_POLL_MS,
      } = await tasks.state(taskId, {
        signal,
        timeoutMs: ASK_MS,
      })
      if (status === "working" && statusMessage !== undefined) called.onProgress({ message: statusMessage })
      isThere = true
      // It asks its questions while a client waits for the result.
      if (status !== "working") return await tasks.result(taskId, { signal, timeoutMs: left })
      failures = 0
      pollMs = Math.min(MAX_POLL_MS, Math.max(LEAST_POLL_MS, pollInterval))
    } catch (error) {
      if (signal.aborted) continue
      if (!isThere && isUnknownTask(error)) return UNKNOWN_TASK
      if (isAnswered(error) || isUnknownSessionOfTask(error) || ++failures >= MAX_FAILURES) throw error
    }
    await sleep(clock, Math.min(pollMs, left), signal)
  }
}

/** A shutdown leaves the task to the next process; a cancelled run cancels it. */
async function stopTask(tasks: TaskRequests, taskId: string, signal: AbortSignal): Promise<never> {
  if (signal.reason !== "shutdown") await tasks.cancel(taskId, { timeoutMs: CANCEL_MS }).catch(() => {})
  throw signal.reason
}

/** Stops a task at its time limit. Only the server knows whether it was stopped in time. */
async function endTask(tasks: TaskRequests, taskId: string): Promise<never> {
  await tasks.cancel(taskId, { timeoutMs: CANCEL_MS }).catch(() => {})
  throw failure("outcome_unknown", {
    problem: "The MCP server's task exceeded its time limit, and was cancelled.",
  })
}

/** Whether a task was started for this call. */
const hasTask = ({ lasting }: Pick<CallContext, "lasting">): boolean => toStoredTask(lasting?.kept) !== undefined

function toStoredTask(stored: JsonObject | undefined): StoredTask | undefined {
  const { taskId, until } = stored ?? {}
  return typeof taskId === "string" && typeof until === "number" ? { taskId, until } : undefined
}

/** The server does not know our session; a new one may still ask for the task. */
const isUnknownSessionOfTask = (error: unknown): boolean => (error as { status?: unknown })?.status === 404

/** Invalid params: of our two parameters only the id can be wrong. */
const isUnknownTask = (error: unknown): boolean => isAnswered(error) && (error as { code?: unknown }).code === -32_602

/** An MCP tool's data for calls; the shown data is recorded in the journal. */
interface JoinedCalls {
  call(joined: JoinedTool, input: JsonObject, context: CallContext): Promise<Answer>
  /** Parses a JSON schema of another server. Throws if checking it would cost too much. */
  readSchema(json: JsonObject, person: UserId): Promise<Schema<unknown>>
}

const MAX_OUTPUT = 30_000

/** Wraps a tool of an MCP server. A write is always shown as destructive: its server's annotations cannot be trusted. */
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
  const subject = `Use the tool ${quote(tool)} of the MCP server ${quote(serverOf(name))}`
  if (joined.effect === "read")
    return defineTool<JsonObject>({ ...common, effect: "read", afterCrash: joined.afterCrash, sending: () => subject })
  return defineTool<JsonObject>({
    ...common,
    effect: "write",
    afterCrash: joined.afterCrash,
    inverse: false,
    preview: (): Preview => ({
      summary: subject,
      action: "destructive_update",
      // The approval is for this definition: another one makes the proposal stale.
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
