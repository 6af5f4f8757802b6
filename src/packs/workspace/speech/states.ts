import { own } from "../../../protocol/own.ts"
import { part, type Phrase, saying } from "./words.ts"

const STATES: Readonly<Record<string, string>> = {
  ...{ open: "todo", todo: "todo", "to do": "todo", "not done": "todo", undone: "todo", "not started": "todo" },
  ...{ "in progress": "in_progress", started: "in_progress", ongoing: "in_progress" },
  ...{ done: "done", finished: "done", completed: "done", complete: "done", closed: "done" },
}
const FILLERS = /^(?:as |to |be |already |now )+/

/** The state that these words name, all of them. */
export const readState = (phrase: Phrase): string | undefined => own(STATES, saying(phrase).replace(FILLERS, ""))

/** Takes it off the end: `Buy milk as done`, `Buy milk done`. */
export function stateAtEnd(phrase: Phrase): { rest: Phrase; state: string } | undefined {
  const { length } = phrase.words
  for (let at = Math.max(1, length - 4); at < length; at++) {
    const state = readState(part(phrase, at))
    if (state) return { rest: part(phrase, 0, at), state }
  }
  return undefined
}
