import { setImmediate as turn } from "node:timers/promises"
import type { EventPage, Journal } from "../../agent/journal.ts"
import type { ConversationId } from "../../protocol/ids.ts"

/** Rows are read so many at a time, fewer where they are long: a watcher that does not read on holds what was read. */
const PAGES = { first: 8, most: 64 }
const MAX_PAGE_LENGTH = 256 * 1024

/** The rows of one conversation, page after page, for whoever has to catch up with it. */
export class JournalPages {
  readonly #journal: Pick<Journal, "readPage">
  readonly #id: ConversationId
  readonly #first: number
  #limit = 0

  /** `most`: for who holds nothing of what is read, and wants all of it: from the first page on as many rows as fit. */
  constructor(journal: Pick<Journal, "readPage">, id: ConversationId, begins: "few" | "most" = "few") {
    this.#journal = journal
    this.#id = id
    this.#first = begins === "few" ? PAGES.first : PAGES.most
  }

  /** The next rows behind a position; `more` where there may be others behind them. */
  async read(range: { after: number; upTo?: number }): Promise<{ events: EventPage["events"]; more: boolean }> {
    // An embedded store answers without a turn of the event loop: many pages in a row would hold up everybody else.
    if (this.#limit > 0) await turn()
    const limit = this.#limit || this.#first
    const page = await this.#journal.readPage(this.#id, { ...range, limit, maxLength: MAX_PAGE_LENGTH })
    const { events, found } = page
    this.#limit = nextLimit(limit, page)
    return { events, more: found === limit || events.length < found }
  }
}

/** How many rows to read next, so that a page has about the intended length, judged by the rows just read. */
function nextLimit(limit: number, { found, length }: EventPage): number {
  const fitting = length === 0 ? PAGES.most : Math.floor((found * MAX_PAGE_LENGTH) / length)
  return Math.max(1, Math.min(PAGES.most, 2 * limit, fitting))
}
