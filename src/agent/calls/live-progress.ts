import type { CallProgress, ToldProgress } from "../../protocol/conversation/call-progress.ts"
import { showHidden } from "../../protocol/text/hidden-words.ts"
import { mendText } from "../../protocol/text/text.ts"
import type { Call } from "../conversation.ts"
import type { Work } from "../record.ts"
import { withoutSecrets } from "./without-secrets.ts"

/** How often it is shown: whoever tells it oftener is shown with what they said last. */
const EVERY_MS = 250
const MAX_TEXT = 200

/**
 * Shows people how far a call is. It is told to whoever watches now and kept nowhere, so it costs the journal nothing; and
 * it changes nothing about the call, whose time runs on.
 */
export function liveProgress(work: Work, call: Call): (told: ToldProgress) => void {
  const { conversation, ports } = work
  let newest: ToldProgress | undefined
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

function toShown({ text = "", done, total }: ToldProgress, callId: Call["id"], secrets: Iterable<string> = []) {
  const words = showHidden(mendText(withoutSecrets(text, secrets).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")))
  return {
    callId,
    text: words.trim().slice(0, MAX_TEXT).toWellFormed(),
    ...(Number.isFinite(done) ? { done } : {}),
    ...(Number.isFinite(total) ? { total } : {}),
  } as CallProgress
}
