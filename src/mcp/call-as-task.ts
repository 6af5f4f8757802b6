import { type Clock, sleep } from "../agent/clock.ts"
import type { CallContext } from "../agent/definition/tool.ts"
import type { LastingCall } from "../agent/definition/lasting.ts"
import { failure } from "../protocol/errors.ts"
import type { JsonObject } from "../protocol/schema.ts"
import type { TaskRequests } from "./connection/task-requests.ts"

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

export interface CalledAsTask {
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
export async function callAsTask(tasks: TaskRequests, called: CalledAsTask): Promise<unknown> {
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
      if (isAnswered(error) || isForgotten(error) || ++failures >= MAX_FAILURES) throw error
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
    problem: "The task of the MCP server has not ended in its time; it was told to stop.",
  })
}

/** Whether a task was begun for this call. */
export const hasTask = ({ lasting }: Pick<CallContext, "lasting">): boolean => toKept(lasting?.kept) !== undefined

function toKept(kept: JsonObject | undefined): KeptTask | undefined {
  const { taskId, until } = kept ?? {}
  return typeof taskId === "string" && typeof until === "number" ? { taskId, until } : undefined
}

/** It does not know our session any more; another one may still ask for the task. */
const isForgotten = (error: unknown): boolean => (error as { status?: unknown })?.status === 404

const isAnswered = (error: unknown): boolean => (error as { name?: unknown })?.name === "ProtocolError"

/** Invalid params: of the two that are sent only the id can be meant. */
const isUnknownTask = (error: unknown): boolean => isAnswered(error) && (error as { code?: unknown }).code === -32_602
