import type { CallProgress, ReportedProgress } from "../../protocol/conversation/tool-calls.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import type { Pause } from "../../shared/concurrency/time-limit.ts"
import { showHidden } from "../../shared/text/hidden-words.ts"
import { mendText } from "../../shared/text/text.ts"
import type { Call } from "../conversation.ts"
import { KEPT, type LastingCall } from "../definition/tool.ts"
import { record, type Work } from "../record.ts"
import { askPerson } from "./ask-person.ts"
import { toolEnd, withoutSecrets } from "./tool-end.ts"

/** Whoever runs a read waits one turn of the event loop for its answer, and may have begun to after us. */
const TURNS = 3
/** More than these of one call are no questions but a siege. */
const MAX_QUESTIONS = 5

interface Waiting {
  readonly signal: AbortSignal
  readonly pause: Pause
}

/** Gives a call what it needs to outlast its limits and its process. */
export function lastingCall(work: Work, call: Call, { signal, pause }: Waiting): LastingCall {
  const isAsking = call.question !== undefined || (call.asked ?? 0) >= MAX_QUESTIONS
  const lasting: LastingCall = {
    ask:
      work.conversation.run?.attended && !isAsking
        ? (question) =>
            lasting.wait(async () => {
              await untilBegun(call)
              return askPerson(work, call, { question, signal })
            })
        : undefined,
    kept: call.kept,
    async keep(what: JsonObject) {
      await untilBegun(call)
      // What is stopped writes nothing any more: its end is on record, or its conversation another's.
      signal.throwIfAborted()
      await record(work, [{ type: "step", step: KEPT, detail: { callId: call.id, kept: what } }])
    },
    async wait<T>(waitFor: () => Promise<T>) {
      const goOn = [pause(), work.pause?.()]
      try {
        return await waitFor()
      } finally {
        for (const each of goOn) each?.()
      }
    },
  }
  return lasting
}

/** A read that may run again is put on record a moment after it has begun: what it says of itself comes after that. */
async function untilBegun(call: Call): Promise<void> {
  for (let turns = 0; call.state === "new" && turns < TURNS; turns++)
    await new Promise((resolve) => setImmediate(resolve))
}

/** How often it is shown: whoever tells it oftener is shown with what they said last. */
const EVERY_MS = 250
const MAX_TEXT = 200

/**
 * Shows people how far a call is. It is told to whoever watches now and kept nowhere, so it costs the journal nothing; and
 * it changes nothing about the call, whose time runs on.
 */
export function liveProgress(work: Work, call: Call): (told: ReportedProgress) => void {
  const { conversation, ports } = work
  let newest: ReportedProgress | undefined
  let isWaiting = false
  const show = () => {
    const told = newest
    newest = undefined
    isWaiting = told !== undefined && call.state !== "ended"
    if (!told || !isWaiting) return
    ports.bus.publish(conversation.id, { type: "tool_progress", ...toShown(told, call.id, ports.secrets) })
    ports.clock.alarm(EVERY_MS, show, "background")
  }
  return (told) => {
    newest = told
    if (!isWaiting) show()
  }
}

function toShown({ text = "", done, total }: ReportedProgress, callId: Call["id"], secrets: Iterable<string> = []) {
  const words = showHidden(mendText(withoutSecrets(text, secrets).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")))
  return {
    callId,
    text: words.trim().slice(0, MAX_TEXT).toWellFormed(),
    ...(Number.isFinite(done) ? { done } : {}),
    ...(Number.isFinite(total) ? { total } : {}),
  } as CallProgress
}

/** Hands a call over to its program. It is on record before anybody is told, and until when the result is waited for. */
export function handOver(work: Work, call: Call): Promise<void> {
  const { conversation, ports } = work
  const now = ports.clock.now()
  if (call.invalidInput !== undefined) {
    const text = `The arguments of ${call.name} were not a JSON object, or too large: ${call.invalidInput.slice(0, 200)} Send an object.`
    return record(work, [toolEnd(conversation, call, { status: "error", text, now })])
  }
  const expiresAt = now + ports.policy.proposalMinutes * 60_000
  return record(work, [{ type: "handed_over", callId: call.id, expiresAt }])
}
