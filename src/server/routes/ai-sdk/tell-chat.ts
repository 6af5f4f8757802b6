import type { Context } from "hono"
import { ToldChat } from "../../../dialects/ai-sdk/told-chat.ts"
import type { UiChat } from "../../../protocol/ai-sdk.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import type { Env } from "../../door/request-env.ts"
import { FrameMaker } from "../../stream/frame-maker.ts"
import { JournalPages } from "../../stream/journal-pages.ts"
import { findNamedChat } from "./chat-conversation.ts"
import { isOpen, newestRun } from "./newest-run.ts"
import type { AiSdkPorts } from "./ports.ts"

/** How many runs of a chat are told at once, the newest. */
const MAX_RUNS = 50

/** A chat as a page begins with it. What a run at work has not recorded yet comes with its stream. */
export async function tellChat(c: Context<Env>, ports: AiSdkPorts): Promise<UiChat> {
  const found = await findNamedChat(c, ports)
  if (!found) return { conversationId: null, activeStreamId: null, messages: [], truncated: false }
  const run = await newestRun(ports, found.id)
  const { start, truncated } = await firstTold(ports, found)
  const chat = new ToldChat(found.id)
  const frames = new FrameMaker(found.id)
  const pages = new JournalPages(ports.journal, found.id)
  for (let [after, more] = [start - 1, start > 0]; more;) {
    const page = await pages.read({ after, upTo: found.position })
    for (const row of page.events) chat.read(frames.rows(row, 0))
    after = page.events.at(-1)?.position ?? after
    more = page.more && after < found.position
  }
  const activeStreamId = run && isOpen(run) ? run.runId : null
  return { conversationId: found.id, activeStreamId, messages: [...chat.toMessages()], truncated }
}

/** Where the first run begins that is told; 0 where there is none. */
async function firstTold(
  { conversations }: AiSdkPorts,
  { id, position }: ConversationView,
): Promise<{ readonly start: number; readonly truncated: boolean }> {
  let start = 0
  for (let [upTo, runs] = [position, 0]; ; runs++) {
    const next = await conversations.runStart(id, upTo)
    if (next === 0) return { start, truncated: false }
    if (runs === MAX_RUNS) return { start, truncated: true }
    start = next
    upTo = next - 1
  }
}
