import { AppError, codeOf } from "../../protocol/errors.ts"
import type { EventOf } from "../../protocol/events.ts"
import type { Conversation } from "../conversation.ts"
import type { HistoryMessage } from "../model.ts"

/** What a provider did not take: the request as such, or what stands in it, which its files may be the reason for. */
export type Refuses = NonNullable<EventOf<"run_ended">["refuses"]>

/** Undefined for what passes, as an outage does, and says nothing of files. Of the model asked last, whichever failed before it. */
export function whatIsRefused(error: unknown): Refuses | undefined {
  const code = codeOf(error)
  if (code === "refused" || code === "context_overflow") return "content"
  const details = error instanceof AppError ? (error.details as { readonly refusesRequest?: unknown }) : {}
  return details.refusesRequest === true ? "request" : undefined
}

/**
 * A provider has refused a request, perhaps for a file in it, and would refuse every later one: no model is shown it as it
 * is again. Those of the run that failed; or all where it had none of its own and the request as such was refused.
 */
export function withholdFiles(conversation: Conversation, refuses: Refuses): void {
  const { history, marks, run } = conversation
  const isOf = (index: number) => marks[index]!.seq >= (run?.firstSeq ?? 0)
  const own = history.some((turn, index) => hasFiles(turn) && isOf(index))
  if (!history.some(hasFiles) || (!own && refuses !== "request")) return
  // A new list: a request that is under way may hold the old one.
  conversation.history = history.map((turn, index) => (!own || isOf(index) ? withheld(turn) : turn))
}

function hasFiles(turn: HistoryMessage): boolean {
  if (turn.role === "user") return turn.files !== undefined
  return turn.role === "tool" && turn.results.some(({ files }) => files !== undefined)
}

function withheld(turn: HistoryMessage): HistoryMessage {
  if (!hasFiles(turn)) return turn
  if (turn.role === "user" && turn.files) return { ...turn, files: { ...turn.files, withheld: true } }
  if (turn.role !== "tool") return turn
  const results = turn.results.map((result) =>
    result.files ? { ...result, files: { ...result.files, withheld: true as const } } : result,
  )
  return { ...turn, results }
}
