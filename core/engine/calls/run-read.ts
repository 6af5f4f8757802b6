import { callKey } from "../../protocol/calls/follow-calls.ts"
import type { InverseCall } from "../../protocol/proposals/proposal.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { withTimeLimit } from "../../shared/concurrency/time-limit.ts"
import { canonicalJson } from "../../shared/text/json.ts"
import { mendText } from "../../shared/text/text.ts"
import type { Effect } from "../conversation-writes.ts"
import type { Call, Conversation, ReusableRead } from "../conversation.ts"
import type { Answer, Tool } from "../definition/tool.ts"
import { RUN_SETTING } from "../next-step.ts"
import { record, type Stop, type Work } from "../record.ts"
import {
  answered,
  boundedDiff,
  checkCall,
  contextFor,
  noteTaint,
  secondsFor,
  taintReadBy,
  threw,
  toObject,
} from "./result.ts"
import { toolEnd } from "./tool-end.ts"

/** Executes one read, or reuses a result of this run or this user. */
export async function runRead(work: Work, call: Call): Promise<void> {
  const { conversation, ports, signal } = work
  const now = ports.clock.now()
  if (signal.aborted && !mustCancel(work, call)) return record(work, [stoppedEnd(work, call, now)])
  const checked = await checkCall(work, call)
  if ("end" in checked) return record(work, [checked.end])
  const before = findRead(conversation.run?.reads ?? [], call)
  if (before) {
    const end = toolEnd(conversation, call, { status: "ok", text: before.text, now })
    const brings = before.brings ? { brings: before.brings } : {}
    return record(work, [{ ...end, data: before.data, reusedFrom: before.callId, ...brings }])
  }
  const cached = isCached(checked.tool)
    ? ports.cache.find(conversation.user, callKey(call.name, call.input), now)
    : undefined
  if (cached?.taint) noteTaint(call, cached.taint)
  if (cached)
    return record(work, [
      { ...answered(work, call, { tool: checked.tool, answer: cached.answer }), reusedFrom: cached.callId },
    ])

  const begun = { type: "tool_start", callId: call.id } as const
  if (checked.tool.afterCrash === "in-doubt") {
    // It must not be repeated, so its start must be recorded before its effect.
    await record(work, [begun])
    return record(work, [await runTool(work, call, checked)])
  }
  // A crash can repeat only the reading, so a read that returns at once needs one commit, not two.
  const reading = runTool(work, call, checked)
  const quick = await atOnce(reading)
  if (quick) return record(work, [begun, quick])
  const started = record(work, [begun])
  started.catch(() => {}) // handled below; until then it must not count as an unhandled rejection
  const end = await reading
  await Promise.all([started, record(work, [end])])
}

/** Undefined if it takes longer than what can be done in this turn. */
function atOnce<T>(work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const late = setImmediate(resolve, undefined)
    work.then((value) => {
      clearImmediate(late)
      resolve(value)
    }, reject)
  })
}

/** How long a stopped call may take to cancel what it started. */
const CANCEL_MS = 5000

/**
 * True if a stopped call must cancel what it started before its end is recorded: after that, no process would. A
 * shutdown cancels nothing, because the next process continues the call.
 */
const mustCancel = ({ signal }: Work, { kept }: Call): boolean =>
  kept !== undefined && (signal.reason as Stop) !== "shutdown"

/** Executes it, without the cache. */
export async function runTool(work: Work, call: Call, { tool, input }: { tool: Tool; input: unknown }) {
  const { conversation, ports, signal } = work
  const seconds = secondsFor(work, tool)
  const graceMs = () => (mustCancel(work, call) ? CANCEL_MS : 0)
  const ended = await withTimeLimit<Answer>({ clock: ports.clock, seconds, signal, graceMs }, (inner, pause) =>
    tool.run(input, contextFor(work, call, { signal: inner, pause })),
  )
  const now = ports.clock.now()
  if (signal.aborted && mustCancel(work, call) && ended.type !== "stopped") return stoppedEnd(work, call, now)
  switch (ended.type) {
    case "returned":
      if (isCached(tool) && ended.value?.status === "ok") {
        const taint = taintReadBy(call)
        const entry = {
          answer: ended.value,
          until: now + tool.cacheSeconds * 1000,
          callId: call.id,
          ...(taint ? { taint } : {}),
        }
        ports.cache.keep(conversation.user, callKey(call.name, call.input), entry)
      }
      return answered(work, call, { tool, answer: ended.value })
    case "threw":
      return threw(work, call, { error: ended.error, tool })
    case "timed_out":
      ended.rest.catch(() => {}) // the result comes too late
      return toolEnd(conversation, call, {
        status: "timed_out",
        text: `${call.name} did not answer within ${seconds} s.`,
        now,
      })
    case "stopped":
      ended.rest.catch(() => {})
      return stoppedEnd(work, call, now)
  }
}

function isCached(tool: Tool): tool is Tool & { readonly cacheSeconds: number } {
  return tool.effect === "read" && tool.cacheSeconds !== undefined
}

/** The result of a call that was stopped before or during its execution. */
export function stoppedEnd({ conversation, signal, ports }: Work, call: Call, now: number) {
  const why = signal.reason as Stop
  // A shutdown decides nothing about this call. Without a result, the next writer executes it again.
  if (why === "shutdown") throw signal.reason
  if (why === "run_timeout") {
    const text = `Stopped: the run reached its time limit (${ports.limits.runSetting ?? RUN_SETTING}).`
    return toolEnd(conversation, call, { status: "timed_out", text, now })
  }
  return cancelledEnd(conversation, call, now)
}

export const cancelledEnd = (conversation: Conversation, call: Call, now: number) =>
  toolEnd(conversation, call, { status: "cancelled", text: "The person cancelled the run.", now })

/** The newest result of the same call, if any. It is compared here and not indexed, because few reads are repeated. */
function findRead(
  reads: readonly ReusableRead[],
  call: { readonly name: string; readonly input: JsonObject },
): ReusableRead | undefined {
  const candidates = reads.filter(({ name }) => name === call.name)
  if (candidates.length === 0) return undefined
  const asked = canonicalJson(call.input)
  return candidates.findLast(({ input }) => canonicalJson(input) === asked)
}

/**
 * The change of a write and the call that undoes it, as its tool reports now. It is recorded with the result, so that a later
 * version of the tool cannot change it. A tool is third-party code: if this fails, the write was applied all the same
 * and just cannot be undone.
 */
export function effectOf({ ports }: Work, tool: Tool, { input, answer }: { input: unknown; answer: Answer }): Effect {
  if (answer.status !== "ok") return {}
  const change = toObject(answer.change)
  const inverse = inverseOf()
  return {
    ...(change
      ? { change: boundedDiff({ before: change.before ?? null, after: change.after ?? null }, ports.secrets) }
      : {}),
    ...(inverse ? { inverse } : {}),
  }

  function inverseOf(): InverseCall | undefined {
    if (tool.effect !== "write" || tool.inverse === false) return undefined
    try {
      const call = tool.inverse(input, answer)
      const given = toObject(call.input)
      if (typeof call.tool === "string" && given) return { tool: mendText(call.tool), input: given }
      throw new TypeError(`${tool.name}: its inverse is no call`)
    } catch (error) {
      ports.log.warn("inverse_failed", { tool: tool.name, error })
      return undefined
    }
  }
}
