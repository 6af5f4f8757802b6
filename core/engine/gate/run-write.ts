import { type ErrorCode, hasCode } from "../../protocol/errors.ts"
import { mendText } from "../../shared/text/text.ts"
import { toolEnd } from "../calls/tool-end.ts"
import { answered, checkCall, contextFor, secondsFor, threw, TOOL_SECONDS } from "../calls/result.ts"
import type { Call } from "../conversation.ts"
import { cancelledEnd, effectOf, runTool, stoppedEnd } from "../calls/run-read.ts"
import { isCancelled } from "../inbox.ts"
import { isDenied } from "./policy.ts"
import { proposalHash } from "./proposal-hash.ts"
import { record, type Work } from "../record.ts"
import { type Answer, isAnswer, type WriteOutcome, type Tool } from "../definition/tool.ts"
import { withTimeLimit } from "../../shared/concurrency/time-limit.ts"

/** A write that must stop is not aborted at once: it gets this long to end. */
const WRITE_GRACE_MS = 2000

/**
 * The same for a shutdown: a device is still asked for its result over its current socket. Shorter than the time that
 * requests get to end, so that they report the outcome.
 */
export const SHUTDOWN_GRACE_MS = 4000

/**
 * Writes of this process that have not ended although their callers stopped waiting. Reports of their targets are not
 * final.
 */
const atWork = new Set<Call["id"]>()

/** How often a write to our own store is started, if the store fails for this write only. */
const MAX_TRIES = 5

const isOurStore = (error: unknown, { afterCrash }: Tool) =>
  afterCrash === "ask-target" && hasCode(error, "store_unavailable")

const isShutdown = ({ reason }: AbortSignal) => reason === "shutdown"

const isAbort = (error: unknown, { reason }: AbortSignal) =>
  (reason !== undefined && error === reason) || (error as { name?: unknown } | undefined)?.name === "AbortError"

/**
 * A write; or a read with egress in a conversation that has seen untrusted text and private data, which needs approval.
 */
interface Write {
  readonly call: Call
  readonly tool: Tool
  readonly input: unknown
}

/** Executes one approved call at most once: its start is durable before its effect, its end after. */
export async function runWrite(work: Work, call: Call): Promise<void> {
  const checked = await checkCall(work, call)
  if ("end" in checked) return refuse(work, call, checked.end)
  const write: Write = { call, ...checked }
  if (write.tool.effect !== "write" && !write.tool.egress)
    return refuse(work, call, refusedEnd(work, call, { problem: "it is no longer a write" }))

  if (call.attempts > 0 && write.tool.afterCrash === "ask-target") {
    // Another device than the one it was sent to would report that it does not know the call.
    if (write.tool.onSite && !isAsShown(work, write))
      return inDoubt(
        work,
        call,
        "It was interrupted, and the conversation has moved to another device or folder since.",
      )
    if (atWork.has(call.id)) return inDoubt(work, call, "Its first try is still at work; wait for its end.")
    const outcome = await askTarget(work, write)
    if (outcome === "unknown")
      return inDoubt(work, call, "It was interrupted, and its target cannot report whether it was done.")
    if (outcome !== "not-applied") {
      return record(work, [toEnd(work, call, applied(work, write, outcome))])
    }
  }
  const problem = await whyNot(work, write)
  // Stopped: it has not started, or not again after a crash, and never will. The target is not the cause.
  const stopped = whyStopped(work, call)
  if (stopped) return refuse(work, call, stopped, write)
  if (problem) return refuse(work, call, toEnd(work, call, problem), write)

  // After a crash from here on, the call counts as started: see `recoverCalls`.
  await record(work, [{ type: "tool_start", callId: call.id }])
  if (write.tool.effect === "write") return perform(work, write)
  await record(work, [toEnd(work, call, await runTool(work, call, write))])
}

/** A cancel before a crash waits in the inbox, because no writer was there to be notified. */
function whyStopped(work: Work, call: Call): EndOfCall | undefined {
  const now = work.ports.clock.now()
  if (work.signal.aborted) return stoppedEnd(work, call, now)
  return isCancelled(work.conversation) ? cancelledEnd(work.conversation, call, now) : undefined
}

export type EndOfCall = ReturnType<typeof toolEnd>

interface Became {
  readonly end: EndOfCall
  /** True if no request still on its way can change it. */
  readonly isFinal: boolean
}

/** The outcome of an interrupted write that is not tried again, if its target can tell; undefined if not. */
export async function whatBecameOf(work: Work, call: Call, notDone: string): Promise<Became | undefined> {
  const checked = await checkCall(work, call)
  if ("end" in checked) return undefined
  const write: Write = { call, ...checked }
  if (write.tool.effect !== "write" || atWork.has(call.id)) return undefined
  if (write.tool.onSite && !isAsShown(work, write)) return undefined
  const barred = await askTarget(work, write, "bar")
  const outcome = barred === "unknown" ? await askTarget(work, write) : barred
  if (outcome === "unknown") return undefined
  if (outcome !== "not-applied") return { end: toEnd(work, call, applied(work, write, outcome)), isFinal: true }
  const end = toolEnd(work.conversation, call, { status: "error", text: notDone, now: work.ports.clock.now() })
  return { end: toEnd(work, call, end), isFinal: barred === "not-applied" }
}

