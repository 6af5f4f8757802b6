import type { RecordedEvent } from "../../protocol/conversation/run-journal.ts"
import type { Client } from "../client.ts"

/** All rows of a run, page by page. */
export async function readRunRows(client: Pick<Client, "readRunJournal">, id: string): Promise<RecordedEvent[]> {
  const rows: RecordedEvent[] = []
  for (let after: number | null = 0; after !== null;) {
    const page: { items: RecordedEvent[]; nextAfter: number | null } = await client.readRunJournal({
      params: { id },
      query: { after },
    })
    rows.push(...page.items)
    after = page.nextAfter
  }
  return rows
}
