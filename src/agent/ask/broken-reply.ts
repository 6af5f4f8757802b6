import type { NewEvent } from "../../protocol/events.ts"
import { newId } from "../../protocol/ids.ts"
import type { Part } from "../../protocol/conversation/message.ts"
import { takenBack } from "../history/parts.ts"
import type { Work } from "../record.ts"
import { stageEvents } from "./late-stage-events.ts"

/**
 * What was shown of a reply that no whole one takes the place of, as a message that says so; nothing where nothing was.
 * A reply that failed may have had earlier attempts: where the last one had not come to its first word, theirs is kept.
 */
export async function brokenOffReply(
  { conversation, agent }: Pick<Work, "conversation" | "agent">,
  finish: "cancelled" | "broken",
  shown: Part[] = [],
): Promise<NewEvent[]> {
  const earlier = finish === "broken" ? conversation.run?.shown : undefined
  const parts =
    takenBack(shown).length > 0 || earlier === undefined ? shown : [{ type: "text" as const, text: earlier }]
  if (takenBack(parts).length === 0) return []
  const cited = agent.stages ? (await stageEvents()).citedIn(conversation, parts) : {}
  const message = {
    type: "message",
    id: newId("msg", conversation.user),
    seq: conversation.seq + 1,
    role: "assistant",
    parts,
  } as const
  return [{ ...message, finish, ...cited }]
}
