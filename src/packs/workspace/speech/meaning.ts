import type { PlannedCall } from "../../../agent/definition/phrases.ts"
import type { RequestText } from "./words.ts"

/** What a request comes to: calls, a question with the readings that are seen, or words. */
export type Meaning = MeantCalls | ClarifyingQuestion | { readonly says: string }

export interface MeantCalls {
  readonly calls: readonly PlannedCall[]
}

/** Asked where a request has more than one meaning, or lacks something: nothing is proposed on a guess. */
export interface ClarifyingQuestion {
  readonly asks: string
  readonly options: readonly Option[]
  /** What an answer that is none of the options comes to. */
  readonly accepts?: (answer: RequestText) => Meaning | undefined
}

export interface Option {
  readonly label: string
  readonly calls: readonly PlannedCall[]
  /** Words that choose it, beside its number. */
  readonly words?: readonly string[]
}

export const plannedCall = (name: string, input: Record<string, unknown> = {}): PlannedCall => ({ name, input })
export const calling = (name: string, input: Record<string, unknown> = {}): MeantCalls => ({
  calls: [plannedCall(name, input)],
})
export const inWords = (says: string) => ({ says })

/** A question as it is put. */
export function toQuestionWords({ asks, options }: ClarifyingQuestion): string {
  if (options.length === 0) return asks
  const lines = options.map(({ label }, index) => `${index + 1}. ${label}`)
  return `${asks}\n\n${lines.join("\n")}\n\nSay the number, or say it in other words.`
}
