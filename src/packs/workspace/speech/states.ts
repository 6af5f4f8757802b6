import { own } from "../../../protocol/own.ts"
import { part, type RequestText, toPlainWords } from "./words.ts"

const STATES: Readonly<Record<string, string>> = {
  ...{ open: "todo", todo: "todo", "to do": "todo", "not done": "todo", undone: "todo", "not started": "todo" },
  ...{ "in progress": "in_progress", started: "in_progress", ongoing: "in_progress" },
  ...{ done: "done", finished: "done", completed: "done", complete: "done", closed: "done" },
}
const FILLERS = /^(?:as |to |be |already |now )+/

/** The state that these words name, all of them. */
export const spokenState = (phrase: RequestText): string | undefined =>
  own(STATES, toPlainWords(phrase).replace(FILLERS, ""))

/** Takes it off the end: `Buy milk as done`, `Buy milk done`. */
export function stateAtEnd(phrase: RequestText): { rest: RequestText; state: string } | undefined {
  const { length } = phrase.words
  for (let at = Math.max(1, length - 4); at < length; at++) {
    const state = spokenState(part(phrase, at))
    if (state) return { rest: part(phrase, 0, at), state }
  }
  return undefined
}
