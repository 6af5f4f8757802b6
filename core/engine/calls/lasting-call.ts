import type { CallProgress, ReportedProgress } from "../../protocol/conversation/tool-calls.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import type { Pause } from "../../shared/concurrency/time-limit.ts"
import { showHidden } from "../../shared/text/show-hidden.ts"
import { mendText } from "../../shared/text/text.ts"
import type { Call } from "../conversation.ts"
import { STORED_STATE, type LastingCall, type ToolQuestion } from "../definition/tool.ts"
import { record, type Work } from "../record.ts"
import { askPerson } from "./ask-person.ts"
import { toolEnd, withoutSecrets } from "./tool-end.ts"

/** The caller of a read waits one turn of the event loop for its result, and may have started to after us. */
const TURNS = 3
/** A call that asks more questions is an attack, not a dialogue. */
const MAX_QUESTIONS = 5

interface Waiting {
  readonly signal: AbortSignal
  readonly pause: Pause
}

/** Provides what a call needs to outlast its time limit and its process. */
export function lastingCall(work: Work, call: Call, { signal, pause }: Waiting): LastingCall {
  const isAsking = call.question !== undefined || (call.asked ?? 0) >= MAX_QUESTIONS
  const ask = (question: ToolQuestion, number?: number) =>
    lasting.wait(async () => {
      await untilBegun(call)
      return askPerson(work, call, { question, number, signal })
    })
  const lasting: LastingCall = {
    ask: work.conversation.run?.attended && !isAsking ? (question) => ask(question) : undefined,
    askFor(number, question) {
      if (number >= MAX_QUESTIONS) throw new TypeError(`A call may ask at most ${MAX_QUESTIONS} questions.`)
      return ask(question, number)
    },
    kept: call.kept,
    async keep(what: JsonObject) {
      await untilBegun(call)
      // A stopped call writes nothing more: its end is recorded, or another node is the writer.
      signal.throwIfAborted()
      await record(work, [{ type: "step", step: STORED_STATE, detail: { callId: call.id, kept: what } }])
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

/**
 * The start of a read that may run again is recorded a moment after it started, and what it reports comes after that.
 */
async function untilBegun(call: Call): Promise<void> {
  for (let turns = 0; call.state === "new" && turns < TURNS; turns++)
    await new Promise((resolve) => setImmediate(resolve))
}

/** Progress is shown at most this often. Of more frequent reports the last one is shown. */
const EVERY_MS = 250
const MAX_TEXT = 200

/** Shows progress of a call to current subscribers. It is not recorded, and does not extend the call's time limit. */
export function liveProgress(work: Work, call: Call): (told: ReportedProgress) => void {
  const { conversation, ports } = work
  let newest: ReportedProgress | undefined
  let isWaiting = false
  const show = () => {
    const progress = newest
    newest = undefined
    isWaiting = progress !== undefined && call.state !== "ended"
    if (!progress || !isWaiting) return
    ports.bus.publish(conversation.id, { type: "tool_progress", ...toShown(progress, call.id, ports.secrets) })
    ports.clock.alarm(EVERY_MS, show, "background")
  }
  return (progress) => {
    newest = progress
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

/** Delegates a call to its client. The event with its timeout is recorded before the client is notified. */
export function delegateCall(work: Work, call: Call): Promise<void> {
  const { conversation, ports } = work
  const now = ports.clock.now()
  if (call.invalidInput !== undefined) {
    const text = `The arguments of ${call.name} were not a JSON object, or too large: ${call.invalidInput.slice(0, 200)} Send an object.`
    return record(work, [toolEnd(conversation, call, { status: "error", text, now })])
  }
  const expiresAt = now + ports.policy.proposalMinutes * 60_000
  return record(work, [{ type: "handed_over", callId: call.id, expiresAt }])
}
