import type { Page } from "../core/protocol/answers.ts"
import type { RecordedEvent } from "../core/protocol/conversation/conversation.ts"
import type { Client } from "./client.ts"

/** A formula in a text. */
export interface PageRequest {
  readonly limit: number
  readonly cursor?: string
}

/** Yields the items of a whole list, page by page. `read` requests one page. */
export async function readPages<Item>(
  read: (
    request: PageRequest,
  ) => Promise<{ readonly items: readonly Item[]; readonly nextCursor?: Page<Item>["nextCursor"] }>,
  limit = 100,
): Promise<Item[]> {
  const all: Item[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await read({ limit, ...(cursor === undefined ? {} : { cursor }) })
    for (const item of page.items) all.push(item)
    cursor = page.nextCursor ?? null // a server that sends no cursor has sent all rows
  }
  return all
}

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
