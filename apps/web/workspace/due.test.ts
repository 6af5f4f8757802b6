import { afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import type { Task } from "../../../core/protocol/index.ts"
import { formatDue, fromFields, isOverdue, startOf, toDayField, toTimeField } from "./due.tsx"
import { loadRest } from "../strings/language.ts"
import { byUrgency } from "./task-fields.ts"

beforeAll(loadRest)

afterEach(() => void vi.unstubAllEnvs())

describe.each(["America/New_York", "Pacific/Kiritimati", "America/Los_Angeles", "Africa/Cairo", "UTC"])(
  "in %s",
  (zone) => {
    const here = () => void vi.stubEnv("TZ", zone)
    const at = (day: string, time: string) => fromFields(day, time) as number

    test("a day is the same in the fields and in the stored row, also when the clocks change", () => {
      here()
      for (const day of ["2027-01-31", "2027-03-14", "2027-03-15", "2026-04-24", "2026-11-01"]) {
        expect(fromFields(day, "")).toBe(day)
        expect([toDayField(day), toTimeField(day)]).toEqual([day, ""])
        // A day that an older version stored as its midnight is shown as that day.
        const midnight = startOf(day)
        expect([toDayField(midnight), toTimeField(midnight)]).toEqual([day, ""])
        expect(formatDue(midnight, midnight)).toBe("today")
      }
      expect(toDayField(null)).toBe("")
      expect([fromFields("", "17:30"), fromFields("2027-02-30", "")]).toEqual([null, null])
    })

    test("days are counted by the calendar, not by hours", () => {
      here()
      const now = at("2027-03-13", "23:30")
      expect(formatDue("2027-03-13", now)).toBe("today")
      expect(formatDue("2027-03-14", now)).toBe("tomorrow")
      expect(formatDue("2027-03-12", now)).toBe("yesterday")
      expect(formatDue("2027-03-15", now)).toMatch(/15/)
    })

    test("a task due today is overdue from tomorrow; a task due at a time is overdue after it", () => {
      here()
      const now = at("2027-03-13", "12:00")
      expect([isOverdue("2027-03-13", now), isOverdue("2027-03-12", now), isOverdue("2027-03-14", now)]).toEqual([
        ...[false, true, false],
      ])
      expect(isOverdue(startOf("2027-03-13"), now)).toBe(false)
      expect(isOverdue(at("2027-03-13", "11:00"), now)).toBe(true)
    })

    test("days and times are sorted together, and rows without a date come last", () => {
      here()
      const due = (dueDate: Task["dueDate"]) => ({ dueDate, priority: "low", createdAt: 0 }) as Task
      const dates = ["2027-03-14", at("2027-03-13", "23:00"), null, "2027-03-13", at("2027-03-14", "10:00")]
      const sorted = dates.map(due).sort(byUrgency)
      expect(sorted.map(({ dueDate }) => dates.indexOf(dueDate))).toEqual([3, 1, 0, 4, 2])
    })
  },
)

test("a time is one of this zone", () => {
  vi.stubEnv("TZ", "America/New_York")
  const afternoon = fromFields("2027-01-31", "17:30")
  expect(afternoon).toBe(Date.parse("2027-01-31T22:30:00Z"))
  expect([toDayField(afternoon), toTimeField(afternoon)]).toEqual(["2027-01-31", "17:30"])
})
