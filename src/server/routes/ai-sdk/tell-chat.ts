import type { Context } from "hono"
import { ToldChat } from "../../../dialects/ai-sdk/told-chat.ts"
import type { UiChat } from "../../../protocol/ai-sdk.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import type { JournalEvent } from "../../../protocol/events.ts"
import { rowsLength } from "../../../protocol/rows-length.ts"
import type { Env } from "../../door/request-env.ts"
import { FrameMaker } from "../../stream/frame-maker.ts"
import { JournalPages } from "../../stream/journal-pages.ts"
import { findNamedChat } from "./chat-conversation.ts"
import { isOpen, newestRun } from "./newest-run.ts"
import type { AiSdkPorts } from "./ports.ts"

/** How many runs of a chat are told at once, the newest; fewer where they have more than so many characters. */
const MAX_RUNS = 50
const MAX_LENGTH = 1_000_000

/** A chat as a page begins with it. What a run at work has not recorded yet comes with its stream. */
export async function tellChat(c: Context<Env>, ports: AiSdkPorts): Promise<UiChat> {
  const found = await findNamedChat(c, ports)
  if (!found) return { conversationId: null, activeStreamId: null, messages: [], truncated: false }
  const run = await newestRun(ports, found.id)
  const activeStreamId = run && isOpen(run) ? run.runId : null
  return { conversationId: found.id, activeStreamId, ...(await newestRuns(ports, found)) }
}

/** Backwards from the newest, so that nothing is read that is not told. */
async function newestRuns(
  ports: AiSdkPorts,
  { id, position }: ConversationView,
): Promise<Pick<UiChat, "messages" | "truncated">> {
  const messages: UiChat["messages"] = []
  let length = 0
  for (let [end, runs] = [position, 0]; ; runs++) {
    const start = await ports.conversations.runStart(id, end)
    if (start === 0) return { messages, truncated: false }
    if (runs === MAX_RUNS || length > MAX_LENGTH) return { messages, truncated: true }
    const run = await tellRun(ports, { id, start, end })
    messages.unshift(...run.messages)
    length += run.length
    end = start - 1
  }
}

async function tellRun(
  { journal }: AiSdkPorts,
  { id, start, end }: Pick<ConversationView, "id"> & { readonly start: number; readonly end: number },
): Promise<{ readonly messages: UiChat["messages"]; readonly length: number }> {
  const chat = new ToldChat(id)
  const frames = new FrameMaker(id)
  const pages = new JournalPages(journal, id)
  let length = 0
  for (let [after, more] = [start - 1, true]; more;) {
    const page = await pages.read({ after, upTo: end })
    for (const row of page.events) chat.read(frames.rows(row, 0))
    length += rowsLength(page.events as readonly JournalEvent[]) // one of a newer Pawl has a length too
    after = page.events.at(-1)?.position ?? after
    more = page.more && after < end
  }
  return { messages: [...chat.toMessages()], length }
}
