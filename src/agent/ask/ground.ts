import { showHidden } from "../../protocol/text/hidden-words.ts"
import type { Ground } from "../definition/agent.ts"
import type { HistoryMessage, Model } from "../model.ts"
import type { Work } from "../record.ts"

/** Characters of grounding for each token that the model can read: an eighth of its context, at four characters a token. */
const ROOM = 0.5

/** What an agent tells its model beside the instructions; undefined when the work was stopped meanwhile. */
export async function ground(work: Work, tell: Ground, model: Model): Promise<string | undefined> {
  const { conversation, ports, signal } = work
  const { id, user, connectionId, state, history } = conversation
  const room = Math.floor(model.contextTokens * ROOM)
  try {
    const told = await tell({ conversation: id, user, connectionId, state, ...wordsOf(history), room, signal })
    return signal.aborted ? undefined : showHidden(told.slice(0, room).toWellFormed())
  } catch (error) {
    if (signal.aborted) return undefined
    // A model that knows less can still ask its tools; a run that fails here could not even say so.
    ports.log.warn("grounding_failed", { conversation: conversation.id, error })
    return ""
  }
}

function wordsOf(history: readonly HistoryMessage[]) {
  const last = history.findLast((turn) => turn.role === "user")
  const hasResult = (words: string) =>
    history.some((turn) => turn.role === "tool" && turn.results.some(({ text }) => text.includes(words)))
  return { question: last?.role === "user" ? last.text : "", hasResult }
}