/** An earlier attempt may have been applied. That the call must not run again does not make it "not applied". */
async function refuse(work: Work, call: Call, end: EndOfCall, write?: Write): Promise<void> {
  const open = call.proposal !== undefined && work.conversation.proposals.has(call.proposal)
  if (call.attempts === 0 || !open) return record(work, [end])
  // "Not applied" may mean "not yet", unless the target bars the call.
  const outcome = write ? await askTarget(work, write, "bar") : "unknown"
  if (outcome === "not-applied") return record(work, [end])
  if (outcome !== "unknown" && write) return record(work, [toEnd(work, call, applied(work, write, outcome))])
  return inDoubt(work, call, `It started, was interrupted, and cannot be tried again: ${end.text}`)
}

async function perform(work: Work, write: Write): Promise<void> {
  const { call, tool, input } = write
  const { conversation, ports, signal } = work
  const { attempts: attempt } = call
  const seconds = secondsFor(work, tool)
  const ended = await withTimeLimit<Answer>(
    { clock: ports.clock, seconds, signal, graceMs: () => (isShutdown(signal) ? SHUTDOWN_GRACE_MS : WRITE_GRACE_MS) },
    (inner, pause) => tool.run(input, contextFor(work, call, { signal: inner, pause })),
  )
  const now = ports.clock.now()
  // Now and not earlier: what was read during the write may be from before it.
  ports.cache.forget(conversation.user)
  if (ended.type === "returned") return record(work, [toEnd(work, call, applied(work, write, ended.value))])
  // An error after the stop is caused by the stop. It says nothing about whether the target applied the write.
  const how = ended.type === "threw" ? ended.told : ended.type
  if (ended.type === "threw" && hasCode(ended.error, "outcome_unknown"))
    return inDoubt(work, call, (ended.error as Error).message)
  // Our own store was unreachable, and its COMMIT may have succeeded. The loop starts again from the journal and asks
  // before it repeats.
  if (ended.type === "threw" && !how && isOurStore(ended.error, tool)) {
    if (call.attempts < MAX_TRIES) throw ended.error
    return inDoubt(work, call, "The store was away, again and again, while this was being written.")
  }
  if (ended.type === "threw" && !how) {
    // The target checked again while writing, and what was shown has changed.
    const stale = hasCode(ended.error, "row_stale") ? { code: "proposal_stale" } : {}
    return record(work, [toEnd(work, call, { ...threw(work, call, { error: ended.error, tool }), ...stale })])
  }

  // The write continues. Its actual result follows through the inbox when it ends.
  const tell = async ({ status, text, change, inverse, brings }: ReturnType<typeof toolEnd>) => {
    const effect = { ...(change ? { change } : {}), ...(inverse ? { inverse } : {}), ...(brings ? { brings } : {}) }
    const result = { status: status === "ok" ? "ok" : "error", text, attempt, ...effect } as const
    ports.cache.forget(conversation.user)
    await ports.journal.addToInbox(conversation.id, { type: "late_result", callId: call.id, ...result })
    ports.bus.wake(conversation.id)
  }
  if (ended.type !== "threw") {
    atWork.add(call.id)
    ended.rest
      .finally(() => atWork.delete(call.id))
      .then(
        (answer) => tell(applied(work, write, answer)),
        // If the outcome is unknown, nothing is reported: after "failed" it would be repeated.
        (error: unknown) =>
          isAbort(error, signal) || hasCode(error, "outcome_unknown")
            ? undefined
            : tell(threw(work, call, { error, tool })),
      )
      .catch((error: unknown) =>
        ports.log.error("delayed_result_lost", { conversation: conversation.id, call: call.id, error }),
      )
  }
  if (how === "timed_out") return inDoubt(work, call, `It has not ended within ${seconds} s, and may still be done.`)
  if (isShutdown(signal)) {
    // The target would report "not applied" while the call is on its way, so the next writer must not ask and repeat
    // it. A device executes a call id once, so the next writer asks it as after a crash.
    const isOnDevice = conversation.site === "device" && tool.onSite !== undefined
    if (tool.afterCrash === "ask-target" && !isOnDevice)
      return inDoubt(work, call, "The server stopped while this was being done.")
    throw signal.reason
  }
  const text = "It was under way when the run was stopped; it may still be done."
  return record(work, [toolEnd(conversation, call, { status: "interrupted", text, now })])
}

