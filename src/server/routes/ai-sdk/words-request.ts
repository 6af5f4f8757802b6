import type { AskedWords } from "../../../dialects/ai-sdk/asked-chat.ts"
import type { UiChatRequest } from "../../../protocol/dialects/ai-sdk.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"

/** A request to say something. */
export interface WordsRequest {
  readonly asked: AskedWords
  readonly body: UiChatRequest
  /** The conversation of its chat, where something was said in it before. */
  readonly found: ConversationView | undefined
}
