import { callKey } from "../../protocol/calls/duplicates.ts"
import { toolEnd } from "./tool-end.ts"
import { answered, checkCall, contextFor, secondsFor, threw } from "./result.ts"
import type { Call, Conversation } from "../conversation.ts"
import { record, type Stop, type Work } from "../record.ts"
import { findRead } from "./reuse-read.ts"
import type { Answer, Tool } from "../definition/tool.ts"
import { withTimeLimit } from "../concurrency/time-limit.ts"

/** Runs one read, or answers it from what this run or this user has read before. */
export async function runRead(work: Work, call: Call): Promise<void> {
  const { conversation, ports, signal } = work
  const now = ports.clock.now()
  if (signal.aborted) return record(work, [stoppedEnd(work, call, now)])
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
  if (cached)
    return record(work, [
      { ...answered(work, call, { tool: checked.tool, answer: cached.answer }), reusedFrom: cached.callId },
    ])

  const begun = { type: "tool_start", callId: call.id } as const
  if (checked.tool.afterCrash === "in-doubt") {
    // It may not be repeated, so it must be known to have begun before it does.
    await record(work, [begun])
    return record(work, [await runTool(work, call, checked)])
  }
  // Nothing else that a read does can be doubled by a crash: one that answers at once needs one commit, not two.
  const reading = runTool(work, call, checked)
  const quick = await atOnce(reading)
  if (quick) return record(work, [begun, quick])
  const started = record(work, [begun])
  started.catch(() => {}) // met below; until then it must not pass for unhandled
  const end = await reading
  await Promise.all([started, record(work, [end])])
}

/** Undefined where it takes longer than what can be done now. */
function atOnce<T>(work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const late = setImmediate(resolve, undefined)
    work.then((value) => {
      clearImmediate(late)
      resolve(value)
    }, reject)
  })
}

/** Runs it, whatever was read before. */
export async function runTool(work: Work, call: Call, { tool, input }: { tool: Tool; input: unknown }) {
  const { conversation, ports, signal } = work
  const seconds = secondsFor(work, tool)
  const ended = await withTimeLimit<Answer>({ clock: ports.clock, seconds, signal, graceMs: 0 }, (inner, pause) =>
    tool.run(input, contextFor(work, call, { signal: inner, pause })),
  )
  const now = ports.clock.now()
  switch (ended.type) {
    case "returned":
      if (isCached(tool) && ended.value?.status === "ok") {
        const entry = { answer: ended.value, until: now + tool.cacheSeconds * 1000, callId: call.id }
        ports.cache.keep(conversation.user, callKey(call.name, call.input), entry)
      }
      return answered(work, call, { tool, answer: ended.value })
    case "threw":
      return threw(work, call, { error: ended.error, tool })
    case "timed_out":
      ended.rest.catch(() => {}) // its answer comes too late for anyone
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

/** The result of a call that the work was stopped before or in. */
export function stoppedEnd({ conversation, signal }: Work, call: Call, now: number) {
  const why = signal.reason as Stop
  // Going down is nobody's wish for this call: no result, so that the next writer runs it again.
  if (why === "shutdown") throw signal.reason
  if (why === "run_timeout")
    return toolEnd(conversation, call, { status: "timed_out", text: "The run's time was up.", now })
  return cancelledEnd(conversation, call, now)
}

export const cancelledEnd = (conversation: Conversation, call: Call, now: number) =>
  toolEnd(conversation, call, { status: "cancelled", text: "The person cancelled the run.", now })
