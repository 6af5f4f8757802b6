import type { HistoryMessage } from "../model.ts"

/** A plain request the offline model understands, written beside the tool that serves it. */
export interface Phrase {
  /** Matched against the whole message, case-insensitively; named groups are the words that vary. */
  readonly pattern: RegExp
  /** The arguments of the call, from the named groups. */
  arguments(groups: Readonly<Record<string, string | undefined>>): Record<string, unknown>
  /** Shown to people who ask what can be said. */
  readonly example: string
  /** It is about an answer of this tool, and means nothing before there is one. */
  readonly after?: string
}

/** What the offline model understands of one tool, and how it tells its answer. */
export interface ToolPhrases {
  readonly tool: string
  readonly phrases: readonly Phrase[]
  readonly retell?: (text: string, asked: string) => string
}

/** A call that is to be made. */
export interface PlannedCall {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** What a request comes to: calls to make now, or words to say. */
export type Interpretation = { readonly calls: readonly PlannedCall[] } | { readonly says: string }

/**
 * Understands, for the offline model, what no single pattern does: several requests in one, what is said about an earlier
 * answer, and what has to be asked first. It goes by the history alone, also in the middle of a run.
 */
export interface Interpreter {
  /** It is asked wherever one of these tools is at hand. */
  readonly tools: readonly string[]
  /** Undefined where it has nothing to say to what was asked, or nothing more. */
  interpret(history: readonly HistoryMessage[]): Interpretation | undefined
}

interface Speaking {
  readonly name: string
  readonly phrases?: readonly Phrase[]
}

/**
 * What somebody who is new can say to these tools: one request for each tool, so that many things are shown rather than many
 * words for one, then more of what they understand. Making something works at once, and looking; changing what is not
 * there yet does not, and nothing that is about an earlier answer does.
 */
export function firstRequests(tools: readonly Speaking[], most: number): string[] {
  const spoken = tools.map(({ name, phrases = [] }) => {
    return { name, examples: phrases.filter(({ after }) => after === undefined).map(({ example }) => example) }
  })
  const one = (names: RegExp) => spoken.flatMap(({ name, examples }) => (names.test(name) ? examples.slice(0, 1) : []))
  const firsts = [...one(/^create_/).slice(0, Math.ceil(most / 3)), ...one(/^(list|find|search)_/), ...one(/./)]
  const chosen = [...new Set(firsts)].slice(0, most)
  const others = spoken.flatMap(({ examples }) => examples).filter((example) => !chosen.includes(example))
  return [...chosen, ...spread(others, most - chosen.length)]
}

/** At most `most` items, taken evenly from the whole list: neighbours are often alike. */
export function spread<Item>(all: readonly Item[], most: number): Item[] {
  if (all.length <= most) return [...all]
  return Array.from({ length: most }, (_, at) => all[Math.floor(((at + 0.5) * all.length) / most)] as Item)
}
