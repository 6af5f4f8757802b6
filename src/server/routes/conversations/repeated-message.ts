import type { Context } from "hono"
import type { MessageInput } from "../../../agent/input.ts"
import type { QueuedAnswer } from "../../../protocol/answers.ts"
import { failure } from "../../../protocol/errors.ts"
import { type ConversationId, type MessageId, newId } from "../../../protocol/ids.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { streamFrames, subscribe, wantsStream } from "../../stream/open-stream.ts"
import type { ConversationRoutePorts } from "./ports.ts"
import { answerOfRun } from "./run-answer.ts"
import { framesOfRun } from "../../stream/say-and-watch.ts"

const KEY_HEADER = "idempotency-key"
const MAX_KEY = 255

export const hasKey = (c: Context<Env>): boolean => c.req.header(KEY_HEADER) !== undefined

/** A new id, or the one that the caller's key has stood for since it was first sent. */
export async function messageIdFor(
  c: Context<Env>,
  { messageKeys }: ConversationRoutePorts,
  { id, body }: { id: ConversationId; body: unknown },
): Promise<{ messageId: MessageId; repeated: boolean }> {
  const key = c.req.header(KEY_HEADER)
  const messageId = newId("msg", userOf(c))
  if (key === undefined) return { messageId, repeated: false }
  if (key === "" || key.length > MAX_KEY)
    throw failure("bad_request", { problem: `Idempotency-Key: 1 to ${MAX_KEY} characters.` })
  const claimed = await messageKeys.claim(id, { key, body: JSON.stringify(body), messageId })
  if (claimed === "misused") throw failure("key_reused")
  if (claimed === "withdrawn") throw failure("message_withdrawn")
  return { messageId: claimed, repeated: claimed !== messageId }
}

export interface Repeated {
  readonly id: ConversationId
  readonly message: MessageInput
  /** Where the conversation was when the request came. */
  readonly position: number
}

/** The same answer as the first request gets, or would have got: attached to its run, which is not begun again. */
export async function answerRepeated(
  c: Context<Env>,
  ports: ConversationRoutePorts,
  { id, message, position }: Repeated,
): Promise<Response> {
  const streams = wantsStream(c)
  let place = await ports.conversations.placeOf(id, message.id)
  if (place === undefined) {
    // It is on its way in, or its process died before it was kept. Sent now, it is taken once all the same.
    await ports.runtime.submit(id, message)
    place = (await ports.conversations.placeOf(id, message.id)) ?? "waiting"
  }
  if (place === "waiting" && !streams) return c.json(toQueued(message), 202)
  const start = place === "waiting" ? 0 : await ports.conversations.runStart(id, place)
  // Words stand right behind the row that starts their run; those that were let into a working one stand alone.
  const from = place === "waiting" ? position + 1 : place === start + 1 ? start : place
  const source = await subscribe(ports, { id, after: { position: from - 1, offset: 0 } })
  const frames = framesOfRun(ports, source, { id, position, message: message.id, waits: place === "waiting" })
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
