import { own } from "../../../protocol/own.ts"
import { type RequestText, standsAt } from "./words.ts"

/** What `due` of the list of tasks may be, by how people say it. */
const PERIODS: Readonly<Record<string, string>> = {
  ...{ overdue: "overdue", late: "overdue", "past due": "overdue", "too late": "overdue", behind: "overdue" },
  ...{ "due today": "today", today: "today", "for today": "today", "by today": "today", "due by today": "today" },
  ...{ "due tomorrow": "tomorrow", tomorrow: "tomorrow", "for tomorrow": "tomorrow" },
  ...{
    "due this week": "this week",
    "this week": "this week",
    "for this week": "this week",
    "due in this week": "this week",
  },
  ...{ "due next week": "next week", "next week": "next week", "for next week": "next week" },
  ...{ "due this month": "this month", "this month": "this month", "coming up": "upcoming", upcoming: "upcoming" },
  ...{ "due soon": "upcoming", "without a due date": "none", "without due date": "none", "with no due date": "none" },
  ...{ "have no due date": "none", "without a date": "none", undated: "none", "without a deadline": "none" },
}

const sayings = Object.keys(PERIODS).sort((a, b) => b.split(" ").length - a.split(" ").length)

/** A span of days that begins at a word of the phrase. */
export function periodOf(phrase: RequestText, at: number): { end: number; means: string } | undefined {
  const said = sayings.find((each) => standsAt(phrase, at, each))
  const means = said === undefined ? undefined : own(PERIODS, said)
  return said === undefined || means === undefined ? undefined : { end: at + said.split(" ").length, means }
}
