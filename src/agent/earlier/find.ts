import type { ConversationId } from "../../protocol/ids.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import { FIND_EARLIER, READ_EARLIER } from "../definition/earlier-names.ts"
import { type EarlierText, earlierText } from "./text.ts"
import type { Journal } from "../journal.ts"

export interface Hit extends Omit<EarlierText, "text"> {
  readonly position: number
  readonly at: number
  readonly passage: string
  /** How many of the words stand in it. */
  readonly score: number
}

export interface WantedWords {
  readonly words: string
  /** How many passages at most. */
  readonly most: number
}

const MAX_WORDS = 16
/** Rows of the journal that one look goes through, from the first on. */
const MAX_ROWS = 200_000
const PAGE = { limit: 500, maxLength: 2_000_000 }
const AROUND = 160

/**
 * Looks through a journal page by page, so that it is never held at once. What has most of the words comes first, and of
 * those the newest. The question that is being answered is left out: it has the words because it asks for them.
 */
export async function findEarlier(
  journal: Pick<Journal, "readPage">,
  id: ConversationId,
  { words, most }: WantedWords,
): Promise<{ hits: Hit[]; read: number }> {
  const wanted = [...new Set(words.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, MAX_WORDS)
  const search = new Search(wanted, most)
  let after = 0
  for (let rows = 0; wanted.length > 0 && rows < MAX_ROWS;) {
    const { events } = await journal.readPage(id, { after, ...PAGE })
    for (const event of events) search.see(event)
    const last = events.at(-1)
    if (!last) break
    after = last.position
    rows += events.length
  }
  return search.end()
}

class Search {
  readonly #wanted: readonly string[]
  readonly #most: number
  #best: Hit[] = []
  /** Of the newest run, of which the question is not known until its journal ends. */
  #newest: (Hit & { readonly isQuestion: boolean })[] = []
  /** Calls of these very tools: what they found is found where it stands. */
  readonly #own = new Set<string>()
  #read = 0

  constructor(wanted: readonly string[], most: number) {
    this.#wanted = wanted
    this.#most = most
  }

  see(event: JournalEvent | UnknownEvent): void {
    if (event.type === "run_started") this.#settle(this.#newest)
    if (event.type === "message" && "parts" in event)
      for (const part of event.parts)
        if (part.type === "call" && (part.name === FIND_EARLIER || part.name === READ_EARLIER)) this.#own.add(part.id)
    if ("callId" in event && this.#own.has(event.callId)) return
    const earlier = earlierText(event)
    if (!earlier) return
    this.#read++
    const { text, ...rest } = earlier
    const lower = text.toLowerCase()
    const found = this.#wanted.filter((word) => lower.includes(word))
    if (found.length === 0) return
    const isQuestion = event.type === "message" && "role" in event && event.role === "user"
    const passage = around(text, lower.indexOf(found[0] as string))
    this.#newest.push({ ...rest, position: event.position, at: event.at, passage, score: found.length, isQuestion })
  }

  end(): { hits: Hit[]; read: number } {
    this.#settle(this.#newest.filter(({ isQuestion }) => !isQuestion))
    return { hits: this.#best, read: this.#read }
  }

  #settle(hits: readonly Hit[]): void {
    if (hits.length > 0)
      this.#best = [...this.#best, ...hits]
        .sort((a, b) => b.score - a.score || b.position - a.position)
        .slice(0, this.#most)
    this.#newest = []
  }
}

function around(text: string, index: number): string {
  const from = Math.max(0, index - AROUND)
  const passage = text.slice(from, index + AROUND).toWellFormed()
  return `${from > 0 ? "…" : ""}${passage}${index + AROUND < text.length ? "…" : ""}`
}
