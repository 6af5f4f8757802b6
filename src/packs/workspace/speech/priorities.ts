import { own } from "../../../protocol/own.ts"
import { beginsWith, endsWith, part, type RequestText, standsAt } from "./words.ts"

export type Priority = "high" | "medium" | "low"

const LEVELS: Readonly<Record<string, Priority>> = {
  ...{
    high: "high",
    higher: "high",
    highest: "high",
    top: "high",
    urgent: "high",
    important: "high",
    critical: "high",
  },
  ...{ medium: "medium", normal: "medium", low: "low", lower: "low", lowest: "low", unimportant: "low" },
}
/** Words that say a priority by themselves; `high` does not: a ladder is high, too. */
const ALONE: Readonly<Record<string, Priority>> = {
  ...{ urgent: "high", urgently: "high", important: "high", asap: "high", critical: "high" },
  ...{ "not urgent": "low", "not important": "low", unimportant: "low", "as soon as possible": "high" },
}

const named = Object.keys(LEVELS).flatMap((level) => [`${level} priority`, `priority ${level}`])
const ENDINGS = [
  ...named.flatMap((said) => [`with ${said}`, `with a ${said}`, `at ${said}`, `as ${said}`, said]),
  ...named.map((said) => `(${said})`),
  ...["(high)", "(medium)", "(low)", "(urgent)", ...Object.keys(ALONE), "it's urgent", "it is urgent", "its urgent"],
]

/** The priority that these words name, all of them: `high priority`, `urgent`, `top`. */
export function readPriority(phrase: RequestText): Priority | undefined {
  const said = phrase.words.map(({ is }) => is).filter((is) => !FILLERS.has(is))
  if (said.length === 1) return own(LEVELS, said[0] ?? "")
  return said.join(" ") === "not urgent" || said.join(" ") === "not important" ? "low" : undefined
}

const FILLERS = new Set(["priority", "to", "as", "a", "very", "really", "more", "of", "super", "the"])

/** Takes a priority off the end of a phrase. */
export function takePriority(phrase: RequestText): { rest: RequestText; priority?: Priority } {
  const length = endsWith(phrase, ENDINGS)
  if (length === 0 || length >= phrase.words.length) return { rest: phrase }
  const from = phrase.words.length - length
  const ending = part(phrase, from).words.map(({ is }) => is.replaceAll(/[()]/g, ""))
  const priority =
    own(ALONE, ending.join(" ")) ?? ending.map((is) => own(LEVELS, is)).find((level) => level !== undefined)
  return priority ? { rest: part(phrase, 0, from), priority } : { rest: phrase }
}

/** Takes it off the beginning: `urgent task …`, `high priority task …`; only where what follows is what it is about. */
export function takeLeadingPriority(
  phrase: RequestText,
  nouns: readonly string[],
): { rest: RequestText; priority?: Priority } {
  const length = beginsWith(phrase, [...named, ...Object.keys(ALONE), ...["high", "medium", "low", "high-priority"]])
  const follows = length > 0 && nouns.some((noun) => standsAt(phrase, length, noun))
  if (!follows) return { rest: phrase }
  const words = phrase.words.slice(0, length).map(({ is }) => is.replace("-priority", ""))
  const priority = own(ALONE, words.join(" ")) ?? words.map((is) => own(LEVELS, is)).find(Boolean)
  return priority ? { rest: part(phrase, length), priority } : { rest: phrase }
}
