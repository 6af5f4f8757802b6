import type { Context } from "hono"
import type { AskedAnswers } from "../../../dialects/ai-sdk/asked-chat.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { failure } from "../../../protocol/errors.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { bringResults, handedCalls } from "../../stream/bring-results.ts"
import { decideAndGoOn } from "./decide-and-go-on.ts"
import type { AiSdkPorts } from "./ports.ts"
import type { StreamedRun } from "./stream-run.ts"

interface Answering {
  readonly asked: AskedAnswers
  readonly found: ConversationView
}

/** Takes what a page's message answers: what its person has decided, and what its own tools have brought. */
export async function goOn(c: Context<Env>, ports: AiSdkPorts, { asked, found }: Answering): Promise<StreamedRun> {
  const { id } = found
  const user = userOf(c)
  const { waiting, ended } = await handedCalls(ports, user, id)
  // What stands there as the results of our own tools is known here, and better.
  const results = asked.results.filter(({ callId }) => waiting.has(callId) || ended.has(callId))
  if (asked.decisions.length > 0) return decideAndGoOn(c, ports, { asked, found, results })
  if (results.length === 0)
    throw failure("bad_request", {
      problem: "messages: the last one answers nothing that waits. Say something, or read the chat anew.",
    })
  const { frames } = await bringResults(ports, { user, id, results })
  return { id, frames, goesOnIn: asked.goesOnIn }
}