/** The result of a write, with what the audit log and an undo need. */
function applied(work: Work, { call, tool, input }: Write, answer: Answer): ReturnType<typeof toolEnd> {
  const end = answered(work, call, { tool, answer })
  return isAnswer(answer) ? { ...end, ...effectOf(work, tool, { input, answer }) } : end
}

/**
 * `bar`: also prevents a call that was not applied from being applied later. "unknown" if the target cannot guarantee
 * that.
 */
async function askTarget(
  work: Work,
  { call, tool, input }: Write,
  how: "outcome" | "bar" = "outcome",
): Promise<WriteOutcome> {
  const ask = tool.afterCrash === "ask-target" ? tool[how] : undefined
  if (!ask) return "unknown"
  const { ports, signal } = work
  // With a grace period: a cancel must not leave a write in doubt whose target is about to report.
  const bounds = { clock: ports.clock, seconds: TOOL_SECONDS, signal, graceMs: WRITE_GRACE_MS }
  const ended = await withTimeLimit<WriteOutcome>(bounds, (inner) =>
    ask.call(tool, call.id, input, contextFor(work, call, { signal: inner })),
  )
  if (ended.type === "timed_out" || ended.type === "stopped") ended.rest.catch(() => {})
  if (ended.type === "stopped" && isShutdown(signal)) throw signal.reason // the next writer asks again
  const deaths = work.conversation.run?.deaths ?? 0
  if (ended.type === "threw" && isOurStore(ended.error, tool) && deaths < MAX_TRIES) throw ended.error
  const result = ended.type === "returned" ? ended.value : "unknown"
  return result === "not-applied" || isAnswer(result) ? result : "unknown"
}

/** Why an approved write must not be executed; undefined if it may. Only what was shown is executed. */
async function whyNot(work: Work, { call, tool, input }: Write): Promise<EndOfCall | undefined> {
  const { conversation, ports, signal } = work
  const no = (problem: string, code?: ErrorCode) => refusedEnd(work, call, code ? { problem, code } : { problem })
  if (isDenied(conversation, tool)) return no(READ_ONLY)
  const proposed = proposedOf(work, call)
  if (!proposed) return no("it was never proposed")
  if (!isAsShown(work, { call, tool })) return no("it is not what was approved")
  const preview = tool.effect === "write" ? tool.preview : undefined
  // An earlier attempt may itself have changed the target, unless the target has just reported that it did not arrive.
  const untouched = call.attempts === 0 || tool.afterCrash === "ask-target"
  if (proposed.revision === undefined || !preview || !untouched) return undefined
  const { clock } = ports
  const ended = await withTimeLimit({ clock, seconds: TOOL_SECONDS, signal, graceMs: 0 }, (inner) =>
    preview.call(tool, input, contextFor(work, call, { signal: inner })),
  )
  if (ended.type === "returned" && typeof ended.value?.unmet === "string")
    return no(ended.value.unmet, "proposal_unmet")
  if (ended.type === "returned" && mendText(ended.value?.revision ?? "") === proposed.revision) return undefined
  if (ended.type === "timed_out" || ended.type === "stopped") ended.rest.catch(() => {})
  if (ended.type === "stopped" && isShutdown(signal)) throw signal.reason // the next writer decides
  return no("what it would change has changed since it was proposed")
}

const proposedOf = ({ conversation }: Work, { proposal }: Call) =>
  proposal ? conversation.proposals.get(proposal)?.proposed : undefined

/** True if what would be executed is what was shown, including where it runs. */
function isAsShown(work: Work, { call, tool }: Pick<Write, "call" | "tool">): boolean {
  const proposed = proposedOf(work, call)
  if (!proposed) return false
  const wouldRun = { ...proposed, tool: tool.name, version: tool.version ?? 1 }
  return proposed.hash === proposalHash(work.conversation, call, wouldRun)
}

const READ_ONLY = "the conversation is read-only now"

interface Refusal {
  readonly problem: string
  readonly code?: ErrorCode
}

function refusedEnd(
  { conversation, ports }: Work,
  call: Call,
  { problem, code = "proposal_stale" }: Refusal,
): EndOfCall {
  const status = problem === READ_ONLY ? "denied" : "error"
  const end = toolEnd(conversation, call, { status, text: `Not done: ${problem}.`, now: ports.clock.now() })
  return status === "denied" ? end : { ...end, code }
}

/** If a person edited the arguments, the model must learn what was executed. */
function toEnd({ conversation }: Work, call: Call, end: ReturnType<typeof toolEnd>) {
  const { arguments: edited, understood } = (call.proposal && conversation.proposals.get(call.proposal)?.proposed) || {}
  if (!edited || understood) return end
  return { ...end, text: `The person changed the arguments to ${JSON.stringify(edited)} before agreeing. ${end.text}` }
}

function inDoubt(work: Work, call: Call, because: string): Promise<void> {
  return record(work, [{ type: "in_doubt", callId: call.id, because }])
}
