import { conversationStatus, pauseReason, runStatus } from "../../agent/conversation.ts"
import type { Journal } from "../../agent/journal.ts"
import { replay } from "../../agent/replay/replay.ts"
import type { StateAnswer } from "../../protocol/answers.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"

export interface Moment {
  readonly id: ConversationId
  readonly user: UserId
  readonly at: number
}

/** The state of a conversation as it was at a position: the same fold that the loop works with (LOOP-10). */
export async function readState(journal: Journal, { id, user, at }: Moment): Promise<StateAnswer> {
  const conversation = replay(id, user, await journal.read(id, { upTo: at }))
  const { agent, model, mode, title, connectionId, position, run, proposals, stages } = conversation
  return {
    ...conversation.state,
    conversationId: id,
    position,
    agent,
    model,
    mode,
    title,
    connection: connectionId && { userId: user, connectionId },
    conversationStatus: conversationStatus(conversation),
    runId: run?.id ?? null,
    status: runStatus(conversation) ?? null,
    iteration: run?.iteration ?? 0,
    maxIterations: run?.maxIterations ?? 0,
    pauseReason: pauseReason(conversation) ?? null,
    error: run?.error ?? null,
    usage: run?.usage ?? null,
    routerDecision: stages.choice ?? conversation.routing.decision ?? null,
    guardrail: stages.guardrail ?? null,
    grading: stages.grading ?? null,
    sources: stages.found,
    toolHistory: run?.toolHistory ?? [],
    openProposals: [...proposals.keys()],
  }
}
