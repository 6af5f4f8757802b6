import type { RunAnswer } from "../../../protocol/answers.ts"
import { failure } from "../../../protocol/errors.ts"
import type { ConversationId, RunId, UserId } from "../../../protocol/ids.ts"
import { nameModel, nameModelsOfRuns } from "../../conversation/named-models.ts"
import type { ConversationRoutePorts } from "./ports.ts"

export interface AnswerRange {
  readonly user: UserId
  readonly id: ConversationId
  readonly runId: RunId
  /** Where what the caller has not seen yet begins. */
  readonly position: number
}

/** A run with the messages it brought from a position on, and what waits for a person now. */
export async function answerOfRun(
  ports: ConversationRoutePorts,
  { user, id, runId, position }: AnswerRange,
): Promise<RunAnswer> {
  const { conversations, proposals, models } = ports
  const [conversation, run, messages, open] = await Promise.all([
    conversations.find(user, id),
    conversations.run(user, runId),
    conversations.messagesOfRun(id, position),
    proposals.open(id),
  ])
  if (!conversation || !run) throw failure("not_found")
  const [named, [shown = run]] = await Promise.all([
    nameModel(models, user, conversation),
    nameModelsOfRuns(models, user, [run]),
  ])
  return { conversation: named, run: shown, messages, proposals: open }
}
