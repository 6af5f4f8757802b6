import type { JsonObject } from "../../protocol/schema.ts"
import type { Conversation } from "../conversation.ts"

/** Folds in what a call has kept for whoever takes it up after a crash. */
export function applyKept({ run, calls }: Conversation, detail: unknown): void {
  const { callId, kept } = (detail ?? {}) as { readonly callId?: unknown; readonly kept?: JsonObject }
  const call = calls.find(({ id }) => id === callId)
  if (!run || !call || !kept) return
  call.kept = kept
  run.hasWaited = true
}
