import { hasCode } from "../../../src/client/index.ts"
import type { QueuedMessage } from "../../../src/protocol/index.ts"
import { client } from "../../state/client.ts"
import { restoreDraft } from "./draft.ts"

/** Those that a request without an answer may have taken back. */
const maybeBack = new Set<string>()

/** Takes a message that waits back into the field it was written in, with its files. Rejects where it is no longer there to be taken. */
export async function takeBackQueued(conversationId: string, { id, text, files }: QueuedMessage): Promise<void> {
  try {
    await client.withdrawQueued({ params: { id: conversationId, messageId: id } })
  } catch (error) {
    // The answer was lost and nothing has taken the message meanwhile: then it was this that took it back.
    const isBack = maybeBack.has(id) && hasCode(error, "not_found")
    if (hasCode(error, "unreachable")) maybeBack.add(id)
    if (!isBack) throw error
  }
  maybeBack.delete(id)
  restoreDraft(conversationId, text, files)
}
