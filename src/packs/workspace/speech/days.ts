import { own } from "../../../protocol/own.ts"
import { type RequestText, standsAt } from "./words.ts"

/** A day in a request: where it ends, and how the reader of dates is told it. */
export interface SpokenDay {
  readonly end: number
  readonly words: string
  /** It names more than one day: `next week`. */
  readonly wide?: true
}

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
const SHORT_DAYS: Readonly<Record<string, string>> = {
  ...{ mon: "monday", tue: "tuesday", tues: "tuesday", wed: "wednesday", thu: "thursday", thur: "thursday" },
  ...{ thurs: "thursday", fri: "friday", sat: "saturday", sun: "sunday" },
}
const MONTHS = [
  ...["january", "february", "march", "april", "may", "june"],
  ...["july", "august", "september", "october", "november", "december"],
]
const NUMBERS = ["a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
const PARTS = new Set(["morning", "afternoon", "evening", "night"])
const WIDE = ["next week", "this week", "next month", "this month", "next year", "this weekend", "the weekend"]
const FIXED = ["the day after tomorrow", "day after tomorrow", "today", "tonight", "tomorrow"]
const EDGES = [
  ...[
    "end of the week",
    "end of this week",
    "end of week",
    "end of next week",
    "end of the month",
    "end of this month",
  ],
  ...["end of month", "end of next month", "end of the year", "end of year", "end of the quarter"],
]
const ISO = /^\d{4}-\d\d-\d\d$/
const IN_MONTH = /^(?<day>[0-3]?\d)(?:st|nd|rd|th)?$/
const YEAR = /^\d{4}$/

/** A day that begins at a word of the phrase; `introduced`: `on`, `by` or the like stands before it. */
export function readDay(phrase: RequestText, at: number, introduced: boolean): SpokenDay | undefined {
  const from = standsAt(phrase, at, "the end") ? at + 1 : at
  const fixed = [...FIXED, ...EDGES].find((said) => standsAt(phrase, from, said))
  if (fixed) return withPart(phrase, { end: from + fixed.split(" ").length, words: fixed })
  const wide = WIDE.find((said) => standsAt(phrase, at, said))
  if (wide) return { end: at + 2, words: wide, wide: true }
  return (
    weekday(phrase, at, introduced) ?? later(phrase, at) ?? dated(phrase, at, introduced) ?? partOfToday(phrase, at)
  )
}

function weekday(phrase: RequestText, at: number, introduced: boolean): SpokenDay | undefined {
  const which = ["this", "next", "coming"].find((said) => standsAt(phrase, at, said))
  const place = which ? at + 1 : at
  const said = phrase.words[place]?.is ?? ""
  const named = WEEKDAYS.includes(said) ? said : introduced || which ? own(SHORT_DAYS, said) : undefined
  if (!named) return undefined
  // Half of those who say `next friday` mean another one than the other half; the reader of dates has its rule, and it is shown.
  return withPart(phrase, { end: place + 1, words: which === "next" ? `next ${named}` : named })
}

/** `friday morning`. */
function withPart(phrase: RequestText, day: SpokenDay): SpokenDay {
  const said = phrase.words[day.end]?.is ?? ""
  return PARTS.has(said) ? { ...day, end: day.end + 1, words: `${day.words} ${said}` } : day
}

const partOfToday = (phrase: RequestText, at: number): SpokenDay | undefined => {
  const said = phrase.words[at + 1]?.is ?? ""
  return standsAt(phrase, at, "this") && PARTS.has(said) ? { end: at + 2, words: `this ${said}` } : undefined
}

/** `in 3 days`, `in a week`. */
function later(phrase: RequestText, at: number): SpokenDay | undefined {
  if (!standsAt(phrase, at, "in")) return undefined
  const [count = "", unit = ""] = [phrase.words[at + 1]?.is, phrase.words[at + 2]?.is]
  const isCount = NUMBERS.includes(count) || count === "an" || /^\d{1,3}$/.test(count)
  if (!isCount || !/^(?:minute|hour|day|week|month)s?$/.test(unit)) return undefined
  return { end: at + 3, words: `in ${count} ${unit}` }
}

/** `20 November`, `November 20th, 2027`, `2027-01-31`. */
function dated(phrase: RequestText, at: number, introduced: boolean): SpokenDay | undefined {
  const { words } = phrase
  if (ISO.test(words[at]?.is ?? "")) return { end: at + 1, words: words[at]?.is ?? "" }
  const start = standsAt(phrase, at, "the") ? at + 1 : at
  const first = start + (words[start + 1]?.is === "of" ? 1 : 0)
  const ordered = [
    { day: words[start]?.is, month: words[first + 1]?.is, end: first + 2 },
    { day: words[start + 1]?.is, month: words[start]?.is, end: start + 2 },
  ]
  for (const { day = "", month = "", end } of ordered) {
    const figures = IN_MONTH.exec(day)?.groups?.day
    const named = MONTHS.find((name) => name === month || (month.length >= 3 && name.startsWith(month)))
    if (figures === undefined || !named) continue
    // `read may 5` is as good as `read 5 may`, but in a list of chapters it is neither.
    if (month === "may" && !introduced && end === start + 2 && words[start]?.is === "may") continue
    const year = YEAR.test(words[end]?.is ?? "") ? words[end]?.is : undefined
    return { end: year ? end + 1 : end, words: [figures, named, ...(year ? [year] : [])].join(" ") }
  }
  return undefined
}
