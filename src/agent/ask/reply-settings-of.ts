import { withSettings } from "../../protocol/conversation/with-settings.ts"
import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import type { Work } from "../record.ts"

/** How the model is to reply now: as the server says, over that the agent, over that the conversation, over that the message. */
export function replySettingsOf({
  ports,
  agent,
  conversation,
}: Pick<Work, "ports" | "agent" | "conversation">): ReplySettings {
  const levels = [agent.settings, conversation.settings, conversation.run?.settings]
  return levels.reduce<ReplySettings>(withSettings, ports.settings ?? {})
}
