import type { JsonObject } from "../../protocol/schema.ts"
import type { Question, SettledQuestion } from "../../protocol/conversation/questions.ts"
import type { Call, Conversation } from "../conversation.ts"

/** Folds in what a call has kept for whoever takes it up after a crash. */
export function applyKept({ run, calls }: Conversation, detail: unknown): void {
  const { callId, kept } = (detail ?? {}) as { readonly callId?: unknown; readonly kept?: JsonObject }
  const call = calls.find(({ id }) => id === callId)
  if (!run || !call || !kept) return
  call.kept = kept
  run.hasWaited = true
}

/** Folds in what a tool's server asks the person: it is open until somebody answers, its time is up or its call is over. */
export function applyQuestion({ run, calls }: Conversation, detail: unknown): void {
  const question = (detail ?? {}) as Question
  const call = calls.find(({ id }) => id === question.callId)
  if (!run || !call) return
  call.question = question
  call.asked = (call.asked ?? 0) + 1
  run.hasWaited = true
}

export function applySettledQuestion({ calls }: Conversation, detail: unknown): void {
  const { questionId } = (detail ?? {}) as SettledQuestion
  const call = calls.find(({ question }) => question?.id === questionId)
  if (call) closeQuestion(call)
}

/** Nobody is there any more to whom an answer could be given. */
export function closeQuestion(call: Call): void {
  if (call.question) delete call.question
}
