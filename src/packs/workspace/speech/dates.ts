import { clock, readTime } from "./clock-times.ts"
import { readDay } from "./days.ts"
import { part, type RequestText, standsAt } from "./words.ts"

/** What a request says about when, as the reader of dates understands it, and why it may not be meant. */
export interface When {
  readonly words: string
  /** What it may mean, where it may mean several things. */
  readonly readings?: readonly string[]
  /** It names a span of days, and no day. */
  readonly wide?: true
}

export interface Dated {
  readonly rest: RequestText
  readonly when?: When
  /** It says when twice, or how often: what is meant is not to be guessed. */
  readonly doubt?: "two" | "repeated" | "figures"
}

const BEFORE_DAY = ["due on", "due by", "due", "on", "by", "for", "until", "till", "before"]
const EACH = new Set(["every", "each"])
/** `weekly` at the end says how often; before a report it says which. */
const OFTEN = new Set([
  ...["daily", "weekly", "monthly", "yearly", "mondays", "tuesdays", "wednesdays", "thursdays", "fridays"],
  ...["saturdays", "sundays"],
])
const SPANS = /^(?:other|second|single|day|week|month|year|morning|evening|night|weekday|weekend|\w+day|\d+)s?$/
/** 10/11 is a day in November to some and in October to others. */
const FIGURES = /^\d{1,2}[/.]\d{1,2}(?:[/.]\d{2,4})?$/
const BELONGS = new Set([
  "about",
  "of",
  "from",
  "since",
  "with",
  "like",
  "than",
  "the",
  "a",
  "my",
  "our",
  "called",
  "named",
])
/** No way to say when has more words. */
const LONGEST = 9

/** Takes what is said about when off the end of a phrase, or off its beginning. A date in the middle is part of a name. */
export function takeDate(phrase: RequestText): Dated {
  if (isRepeated(phrase)) return { rest: phrase, doubt: "repeated" }
  const ending = atEnd(phrase)
  const dated = ending ?? atBeginning(phrase)
  if (!dated) return endsInFigures(phrase) ? { rest: phrase, doubt: "figures" } : { rest: phrase }
  const again = atEnd(dated.rest) ?? (ending ? atBeginning(dated.rest) : undefined)
  const joined = ["or", "and"].includes(dated.rest.words.at(-1)?.is ?? "")
  return again || joined ? { ...dated, doubt: "two" } : dated
}

function isRepeated({ words }: RequestText): boolean {
  const each = words.some(({ is }, at) => EACH.has(is) && SPANS.test(words[at + 1]?.is ?? ""))
  return each || OFTEN.has(words.at(-1)?.is ?? "")
}

/** `1/2` alone may be half of something. */
function endsInFigures({ words }: RequestText): boolean {
  const before = words.at(-2)?.is ?? ""
  return FIGURES.test(words.at(-1)?.is ?? "") && (before === "due" || BEFORE_DAY.includes(before))
}

/** The whole of a phrase, as a date. */
export function readWhen(phrase: RequestText): When | undefined {
  const read = readAt(phrase, 0)
  return read && read.end === phrase.words.length ? read.when : undefined
}

function atEnd(phrase: RequestText): Dated | undefined {
  const { length } = phrase.words
  for (let from = Math.max(0, length - LONGEST); from < length; from++) {
    // `about friday`, `the friday`: the day belongs to what is spoken of.
    const read = BELONGS.has(phrase.words[from - 1]?.is ?? "") ? undefined : readAt(phrase, from)
    if (read?.end === length) return { rest: part(phrase, 0, from), when: read.when }
  }
  return undefined
}

function atBeginning(phrase: RequestText): Dated | undefined {
  const read = readAt(phrase, 0)
  if (!read || read.end === phrase.words.length) return undefined
  const rest = part(phrase, read.end)
  return { rest: rest.words[0]?.is === "to" ? part(rest, 1) : rest, when: read.when }
}

interface Read {
  readonly end: number
  readonly when: When
}

/** A day, a time, or both in either order. */
function readAt(phrase: RequestText, from: number): Read | undefined {
  const introduction = BEFORE_DAY.find((said) => standsAt(phrase, from, said))
  const at = from + (introduction ? introduction.split(" ").length : 0)
  const day = readDay(phrase, at, introduction !== undefined)
  if (day) {
    const time = day.wide ? undefined : readTime(phrase, day.end)
    return { end: time?.end ?? day.end, when: together(day, time) }
  }
  const time = readTime(phrase, at)
  if (!time) return undefined
  const next = standsAt(phrase, time.end, "on") ? time.end + 1 : time.end
  const after = readDay(phrase, next, next > time.end)
  if (after && !after.wide) return { end: after.end, when: together(after, time) }
  return { end: time.end, when: together({ words: "" }, time) }
}

function together(
  { words, wide }: { words: string; wide?: true },
  time: { words: string; twice?: number } | undefined,
): When {
  const at = (hour: string) => (words === "" ? hour : `${words} at ${hour}`)
  if (!time) return { words, ...(wide ? { wide } : {}) }
  if (time.twice === undefined || PARTS.test(words)) return { words: at(time.words) }
  return { words: at(time.words), readings: [at(clock(time.twice + 12)), at(clock(time.twice))] }
}

/** `tomorrow morning at 7` says which half of the day; the reader of dates goes by it. */
const PARTS = / (?:morning|afternoon|evening|night)$/
