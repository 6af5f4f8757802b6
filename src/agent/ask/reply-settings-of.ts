import { withSettings } from "../../protocol/conversation/with-settings.ts"
import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import type { Work } from "../record.ts"

/** How the model is to reply now: as the server says, over that the agent, over that the conversation, over that the message. */
export function replySettingsOf({
  ports,
  agent,
  conversation,
}: Pick<Work, "ports" | "agent" | "conversation">): ReplySettings {
  const ofServer = withSettings(ports.settings ?? NONE, agent.settings)
  return withSettings(withSettings(ofServer, conversation.settings), conversation.run?.settings)
}

/** The same one always: who has no settings asks as before, and that is seen without comparing them. */
const NONE: ReplySettings = {}
