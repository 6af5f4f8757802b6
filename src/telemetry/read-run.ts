import type { Journal } from "../agent/journal.ts"
import type { EventOf, JournalEvent, UnknownEvent } from "../protocol/events.ts"
import type { ConversationId } from "../protocol/ids.ts"
import type { RecordedRun } from "./run-spans.ts"

/** How many events are read at first: nearly every run is shorter. */
const FIRST_READ = 48
/** A longer run is not told: so many events at once would be a burden. */
const MAX_EVENTS = 20_000

type Reading = Pick<Journal, "read">

/** The run that has an event at this position, up to there. Undefined where there is none, or one that is too long. */
export async function readRunSoFar(
  journal: Reading,
  id: ConversationId,
  upTo: number,
): Promise<RecordedRun | undefined> {
  for (let count = FIRST_READ; count <= MAX_EVENTS; count *= 4) {
    const after = Math.max(0, upTo - count)
    const rows = await journal.read(id, { after, upTo })
    const start = rows.findLastIndex(({ type }) => type === "run_started")
    if (start >= 0) {
      const agent = await agentOf(journal, id, rows[0])
      const events = rows.slice(start) as JournalEvent[]
      return { conversation: id, agent, events: events as unknown as RecordedRun["events"] }
    }
    if (after === 0) return undefined
  }
  return undefined
}

async function agentOf(journal: Reading, id: ConversationId, first?: JournalEvent | UnknownEvent): Promise<string> {
  const begun = first?.type === "conversation_started" ? first : (await journal.read(id, { upTo: 1 }))[0]
  return (begun as EventOf<"conversation_started"> | undefined)?.agent ?? "unknown"
}
