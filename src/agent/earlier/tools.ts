import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import { findEarlier, type Hit } from "./find.ts"
import { earlierText } from "./text.ts"
import { FIND_EARLIER, READ_EARLIER } from "../definition/earlier-names.ts"
import type { Schema } from "../definition/schema.ts"
import { answer, defineTool, failed, type Tool } from "../definition/tool.ts"
import type { Journal } from "../journal.ts"

const HITS_A_PAGE = 8
const MAX_PAGE = 20
const PAGE_CHARACTERS = 4000

/** Ways back to what the model is no longer shown: by words, and by its place. They read this conversation and no other. */
export function earlierTools(journal: Pick<Journal, "read" | "readPage">): readonly Tool[] {
  return [
    defineTool<FindInput>({
      name: FIND_EARLIER,
      description:
        "Find what was said or found earlier in this conversation and is no longer in sight: by words that stand in it. " +
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
      description: "Read a message or a result of this conversation again that is no longer in sight, by its position.",
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
        const more = page < pages ? `\n[Page ${page} of ${pages}; page ${page + 1} goes on.]` : ""
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

/** Words from outside are so when they are read again, too. */
const bringing = (told: readonly { readonly isOutside: boolean }[]) =>
  told.some(({ isOutside }) => isOutside) ? ({ brings: "outside" } as const) : {}

type Shape = Readonly<Record<string, "string" | "number">>

/** A schema by hand: the heart loads no library for one. Numbers are whole and begin at 1. */
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
