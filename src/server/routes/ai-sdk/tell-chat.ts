import type { Context } from "hono"
import type { z } from "zod"
import { ToldChat } from "../../../dialects/ai-sdk/told-chat.ts"
import type { UiChat, UiChatQuery } from "../../../protocol/dialects/ai-sdk.ts"
import { failure } from "../../../protocol/errors.ts"
import type { Env } from "../../door/request-env.ts"
import { isOpen, newestRun } from "../../stream/newest-run.ts"
import { readToldRuns } from "../../stream/told-runs.ts"
import { findNamedChat } from "./chat-conversation.ts"
import type { AiSdkPorts } from "./ports.ts"

/** A chat as a page begins with it. What a run at work has not recorded yet comes with its stream. */
export async function tellChat(
  c: Context<Env>,
  ports: AiSdkPorts,
  { cursor }: z.infer<typeof UiChatQuery>,
): Promise<UiChat> {
  const before = cursor === undefined ? undefined : readCursor(cursor)
  const found = await findNamedChat(c, ports)
  if (!found) return { conversationId: null, activeStreamId: null, messages: [], truncated: false, nextCursor: null }
  const { id, position } = found
  const run = await newestRun(ports, id)
  const told = await readToldRuns(ports, { id, position: Math.min(before ?? position, position) })
  const chat = new ToldChat(id)
  for (const frames of told.runs) chat.read(frames)
  return {
    conversationId: id,
    activeStreamId: run && isOpen(run) ? run.runId : null,
    messages: [...chat.toMessages()],
    truncated: told.before !== null,
    nextCursor: told.before === null ? null : String(told.before),
  }
}

/** Where the runs end that are told: the journal only grows, so it means the same whenever it comes back. */
function readCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw failure("bad_request", { problem: "cursor: this is none of ours; send `nextCursor` of an answer, as it is." })
}
