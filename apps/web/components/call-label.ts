import type { ShownCallState } from "../../../client/index.ts"
import { type Key, t } from "../strings/strings.ts"

const LABELS: Readonly<Record<ShownCallState, Key>> = {
  asked: "common.callQueued",
  proposed: "common.callProposed",
  approved: "common.callApproved",
  running: "common.callRunning",
  handed_over: "common.callClient",
  ended: "common.callDone",
  ok: "common.callDone",
  error: "common.callFailed",
  denied: "common.callDenied",
  rejected: "common.callRejected",
  expired: "common.callExpired",
  superseded: "common.callSuperseded",
  timed_out: "common.callTimedOut",
  cancelled: "common.callStopped",
  interrupted: "common.callInterrupted",
  in_doubt: "common.callInDoubt",
}

/** The state of a tool call in a word or two. */
export const callLabel = (state: ShownCallState): string => t(LABELS[state])
