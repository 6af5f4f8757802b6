import type { ConversationId } from "../../protocol/ids.ts"
import { JournalPages } from "./journal-pages.ts"
import type { StreamPorts } from "./ports.ts"
import type { JournalRow } from "./told-rows.ts"

/** A run as far as it is told. */
export interface RunRange {
  readonly id: ConversationId
  /** Its first row. */
  readonly start: number
  /** The last one that counts. */
  readonly position: number
}

/**
 * The rows of a run, page after page. A run may hold the results of a thousand calls: nobody holds all of it, and nobody
 * else waits while it is read.
 */
export async function* runRows(
  { journal }: Pick<StreamPorts, "journal">,
  { id, start, position }: RunRange,
): AsyncGenerator<readonly JournalRow[], void, void> {
  const pages = new JournalPages(journal, id, "most")
  for (let after = start - 1, more = true; more && after < position;) {
    const page = await pages.read({ after, upTo: position })
    if (page.events.length > 0) yield page.events
    more = page.more && page.events.length > 0
    after = page.events.at(-1)?.position ?? after
  }
}
