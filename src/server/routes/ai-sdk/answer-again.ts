import type { Context } from "hono"
import type { MessageInput } from "../../../agent/input.ts"
import { restAnywhere } from "../../../agent/runtime/rest-anywhere.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { failure } from "../../../protocol/errors.ts"
import { newId } from "../../../protocol/ids.ts"
import { spokenBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { RunFrames } from "../../stream/run-frames.ts"
import { sayAndWatch, watchWhile } from "../../stream/say-and-watch.ts"
import { watchRun } from "../../stream/watch-repeated.ts"
import type { AiSdkPorts } from "./ports.ts"
import type { StreamedRun } from "./stream-run.ts"
import type { WordsRequest } from "./words-request.ts"

/**
 * Answers words once more that are there already. One that is at work on them is told from its beginning; one that failed or
 * was stopped goes on; and behind one that has ended they are said again, because nothing is taken out of a journal.
 */
export async function answerAgain(
  c: Context<Env>,
  ports: AiSdkPorts,
  { asked, found }: WordsRequest & { readonly found: ConversationView },
): Promise<StreamedRun> {
  const { id, position } = found
  const start = await ports.conversations.runStart(id, Number.MAX_SAFE_INTEGER)
  const [newest] = (await ports.conversations.runs(id, { limit: 1 })).items
  const words = (await ports.conversations.messagesOfRun(id, start)).find(({ role }) => role === "user")
  if (!newest || (words && words.content !== asked.text))
    throw failure("bad_request", {
      problem: `trigger: more was said since, which stays; say it anew, or branch with POST /api/conversations/${id}/fork.`,
    })
  if (newest.status === "running") return { id, frames: await watchRun(ports, { id, start, position }) }
  const speaker = spokenBy(c.get("caller"))
  if (newest.status === "failed" || newest.status === "cancelled") {
    await restAnywhere(ports, id) // the store tells that it is over before its writer has heard of it
    const goOn = () => ports.runtime.submit(id, { type: "resume", by: userOf(c), ...speaker })
    const { source } = await watchWhile(ports, found, goOn)
    return { id, frames: new RunFrames(source, found) }
  }
  const message: MessageInput = {
    ...{ type: "message", id: newId("msg", userOf(c)), text: asked.text, when: "reject", behind: newest.id },
    ...speaker,
  }
  return { id, frames: await sayAndWatch(ports, found, message) }
}
