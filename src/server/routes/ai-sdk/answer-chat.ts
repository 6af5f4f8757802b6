import type { Context } from "hono"
import { readUiRequest } from "../../../dialects/ai-sdk/asked-chat.ts"
import type { UiChatRequest } from "../../../protocol/dialects/ai-sdk.ts"
import { failure } from "../../../protocol/errors.ts"
import type { Env } from "../../door/request-env.ts"
import { findChat } from "./chat-conversation.ts"
import { goOn } from "./go-on.ts"
import type { AiSdkPorts } from "./ports.ts"
import { sayChatWords } from "./say-words.ts"
import { streamRun } from "./stream-run.ts"

/** What the last message of a chat asks for, and the run that answers it. */
export async function answerUiChat(c: Context<Env>, ports: AiSdkPorts, body: UiChatRequest): Promise<Response> {
  const asked = readUiRequest(body)
  ports.streams.admit(c.get("caller"))
  const found = await findChat(c, ports, body.id)
  if (asked.type === "words") return streamRun(c, ports, await sayChatWords(c, ports, { asked, body, found }))
  if (!found) throw failure("not_found")
  return streamRun(c, ports, await goOn(c, ports, { asked, found }))
}
