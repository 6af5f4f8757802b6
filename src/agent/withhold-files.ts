import type { Conversation } from "./conversation.ts"
import type { HistoryMessage, TurnFiles, UserTurn } from "./model.ts"

/** What a provider may answer because of a file. */
const REFUSALS: ReadonlySet<string> = new Set(["provider_error", "refused", "context_overflow"])

/**
 * A provider has refused a request, perhaps for a file in it, and would refuse every later one: no model is shown it as it
 * is again. Those of the run that failed, or all where it had none of its own.
 */
export function withholdFiles(conversation: Conversation, { code }: { readonly code: string }): void {
  const { history, marks, run } = conversation
  if (!REFUSALS.has(code) || !history.some(hasFiles)) return
  const isOf = (index: number) => marks[index]!.seq >= (run?.firstSeq ?? 0)
  const own = history.some((turn, index) => hasFiles(turn) && isOf(index))
  // A new list: a request that is under way may hold the old one.
  conversation.history = history.map((turn, index) =>
    hasFiles(turn) && (!own || isOf(index)) ? { ...turn, files: { ...turn.files, withheld: true } } : turn,
  )
}

const hasFiles = (turn: HistoryMessage): turn is UserTurn & { readonly files: TurnFiles } =>
  turn.role === "user" && turn.files !== undefined
