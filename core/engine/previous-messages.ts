import type { EventOf, JournalEvent, ResultTaint, UnknownEvent } from "../protocol/events.ts"
import type { ConversationId } from "../protocol/ids.ts"
import { showHidden } from "../shared/text/show-hidden.ts"
import { showNumbers, sourcesIn } from "./history/source-numbers.ts"
import { FIND_EARLIER, READ_EARLIER } from "./definition/joined-tools.ts"
import type { Schema } from "./definition/schema.ts"
import { answer, type Answer, defineTool, failed, type Tool } from "./definition/tool.ts"
import { messageText } from "./history/history.ts"
import type { Journal } from "./journal.ts"
import { isKnown } from "./replay/replay.ts"

const HITS_A_PAGE = 8
const MAX_PAGE = 20
const PAGE_CHARACTERS = 4000

/** Tools that search and read messages that were removed from the model's history. They read this conversation only. */
export function previousMessageTools(journal: Pick<Journal, "read" | "readPage">): readonly Tool[] {
  return [
    defineTool<FindInput>({
      name: FIND_EARLIER,
      description:
        "Search earlier messages and results of this conversation that are no longer in the context, by words in their text. " +
        `Answers with passages and their positions; ${READ_EARLIER} reads one whole.`,
      input: asSchema({ words: "string", page: "number" }, ["words"]),
      effect: "read",
      afterCrash: "run-again",
      async run({ words, page = 1 }, { conversation }) {
        const until = Math.min(page, MAX_PAGE) * HITS_A_PAGE
        const { hits, read } = await findEarlier(journal, conversation, { words, most: until + 1 })
        const shown = hits.slice(until - HITS_A_PAGE, until)
        if (shown.length === 0)
          return failed(`Nothing in ${read} messages has these words. Try others, fewer, or a part of a word.`)
        const more = hits.length > until ? `\n\nThere is more: page ${page + 1}.` : ""
        return answer(shown.map(toWords).join("\n\n") + more, bringing(shown))
      },
    }),
    defineTool<ReadInput>({
      name: READ_EARLIER,
      description: "Read an earlier message or result of this conversation again, by its position.",
      input: asSchema({ position: "number", page: "number" }, ["position"]),
      effect: "read",
      afterCrash: "run-again",
      async run({ position, page = 1 }, { conversation }) {
        const [event] = await journal.read(conversation, { after: position - 1, upTo: position })
        const earlier = event && earlierText(event as JournalEvent | UnknownEvent)
        if (!earlier) return failed(`No message stands at ${position}. ${FIND_EARLIER} names positions.`)
        const pages = Math.max(1, Math.ceil(earlier.text.length / PAGE_CHARACTERS))
        if (page > pages) return failed(`It has ${pages} page(s).`)
        const text = earlier.text.slice((page - 1) * PAGE_CHARACTERS, page * PAGE_CHARACTERS)
        const more = page < pages ? `\n[Page ${page} of ${pages}; continued on page ${page + 1}.]` : ""
        return answer(`${earlier.who}, position ${position}:\n${text}${more}`, bringing([earlier]))
      },
    }),
  ]
}

interface FindInput {
  readonly words: string
  readonly page?: number
}

interface ReadInput {
  readonly position: number
  readonly page?: number
}

const toWords = ({ position, who, at, passage }: Hit): string =>
  `Position ${position}, ${new Date(at).toISOString().slice(0, 16).replace("T", " ")}, ${who}:\n${passage}`

/** Untrusted text is still untrusted when it is read again. */
function bringing(read: readonly Pick<EarlierText, "brings">[]): Pick<Answer, "taint"> {
  const found = new Set(read.map(({ brings }) => brings))
  return found.has("outside") ? { taint: "untrusted" } : found.has("folder") ? { taint: "folder" } : {}
}

type Shape = Readonly<Record<string, "string" | "number">>

/** A schema by hand, because the engine loads no schema library. Numbers are integers from 1. */
function asSchema<Input>(shape: Shape, required: readonly string[]): Schema<Input> {
  const properties = Object.fromEntries(
    Object.entries(shape).map(([name, type]) => [name, type === "string" ? { type } : { type: "integer", minimum: 1 }]),
  )
  const problemOf = (given: Record<string, unknown>): [string, string] | undefined => {
    for (const [name, type] of Object.entries(shape)) {
      const value = given[name]
      if (value === undefined && !required.includes(name)) continue
      if (type === "string" && (typeof value !== "string" || value.trim() === ""))
        return [name, "some words are needed"]
      if (type === "number" && !(Number.isSafeInteger(value) && (value as number) > 0))
        return [name, "a whole number from 1 is needed"]
    }
    return undefined
  }
  return {
    "~standard": {
      validate(value) {
        const given = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>
        const problem = problemOf(given)
        return problem ? { issues: [{ path: [problem[0]], message: problem[1] }] } : { value: given as Input }
      },
      jsonSchema: { input: () => ({ type: "object", properties, required, additionalProperties: false }) },
    },
  }
}

interface Hit extends Omit<EarlierText, "text"> {
  readonly position: number
  readonly at: number
  readonly passage: string
  /** How many of the words it contains. */
  readonly score: number
}

interface WantedWords {
  readonly words: string
  /** The most passages. */
  readonly most: number
}

const MAX_WORDS = 16
/** A search reads at most this many rows of the journal, from the first. */
const MAX_ROWS = 200_000
const PAGE = { limit: 500, maxLength: 2_000_000 }
const AROUND = 160

/**
 * Searches a journal page by page, so that it is never in memory at once. Passages with the most words come first, and
 * the newest among them. The current question is left out: it contains the words because it asks for them.
 */
async function findEarlier(
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
  /** Hits of the newest run. Which of them is its question is known only at the end of the journal. */
  #newest: (Hit & { readonly isQuestion: boolean })[] = []
  /** Calls of these tools, whose results repeat what is found in its original place. */
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

interface EarlierText {
  readonly who: string
  readonly text: string
  /** Set if it contains untrusted text. */
  readonly brings?: "outside" | "folder" | undefined
}

/** An event as text for a model that searches the journal; undefined if the event has none. */
function earlierText(event: JournalEvent | UnknownEvent): EarlierText | undefined {
  if (!isKnown(event)) return undefined
  if (event.type === "tool_end") return resultText(event)
  if (event.type !== "message") return undefined
  const message = messageText(event.parts)
  const called = event.parts.flatMap((part) =>
    part.type === "call" ? [`[called ${part.name} with ${JSON.stringify(part.input)}]`] : [],
  )
  const text = [message, ...called].filter((part) => part !== "").join("\n")
  return { who: event.role === "user" ? "the person" : "you", text }
}

const othersIn = (brings: ResultTaint | undefined) =>
  brings === "folder" ? brings : brings === "outside" || brings === "both" ? "outside" : undefined

function resultText({ text, data, brings }: EventOf<"tool_end">): EarlierText {
  const sources = sourcesIn(data)
  const numbers = new Map(sources?.flatMap(({ id, number }) => (number === undefined ? [] : [[id, number] as const])))
  const shown = showHidden(text)
  // A passage keeps its number, and the numbers in its text are removed.
  return { who: "a result", text: sources ? showNumbers(shown, numbers, sources) : shown, brings: othersIn(brings) }
}
