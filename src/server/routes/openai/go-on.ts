import type { Context } from "hono"
import { isOurs } from "../../../agent/conversation.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { failure } from "../../../protocol/errors.ts"
import { type ConversationId, isId, type RunId } from "../../../protocol/ids.ts"
import { conversationOf } from "../../conversation/find.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import type { OpenAiPorts } from "./ports.ts"

/** What a request names that goes on with something. */
interface Named {
  readonly conversation: string | undefined
  readonly after?: RunId | undefined
}

/** The conversation that a request goes on with, if it names one. Throws `not_found` for what is not the caller's. */
export async function findNamed(
  c: Context<Env>,
  ports: OpenAiPorts,
  { conversation, after }: Named,
): Promise<ConversationView | undefined> {
  const user = userOf(c)
  const id = after ? (await ports.conversations.run(user, after))?.conversationId : conversation
  if (id === undefined && !after) return undefined
  if (id === undefined || !isId("conv", id)) throw failure("not_found")
  return conversationOf(ports, user, id)
}

/** A conversation stays with its agent, and nobody's mode is changed by a header. */
export function requireFit(
  found: ConversationView,
  { agent, mode }: { readonly agent: string; readonly mode: "read-only" | undefined },
): void {
  if (found.agent !== agent)
    throw failure("bad_request", {
      problem: `model: this conversation is with pawl/${found.agent}; begin another one.`,
    })
  if (mode && found.mode !== mode)
    throw failure("bad_request", { problem: "X-Pawl-Writes: in this conversation writes wait; begin another one." })
}

/**
 * The newest run, where nobody has said anything since `after`: a summary, an undo and a proposal that was made again are
 * runs of ours. Undefined where somebody has.
 */
export async function newestRunBehind(
  { conversations, journal }: OpenAiPorts,
  id: ConversationId,
  after: RunId,
): Promise<RunId | undefined> {
  let newest: RunId | undefined
  for (let upTo = Number.MAX_SAFE_INTEGER; ;) {
    const start = await conversations.runStart(id, upTo)
    const [started] = start > 0 ? await journal.read(id, { after: start - 1, upTo: start }) : []
    if (started?.type !== "run_started" || !("runId" in started)) return undefined
    newest ??= started.runId
    if (started.runId === after) return newest
    if (!isOurs(started)) return undefined
    upTo = start - 1
  }
}
