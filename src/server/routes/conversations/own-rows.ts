import type { EventPage } from "../../../agent/journal.ts"
import { isKnown } from "../../../agent/replay/replay.ts"
import type { ConversationId } from "../../../protocol/ids.ts"
import { JournalPages } from "../../stream/journal-pages.ts"
import type { ConversationRoutePorts } from "./ports.ts"

type Row = EventPage["events"][number]

interface RunPlace {
  readonly conversationId: ConversationId
  /** Its first row. */
  readonly start: number
}

/**
 * The rows among those of a run that are about it. A write of an earlier run may end, or be settled by its person, while
 * this one is at work: what that says is no part of this run. Only then its calls are looked for.
 */
export async function ownRows(
  { journal }: Pick<ConversationRoutePorts, "journal">,
  { conversationId, start }: RunPlace,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const last = rows.findLast(isOfAnyRun)
  if (!last) return rows
  const calls = new Set<string>()
  const pages = new JournalPages(journal, conversationId)
  for (let [after, more] = [start - 1, true]; more;) {
    const page = await pages.read({ after, upTo: last.position })
    for (const row of page.events) for (const call of callsIn(row)) calls.add(call)
    after = page.events.at(-1)?.position ?? after
    more = page.more && page.events.length > 0
  }
  return rows.filter((row) => !isOfAnyRun(row) || calls.has(row.callId))
}

const isOfAnyRun = (row: Row) => isKnown(row) && (row.type === "late_result" || row.type === "resolution")

function callsIn(row: Row): string[] {
  if (!isKnown(row) || row.type !== "message") return []
  return row.parts.flatMap((part) => (part.type === "call" ? [part.id] : []))
}
