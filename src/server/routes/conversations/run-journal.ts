import type { EventPage } from "../../../agent/journal.ts"
import type { ConversationId, RunId } from "../../../protocol/ids.ts"
import type { RecordedEvent, RunJournal } from "../../../protocol/conversation/run-journal.ts"
import type { JournalEvent } from "../../../protocol/events.ts"
import { rowsLength } from "../../../protocol/rows-length.ts"
import { JournalPages } from "../../stream/journal-pages.ts"
import type { ConversationRoutePorts } from "./ports.ts"

/** As many rows as one answer holds, fewer where they are long. */
const MAX_ROWS = 500
const MAX_LENGTH = 1_000_000

interface Behind {
  readonly id: RunId
  readonly conversationId: ConversationId
  readonly after: number
}

/** The rows of a run behind a position. What was said between this run and the next belongs to this one. */
export async function readRunJournal(
  { conversations, journal }: Pick<ConversationRoutePorts, "conversations" | "journal">,
  { id, conversationId, after }: Behind,
): Promise<RunJournal> {
  const rows = await conversations.rowsOfRun(conversationId, id)
  // The row of a run is written with its first event: without one, the conversation was erased a moment ago.
  if (!rows) return { items: [], nextAfter: null }
  const pages = new JournalPages(journal, conversationId)
  const items: RecordedEvent[] = []
  let length = 0
  for (let behind = Math.max(after, rows.start - 1); ;) {
    const { events, more } = await pages.read({ after: behind, upTo: rows.upTo })
    items.push(...events.map(toRecorded))
    behind = events.at(-1)?.position ?? behind
    if (!more || events.length === 0) return { items, nextAfter: null }
    length += rowsLength(events as readonly JournalEvent[]) // one of a newer Pawl has a length too
    if (items.length >= MAX_ROWS || length >= MAX_LENGTH) return { items, nextAfter: behind }
  }
}

const toRecorded = (event: EventPage["events"][number]): RecordedEvent => ({ ...event })
