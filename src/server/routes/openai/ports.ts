import type { Ports } from "../../../agent/ports.ts"
import type { ConversationId, UserId } from "../../../protocol/ids.ts"
import type { MessageKeys } from "../../conversation/message-key.ts"
import type { StreamPorts } from "../../stream/ports.ts"

/** Beside what every stream needs: requests that come twice, and answers that fit a schema. */
export interface OpenAiPorts extends StreamPorts {
  readonly answerSchema?: Ports["answerSchema"]
  readonly messageKeys: MessageKeys
  readonly retention: { eraseConversation(user: UserId, id: ConversationId): Promise<boolean> }
}
