import type { Context } from "hono"
import type { MessageInput } from "../../../agent/input.ts"
import type { QueuedAnswer } from "../../../protocol/answers.ts"
import { failure } from "../../../protocol/errors.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { streamFrames, wantsStream } from "../../stream/open-stream.ts"
import type { ConversationRoutePorts } from "./ports.ts"
import { answerOfRun } from "./run-answer.ts"
import { type Repeated, watchRepeated } from "../../stream/watch-repeated.ts"

/** The same answer as the first request gets, or would have got: attached to its run, which is not begun again. */
export async function answerRepeated(
  c: Context<Env>,
  ports: ConversationRoutePorts,
  { id, message, position }: Repeated,
): Promise<Response> {
  const streams = wantsStream(c)
  const watched = await watchRepeated(ports, { id, message, position })
  if (watched.waits && !streams) {
    watched.frames.close()
    return c.json(toQueued(message), 202)
  }
  const { frames, start, from } = watched
  if (streams) return streamFrames(c, ports, frames)
  // Like a stream it ends when the server goes down, and when its caller no longer counts.
  const letGo = ports.streams.register(c.get("caller"), () => frames.close())
  try {
    while (await frames.next());
  } finally {
    letGo()
    frames.close()
  }
  const [started] = await ports.journal.read(id, { after: start - 1, upTo: start })
  if (started?.type !== "run_started" || !("runId" in started)) throw failure("internal")
  const answer = await answerOfRun(ports, { user: userOf(c), id, runId: started.runId, position: from })
  // Still running: another life will finish it, as for whoever sent the message first.
  return answer.run.status === "running" ? c.json(toQueued(message), 202) : c.json(answer)
}

export function toQueued({ id, text, when }: MessageInput): QueuedAnswer {
  return { queued: { id, text, when: when === "steer" ? "steer" : "queue" } }
}
