import { type Meaning, inWords } from "./meaning.ts"
import { beginsWith, part, type RequestText, toPlainWords as inSmall } from "./words.ts"

const UNDO = ["undo", "undo that", "undo it", "undo this", "take that back", "take it back", "revert", "revert that"]
const UNDO_LAST = [
  "undo the last",
  "undo my last",
  "undo last",
  "revert the last",
  "revert my last",
  "undo what",
  "undo the",
]
const NOT_UNDO =
  "I cannot take a change back by words. Every change that was made can be: on the page under Changes with Undo, in the " +
  "terminal with /undo, over HTTP with POST /api/agent/audit/{id}/undo. It is proposed to you like any other change."
const MANY = [
  ...["delete all", "delete everything", "remove all", "remove everything", "delete every", "clear all", "clear my"],
  ...[
    "delete my tasks",
    "delete the done tasks",
    "delete done tasks",
    "delete completed tasks",
    "wipe",
    "delete both all",
  ],
  ...["mark all", "mark everything", "complete all", "complete everything", "finish all", "archive all", "move all"],
  ...["mark every", "reschedule all", "postpone all", "postpone everything", "move everything", "empty my"],
]
const NOT_MANY =
  "I change one thing at a time, and nothing that I have not shown you by name. List what you mean, for example " +
  "`show my done tasks`, and then say which: `delete the first and the third`."

/** What people ask for that no tool here does, told plainly. */
export function cannot(phrase: RequestText): Meaning | undefined {
  const said = inSmall(phrase)
  if (UNDO.includes(said) || beginsWith(phrase, UNDO_LAST) > 0) return inWords(NOT_UNDO)
  // `delete all of them` points at what was shown.
  if (beginsWith(phrase, MANY) > 0 && !/ of (?:them|these|those)$/.test(said)) return inWords(NOT_MANY)
  const push = beginsWith(phrase, ["push", "postpone", "delay", "move", "shift"])
  const by = push > 0 ? phrase.words.findLastIndex(({ is }) => is === "by") : -1
  const span = by > 0 ? inSmall(part(phrase, by + 1)) : ""
  if (/^(?:an?|one|two|three|four|five|\d{1,3}) (?:hour|day|week|month)s?$/.test(span))
    return inWords(
      `I do not reckon from the day it has now. Say the day that it shall have, such as \`${inSmall(part(phrase, 0, by))} to friday\`.`,
    )
  return undefined
}
