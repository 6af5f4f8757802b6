import type { JsonObject } from "../../protocol/schema.ts"
import type { Pause } from "../concurrency/pausable-alarm.ts"
import type { Call } from "../conversation.ts"
import { KEPT, type LastingCall } from "../definition/lasting.ts"
import { askPerson } from "./ask-person.ts"
import { record, type Work } from "../record.ts"

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
