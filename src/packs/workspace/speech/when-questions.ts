import type { SpokenChange } from "./changes.ts"
import { readWhen } from "./dates.ts"
import type { Meaning } from "./meaning.ts"

type Resolve = (sure: SpokenChange) => Meaning | undefined

/** Whether a change names a day that is not to be guessed: `move it to next week`, `at 5`. */
export const isDoubtful = ({ when }: SpokenChange): boolean => when?.wide === true || when?.readings !== undefined

/** The question about it. What it is about has been found already. */
export function whenOf(change: SpokenChange, resolve: Resolve): Meaning | undefined {
  const { when, updates } = change
  const on = (words: string) => resolve({ ...change, when: { words }, updates: { ...updates, due_date: words } })
  const first = on(when?.words ?? "")
  if (!first || "says" in first) return first
  if ("asks" in first) return { says: "There is more than one of that name. Say its whole name, and the day." }
  const callsOn = (words: string) => {
    const meaning = on(words)
    return meaning && "calls" in meaning ? meaning.calls : []
  }
  return {
    asks: when?.wide ? `Which day do you mean by "${when.words}"?` : "Which time do you mean?",
    options: (when?.readings ?? []).map((words) => ({ label: words, calls: callsOn(words), words: [words] })),
    accepts: (answer) => {
      const said = readWhen(answer)
      return said && !said.wide && !said.readings ? on(said.words) : undefined
    },
  }
}
