import type { EventPage } from "../../../agent/journal.ts"
import type { ConversationId, RunId } from "../../../protocol/ids.ts"
import type { JournalEvent } from "../../../protocol/events.ts"
import { rowsLength } from "../../../protocol/rows-length.ts"
import { JournalPages } from "../../stream/journal-pages.ts"
import type { ConversationRoutePorts } from "./ports.ts"

/** As many rows as one answer holds, fewer where they are long. */
const MAX_ROWS = 500
const MAX_LENGTH = 1_000_000

type Row = EventPage["events"][number]

interface RowsOfRun {
  readonly rows: readonly Row[]
  /** What to ask for next; null behind the last there is now. */
  readonly nextAfter: number | null
}

interface Behind {
  readonly id: RunId
  readonly conversationId: ConversationId
  readonly after: number
}

/** The rows of a run behind a position. What was said between this run and the next belongs to this one. */
export async function readRunJournal(
  { conversations, journal }: Pick<ConversationRoutePorts, "conversations" | "journal">,
  { id, conversationId, after }: Behind,
): Promise<RowsOfRun> {
  const place = await conversations.rowsOfRun(conversationId, id)
  // The row of a run is written with its first event: without one, the conversation was erased a moment ago.
  if (!place) return { rows: [], nextAfter: null }
  const pages = new JournalPages(journal, conversationId)
  const rows: Row[] = []
  let length = 0
  for (let behind = Math.max(after, place.start - 1); ;) {
    const { events, more } = await pages.read({ after: behind, upTo: place.upTo })
    rows.push(...events)
    behind = events.at(-1)?.position ?? behind
    if (!more || events.length === 0) return { rows, nextAfter: null }
    length += rowsLength(events as readonly JournalEvent[]) // one of a newer Pawl has a length too
    if (rows.length >= MAX_ROWS || length >= MAX_LENGTH) return { rows, nextAfter: behind }
  }
}
