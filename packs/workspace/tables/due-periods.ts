import { z } from "zod"
import { dayAt, type DeviceFilters, startOf, utcOf, wallTimeAt } from "../../../core/pack.ts"
import type { Desk, DeskRow } from "./desk.ts"
import type { Filter } from "./table.ts"

const Period = z.enum([
  ...(["overdue", "today", "tomorrow", "this week", "next week", "this month", "upcoming", "none"] as const),
])
type Period = z.infer<typeof Period>

/** Open tasks may be started or not. */
export const isOpenTask = ({ status }: DeskRow) => status !== "done"

/** The filter by due period. Weeks start on Monday, and days start in the user's time zone. */
export const dueWithin: Filter = {
  ...{ argument: "due", schema: Period },
  about: "Only tasks due then: overdue and upcoming ones are not done; none are those without a due date",
  words: (period) => (period === "none" ? " without a due date" : period === "overdue" ? " overdue" : ` due ${period}`),
  narrows: (value, desk) => narrowed(value as Period, desk),
}

function narrowed(period: Period, desk: Desk): { asked: DeviceFilters; keeps?: (row: DeskRow) => boolean } {
  const { sinceMonday, sinceFirst, inMonth } = today(desk)
  const between = (from: number, to: number) => ({ ...fromDay(desk, from), ...toDay(desk, to), orderBy: "dueDate" })
  switch (period) {
    case "overdue":
      return { asked: { ...toDay(desk, 0), orderBy: "dueDate" }, keeps: (row) => isOpenTask(row) && isOver(row, desk) }
    case "today":
      return { asked: between(0, 0) }
    case "tomorrow":
      return { asked: between(1, 1) }
    case "this week":
      return { asked: between(-sinceMonday, 6 - sinceMonday) }
    case "next week":
      return { asked: between(7 - sinceMonday, 13 - sinceMonday) }
    case "this month":
      return { asked: between(-sinceFirst, inMonth - 1 - sinceFirst) }
    case "upcoming":
      return { asked: { ...fromDay(desk, 0), orderBy: "dueDate" }, keeps: isOpenTask }
    case "none":
      return { asked: {}, keeps: ({ dueDate }) => dueDate === null }
  }
}

const fromDay = ({ now, timeZone }: Desk, days: number) => ({ dueDateFrom: dayAt(now, timeZone, days) })
const toDay = ({ now, timeZone }: Desk, days: number) => ({ dueDateTo: dayAt(now, timeZone, days) })

/**
 * True if the day is over or the moment has passed. A midnight counts as its day, because days were stored as
 * midnights.
 */
function isOver({ dueDate }: DeskRow, { now, timeZone }: Desk): boolean {
  if (typeof dueDate !== "number") return typeof dueDate === "string" && dueDate < dayAt(now, timeZone)
  const day = dayAt(dueDate, timeZone)
  return startOf(day, timeZone) === dueDate ? day < dayAt(now, timeZone) : dueDate < now
}

function today({ now, timeZone }: Desk) {
  const wall = wallTimeAt(now, timeZone)
  const sinceMonday = (new Date(utcOf(wall)).getUTCDay() + 6) % 7
  const inMonth = new Date(Date.UTC(wall.year, wall.month, 0)).getUTCDate()
  return { sinceMonday, sinceFirst: wall.day - 1, inMonth }
}
