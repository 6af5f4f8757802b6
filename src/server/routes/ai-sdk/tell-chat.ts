import type { Context } from "hono"
import type { z } from "zod"
import { ToldChat } from "../../../dialects/ai-sdk/told-chat.ts"
import type { UiChat, UiChatQuery } from "../../../protocol/ai-sdk.ts"
import type { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { failure } from "../../../protocol/errors.ts"
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
export async function tellChat(
  c: Context<Env>,
  ports: AiSdkPorts,
  { cursor }: z.infer<typeof UiChatQuery>,
): Promise<UiChat> {
  const before = cursor === undefined ? undefined : readCursor(cursor)
  const found = await findNamedChat(c, ports)
  if (!found) return { conversationId: null, activeStreamId: null, messages: [], truncated: false, nextCursor: null }
  const run = await newestRun(ports, found.id)
  const activeStreamId = run && isOpen(run) ? run.runId : null
  const { id, position } = found
  const end = Math.min(before ?? position, position)
  return { conversationId: id, activeStreamId, ...(await newestRuns(ports, { id, position: end })) }
}

/** Where the runs end that are told: the journal only grows, so it means the same whenever it comes back. */
function readCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw failure("bad_request", { problem: "cursor: this is none of ours; send `nextCursor` of an answer, as it is." })
}

/** Backwards from the newest, so that nothing is read that is not told. */
async function newestRuns(
  ports: AiSdkPorts,
  { id, position }: Pick<ConversationView, "id" | "position">,
): Promise<Pick<UiChat, "messages" | "truncated" | "nextCursor">> {
  const messages: UiChat["messages"] = []
  let length = 0
  for (let [end, runs] = [position, 0]; ; runs++) {
    const start = await ports.conversations.runStart(id, end)
    if (start === 0) return { messages, truncated: false, nextCursor: null }
    if (runs === MAX_RUNS || length > MAX_LENGTH) return { messages, truncated: true, nextCursor: String(end) }
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
