import { withoutSecrets } from "../agent/calls/without-secrets.ts"
import type { ToldProgress } from "../protocol/conversation/call-progress.ts"
import { plainWords } from "./definition/tool-facts.ts"

const MAX_TEXT = 500

/** What a server tells of how far a call is, as people are shown it: its words may hold anything, and its numbers too. */
export function toProgress(told: unknown, secrets: readonly string[]): ToldProgress {
  const { progress, total, message } = (told ?? {}) as Record<string, unknown>
  return {
    ...(typeof message === "string" ? { text: plainWords(withoutSecrets(message, secrets).slice(0, MAX_TEXT)) } : {}),
    ...(typeof progress === "number" ? { done: progress } : {}),
    ...(typeof total === "number" ? { total } : {}),
  }
}
